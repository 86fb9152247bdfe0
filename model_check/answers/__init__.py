"""Answers, which are made of findings: one world or a portfolio, what the table knows, minimal sets of repairs.

`answer.py` is the record, and the search of a portfolio of instances (`chosen_instances.py`); `known_verdicts.py` is
what the table of verdicts says without a search.
"""
