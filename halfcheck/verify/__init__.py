"""The main job, ``halfcheck verify``; its parts in processes of their own, and the cache of their results."""
