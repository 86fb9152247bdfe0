"""Judging: each property of each trace by compiled kernels and by Polars expressions, which must agree."""
