"""Engines that read the specification: a slow judge in CPython, a compiled explicit search, and what they share."""
