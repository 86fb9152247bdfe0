"""Answers, which are made of findings: one world or a portfolio, minimal sets of repairs.

`answer.py` is the record, and the search of a portfolio of instances (`chosen_instances.py`).
"""
