"""Defects of the catalogue that the reference broker shows: a scenario an id, played in two versions.

A scenario stands by where it shows (``check_rounds.py``, ``messages.py``, ``queues.py``, ``stores.py``,
``threads.py``), or by whose doing it is (``clients.py``, ``settings.py``). ``on_classes.py`` asks RocketMQ's own
classes for all defects, by scenarios, by schedules of searches and by ``questions.py``.
"""
