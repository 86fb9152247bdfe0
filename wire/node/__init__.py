"""The broker's process on the wire: its threads in time, its death and return, and what befalls its messages.

``pace.py`` says how its clock goes, ``faults.py`` what a test does to messages, ``held_pulls.py`` which pulls wait.
"""
