"""Mutants of the broker, of the specification and of the properties, which fuzzer and search must notice."""
