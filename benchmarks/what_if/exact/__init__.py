"""A simulation of traffic held against Markov chains of single transactions, which SciPy solves (RESULTS.md)."""
