"""The explicit search: states packed into 64-bit words, code generated from the specification, compiled by Numba."""
