"""Engines that read the specification: a slow judge in CPython, an explicit search compiled by Numba, and what they share."""
