"""The Spark session: quiet, modest, bound to loopback, with workers that run this very Python."""

import logging
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from spark_trace_analysis.errors import BadOptionError, SparkFailedError
from spark_trace_analysis.java import require_java

LOCAL_MASTER = "local[*]"
_MASTER = re.compile(r"local(\[(\*|[1-9]\d*)(, *\d+)?\])?|spark://\S+:\d+(,\S+:\d+)*|yarn|k8s://\S+")
_SHORT_JOBS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Java's second compiler costs more than it gains in jobs of a minute: half of all CPU time on two cores."""

_PROJECT = Path(__file__).resolve().parent.parent


@contextmanager
def spark_session(master: str = LOCAL_MASTER, work: Path | None = None) -> Iterator[SparkSession]:
    """Start Spark, give its session, stop it at the end.

    Parameters
    ----------
    master
        ``local[*]``, ``local[2]``, ``spark://HOST:PORT``, ``yarn`` or ``k8s://URL``.
    work
        Folder for Spark's own temporary files and its log, ``spark.log``; it is kept. Without one a temporary folder is
        made and removed.

    Raises
    ------
    BadOptionError
        The master's URL has no such form, or there is no Java that Spark can run on.
    SparkFailedError
        Spark did not start, or gave up inside the block.
    """
    if not _MASTER.fullmatch(master):
        message = f"--master {master}: expected local[N], spark://HOST:PORT, yarn or k8s://URL"
        raise BadOptionError(message)
    require_java()
    folder = Path(tempfile.mkdtemp(prefix="halfcheck-spark-")) if work is None else work
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with failures_in_one_line(), _without_py4j_tracebacks():
            spark = _start(master, folder)
            try:
                yield spark
            finally:
                spark.stop()
    finally:
        if work is None:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def failures_in_one_line() -> Iterator[None]:
    """Turn an exception that Spark carries over from Java or from a worker into its last reason.

    Raises
    ------
    SparkFailedError
        Whatever Spark raised in the block.
    """
    try:
        yield
    except (Py4JError, PySparkException) as failure:
        lines = [line.strip() for line in str(failure).splitlines() if line.strip()]
        reasons = [line for line in lines if re.match(r"(Caused by: )?[\w.]*(Exception|Error)\b", line)]
        reason = reasons[-1] if reasons else (lines[0] if lines else type(failure).__name__)
        message = f"Spark gave up: {reason}"
        raise SparkFailedError(message) from failure


def _start(master: str, folder: Path) -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    settings = {
        "spark.app.name": "halfcheck",
        "spark.driver.memory": "1536m",
        "spark.executorEnv.PYTHONPATH": str(_PROJECT),
        "spark.local.dir": str(folder),
        "spark.log.level": "OFF",
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 2)),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if master.startswith("local"):
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        settings |= {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.extraJavaOptions": _SHORT_JOBS,
        }
    builder = SparkSession.builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    with _standard_error_into(folder / "spark.log"):
        return builder.getOrCreate()


@contextmanager
def _without_py4j_tracebacks() -> Iterator[None]:
    """Py4J logs a traceback for each call that Ctrl-C interrupts, to the root logger; unhandled it is printed."""
    silent = logging.NullHandler()
    logging.getLogger().addHandler(silent)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(silent)


@contextmanager
def _standard_error_into(log: Path) -> Iterator[None]:
    """Processes started in this block (the JVM, and the Python workers that it starts) write to a file.

    The JVM prints several lines before any log level can be set, and inherits the descriptor for good.
    """
    sys.stderr.flush()
    kept = os.dup(2)
    target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.dup2(target, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(target)
