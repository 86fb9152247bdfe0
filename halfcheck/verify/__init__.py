"""What ``halfcheck verify`` does: the main job, its parts in processes of their own, and what they keep."""
