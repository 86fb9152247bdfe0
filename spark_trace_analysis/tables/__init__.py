"""The tables that others may query: their columns with types, units and meanings, keys, order, and versions.

`table.py` says what a table is; each other file declares some, out of which files are written and docs/tables.md is made.
"""
