"""The Z3 engine: the specification as a relation between two states, unrolled step by step and handed to a solver."""
