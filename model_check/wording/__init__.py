"""Findings in an operator's words.

A file named like a chapter of ``spec/`` has the sentence and the picture of its actions; ``clauses.py`` and its TOML
say what a broken clause does to a message, ``faults.py`` what a fault is to whoever runs a broker.
"""
