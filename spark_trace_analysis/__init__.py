"""Traces as rows: simulation inside Spark tasks, invariants judged twice, statistics and the HTML report.

Importing the package is cheap; PySpark, PyArrow, Numba and Altair are imported by the modules that use them.
"""
