"""Exact probabilities held against Storm, against random walks and against walks that are split (RESULTS.md)."""
