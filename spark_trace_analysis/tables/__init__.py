"""The tables that others may query: their columns with types, units and meanings, keys, order, and versions.

`table.py` says what a table is; each other file declares some, out of which Parquet files and docs/tables.md are made.
"""
