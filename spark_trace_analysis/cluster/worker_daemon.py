"""The process that Spark forks its Python workers from, which has loaded the modules that all of them need.

Numba, PyArrow and the pandas that PyArrow asks for take a process more than a second, and Spark collects garbage after
each task: what is loaded here is loaded once, shared by all workers, and frozen, so that no collection looks at it.
Polars has threads of its own, which a fork would lose: workers load it. Spark starts this process by its setting
``spark.python.daemon.module``.

Spark puts its own Python code first, in zip files, of which no bytecode is kept and whose lists are read again for each
task. Where they belong to the PySpark that is installed, that one is imported.
"""

import gc
import os
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path


def _forget_zips_of_the_installed_pyspark() -> None:
    installed = PathFinder.find_spec("pyspark", [entry for entry in sys.path if not entry.endswith(".zip")])
    if installed is not None and installed.origin is not None:
        zips = Path(installed.origin).parent / "python" / "lib"
        for entry in [entry for entry in sys.path if Path(entry).parent == zips]:
            sys.path.remove(entry)
            sys.path_importer_cache.pop(entry, None)


if __name__ == "__main__":
    _forget_zips_of_the_installed_pyspark()

    for name in ("numba", "pandas", "pyarrow.parquet", "pyspark.worker"):
        import_module(name)
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    gc.collect()
    gc.freeze()
    import_module("pyspark.daemon").manager()
