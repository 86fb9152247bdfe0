"""Traces as rows: simulation inside Spark tasks, invariants judged twice, statistics, and the audit of stores.

Importing the package is cheap; PySpark, PyArrow and Numba are imported by the modules that use them.
"""

from pathlib import Path

from model_check.cache_folder import let_numba_keep_its_code

let_numba_keep_its_code(Path(__file__).parent)
