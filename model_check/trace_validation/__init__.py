"""Holds the trace of a real broker against the specification: some path of steps leaves just its records, or none.

``check_thread.py`` searches for the rounds that nobody recorded, ``producer_side.py`` for what producers sent,
``forecast.py`` reads ahead, ``divergence.py`` says what no path explains. Why it has a search of its own:
docs/decisions/0009-search-of-trace-validation.md.
"""
