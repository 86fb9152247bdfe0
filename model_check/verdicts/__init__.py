"""Verdicts on many environments: minimal sets of faults, the table of verdicts, the implications between clauses."""
