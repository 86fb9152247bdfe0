"""The command line. No other part of the product imports it.

``commands/`` has the options of each command, one thin module each. What a command does lies in the folder of its name,
what it prints in ``printing/``, in a file of its name. ``verify/`` is the main job.
"""

__version__ = "0.2.0"
