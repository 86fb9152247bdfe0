"""The audit of a RocketMQ store: each record classified, grouped by transaction, and each history folded to a state.

``audit_store.py`` does it record by record. ``staged_audit.py`` does it for stores of any size: ``stages/`` scan, group
and judge over ``columns/``; why they hand on files: docs/decisions/0008-shuffle-by-files.md. ``rules/`` are those of
one transaction's history in both, ``explanation/`` asks the specification.
"""
