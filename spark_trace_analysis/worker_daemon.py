"""The process that Spark forks its Python workers from, which has loaded before what every one of them needs.

Numba, PyArrow and the pandas that PyArrow asks for take a process more than a second, and Spark collects garbage after
each task: what is loaded here is loaded once, shared by all workers, and frozen, so that no collection looks at it.
Polars has threads of its own, which a fork would lose: workers load it. Spark starts this process by its setting
``spark.python.daemon.module``.
"""

import gc
import os

import numba  # noqa: F401
import pandas as pd  # noqa: F401
import pyarrow.parquet as pq  # noqa: F401
from pyspark.daemon import manager

if __name__ == "__main__":
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    gc.collect()
    gc.freeze()
    manager()
