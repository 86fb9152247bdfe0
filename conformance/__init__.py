"""Stores of real brokers, the comparison of the reference broker with them, and what each release changed.

``golden/`` has the stores of real brokers, ``trimmed/`` one whose first file is gone. ``extract_schedule.py`` and
``fit_schedule.py`` make a schedule out of a run's logs, ``scheduled_run.py`` takes the reference broker through it, and
``compare_stores.py`` compares what both wrote.
"""
