"""Verdicts on many environments: minimal sets of faults, the table of verdicts, the implications between clauses.

``searches.py`` searches many environments; ``results/`` has what they found, as data; ``page.py`` writes
docs/generated/verdicts.md.
"""
