"""Mutants of the broker, of the specification and of the properties: what fuzzer and search must notice."""
