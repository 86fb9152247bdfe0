"""The command line. No other part of the product imports it.

``commands/`` has each command, from its options to its exit code. What a large one does besides lies in the folder of
its name, a long output in ``printing/``; ``verify/`` is the main job.
"""

__version__ = "0.2.0"
