"""The Z3 reading: the specification as a relation between two states, unrolled step by step and handed to a solver."""
