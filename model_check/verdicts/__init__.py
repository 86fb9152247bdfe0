"""Verdicts on many environments: minimal sets of faults, the table of verdicts, the implications between clauses.

``environment.py`` is one search, ``searches.py`` many; ``results/`` has what they found, as data; ``page.py`` writes
docs/generated/verdicts.md.
"""
