"""The tables that others may query: their columns with types, units and meanings, keys, order, and versions.

`table.py` says what a table is, `traces.py` declares those of traces; `audit/columns/audited_tables.py` has those of
audits, `every_table.py` above names all. Parquet files and docs/tables.md are made out of them.
"""
