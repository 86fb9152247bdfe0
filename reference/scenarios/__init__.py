"""Walk-throughs of the protocol as runs of the reference broker: ``python -m reference.scenarios NAME --out DIR``."""
