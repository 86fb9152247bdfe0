"""The Spark session: quiet, modest and bound to loopback on this machine; on a cluster, with this project shipped.

Spark's one need outside Python, a Java that is new enough, is looked for before: its own words for that fill a screen.

Workers of a cluster get this project's packages as they are here, and compiled kernels. Numba keeps these beside their
sources, named by line and processor and checked against the hash of the source; the machine code of an instance is a
file of its own. A worker with another processor compiles for itself.
"""

import logging
import os
import pwd
import re
import shutil
import socket
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from time import monotonic, sleep

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from files.temporary_folder import temporary_folder
from model_check.cache_folder import cache_folder
from model_check.explicit.code_generation.compile import compile_machine
from model_check.world import NO_FAULTS, Profile, World
from spark_trace_analysis.cluster.lost_executors import ending_without_executors, executors_of
from spark_trace_analysis.errors import BadOptionError, SparkFailedError
from spec.constants import Instance
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

FOLDER = "halfcheck-project"
"""Where an executor unpacks it, below its working directory."""

WORKERS_ENVIRONMENT = {"PYTHONPATH": f"./{FOLDER}", "HALFCHECK_CACHE": f"./{FOLDER}/kernels", "POLARS_MAX_THREADS": "1"}

_PROJECT = Path(__file__).resolve().parents[2]
_PACKAGES = (
    "document", "files", "fuzz", "halfcheck", "model_check", "reference", "spark_trace_analysis", "spec", "traffic",
)  # fmt: skip
_SUFFIXES = {".py", ".toml", ".json", ".nbi", ".nbc"}


def walk_kernels(*instances: Instance) -> tuple[Path, ...]:
    """The files of the compiled walks of some instances, as far as this machine has them."""
    return tuple(path for instance in instances for path in _walk_kernels(instance))


def _walk_kernels(instance: Instance) -> tuple[Path, ...]:
    world = World(Profile.versions()[0], NO_FAULTS, instance)
    compiled = compile_machine(TRANSACTIONAL_MESSAGES, world.constants)
    folder = cache_folder()
    module = compiled.module.__name__
    found = folder.glob(f"__pycache__/{module}.*.nb[ic]")
    texts = () if compiled.text_file is None else (compiled.text_file,)
    return folder / f"{module}.py", folder / f"steps_{compiled.native.name}.o", *texts, *sorted(found)


def pack(archive: Path, kernels: Iterable[Path] = ()) -> None:
    """Write the packages, and kernels in a folder of their own, into a new ``.zip``."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for path in _sources():
            packed.write(path, path.relative_to(_PROJECT))
        for path in kernels:
            inside = f"__pycache__/{path.name}" if path.parent.name == "__pycache__" else path.name
            packed.write(path, f"kernels/{inside}")


def _sources() -> Iterator[Path]:
    for package in _PACKAGES:
        yield from sorted(path for path in (_PROJECT / package).rglob("*") if path.suffix in _SUFFIXES)


LOCAL_MASTER = "local[*]"
_MASTER = re.compile(r"local(\[(\*|[1-9]\d*)(, *\d+)?\])?|spark://\S+:\d+(,\S+:\d+)*|yarn|k8s://\S+")
_LOCAL_MASTER_WITHOUT_ATTEMPTS = re.compile(r"local(?:\[(\*|[1-9]\d*)\])?")
_LOCAL_ATTEMPTS = 4
"""How often a task is begun on this machine; Spark gives up after the first unless the master's URL names more.

A Python worker dies where the kernel kills it for want of memory, and its task does not deserve to end the job.
"""

_LONG_METHODS = "-XX:-DontCompileHugeMethods"
"""Spark writes methods that are longer than Java compiles by default; interpreted they are slow."""

_ON_THIS_MACHINE = f"-XX:+UseSerialGC -XX:TieredStopAtLevel=1 {_LONG_METHODS}"
"""The costly work is done by Python workers: Java's second compiler takes longer than it saves."""

_ON_A_CLUSTER = {
    **{f"spark.executorEnv.{name}": value for name, value in WORKERS_ENVIRONMENT.items()},
    "spark.executor.extraJavaOptions": _LONG_METHODS,
    "spark.python.worker.faulthandler.enabled": "true",
    "spark.stage.maxConsecutiveAttempts": "8",
    "spark.task.maxFailures": "8",
}
"""An executor that is killed counts as a failure of each of its tasks; with Spark's 4, a bad hour ends the job."""

_LONGEST_WAIT_SECONDS = 120.0
_OLDEST_JAVA = 17
_INSTALL = "install a JDK 17 or newer (Debian, Ubuntu: apt-get install openjdk-17-jdk-headless) or set JAVA_HOME"


@contextmanager
def spark_session(
    master: str = LOCAL_MASTER,
    work: Path | None = None,
    *,
    conf: Iterable[str] = (),
    kernels: Iterable[Path] = (),
) -> Iterator[SparkSession]:
    """Start Spark, give its session, stop it at the end.

    On a cluster the workers get this project's packages as they are here; their Python is that of ``PYSPARK_PYTHON``,
    or, if that is not set, has the same path as this one.

    Parameters
    ----------
    master
        ``local[*]``, ``local[2]``, ``spark://HOST:PORT``, ``yarn`` or ``k8s://URL``. On this machine a task whose
        worker was killed is begun again, up to three times; ``local[2,1]`` forbids it.
    work
        Folder for Spark's own temporary files and its log, ``spark.log``; it stays. Without one a temporary folder is
        made and removed.
    conf
        Settings of Spark's as ``KEY=VALUE``; they go before this project's own.
    kernels
        Compiled kernels that workers of a cluster get, too; see :func:`walk_kernels`.

    Raises
    ------
    BadOptionError
        The master's URL has no such form, nothing answers there, a setting is not one, or there is no Java that Spark
        can run on.
    SparkFailedError
        Spark did not start, got no executor, or gave up inside the block.
    """
    if not _MASTER.fullmatch(master):
        message = f"--master {master}: expected local[N], spark://HOST:PORT, yarn or k8s://URL"
        raise BadOptionError(message)
    given = _settings(conf)
    require_java()
    _require_answer(master)
    with temporary_folder() if work is None else nullcontext(work) as folder:
        folder.mkdir(parents=True, exist_ok=True)
        with failures_in_one_line(), _without_py4j_tracebacks():
            spark = _start(master, folder, given)
            try:
                if not master.startswith("local"):
                    _ship(spark, folder, kernels)
                    _wait_for_executors(spark, master)
                with nullcontext() if master.startswith("local") else ending_without_executors(spark, master):
                    yield spark
            finally:
                spark.stop()


@contextmanager
def failures_in_one_line() -> Iterator[None]:
    """Turn an exception that Spark brings from Java or a worker into a `SparkFailedError` with its last reason."""
    try:
        yield
    except (Py4JError, PySparkException) as failure:
        lines = [line.strip() for line in str(failure).splitlines() if line.strip()]
        reasons = [line for line in lines if re.match(r"(Caused by: )?[\w.]*(Exception|Error)\b", line)]
        reason = reasons[-1] if reasons else (lines[0] if lines else type(failure).__name__)
        message = f"Spark gave up: {reason}"
        raise SparkFailedError(message) from failure
    except (ConnectionAbortedError, ConnectionRefusedError, ConnectionResetError) as failure:
        message = f"Spark gave up: its Java has ended ({failure.strerror}); was it killed, or out of memory?"
        raise SparkFailedError(message) from failure


def _settings(conf: Iterable[str]) -> dict[str, str]:
    """``KEY=VALUE`` as a dictionary."""
    given = {}
    for word in conf:
        name, equals, value = word.partition("=")
        if not equals or not name.startswith("spark.") or name == "spark.master":
            message = f"--conf {word}: expected a setting of Spark's such as spark.executor.memory=4g"
            raise BadOptionError(message)
        given[name] = value.strip()
    return given


def require_java() -> Path:
    """Find the ``java`` that Spark will start: that of ``JAVA_HOME``, or else the first on ``PATH``.

    Raises
    ------
    BadOptionError
        None is there, it does not run, or it is older than 17.
    """
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if found is None or not os.access(found, os.X_OK):
        where = f"JAVA_HOME is {home}, but there is no bin/java in it" if home else "no java is on PATH"
        message = f"Spark needs Java {_OLDEST_JAVA} or newer, and {where}: {_INSTALL}"
        raise BadOptionError(message)
    major = _major_version(found)
    if major is None or major < _OLDEST_JAVA:
        is_what = "does not say its version" if major is None else f"is Java {major}"
        message = f"Spark needs Java {_OLDEST_JAVA} or newer, and {found} {is_what}: {_INSTALL}"
        raise BadOptionError(message)
    return Path(found)


def _major_version(java: str) -> int | None:
    """The feature release of an executable: 8 for ``1.8.0_392``, 17 for ``17.0.15``; None if it gives none."""
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(match.group(1)) if match else None


def _require_answer(master: str) -> None:
    """Say at once that there is no standalone master; Spark itself tries for a minute, and says something else."""
    if not master.startswith("spark://"):
        return
    failures = []
    for place in master.removeprefix("spark://").split(","):
        host, _, port = place.rpartition(":")
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except (OSError, OverflowError) as failure:
            failures.append(f"{place}: {getattr(failure, 'strerror', None) or failure}")
        else:
            return
    message = f"--master {master}: no master answers ({'; '.join(failures)}); see docs/cluster.md for how to start one"
    raise BadOptionError(message)


def _start(master: str, folder: Path, given: dict[str, str]) -> SparkSession:
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    settings = {
        "spark.app.name": "halfcheck",
        "spark.driver.memory": "1g",
        "spark.local.dir": str(folder),
        "spark.log.level": "OFF",
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    settings |= _of_a_user_without_a_name(folder)
    if master.startswith("local"):
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        settings |= {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.extraJavaOptions": _ON_THIS_MACHINE,
            "spark.executorEnv.PYTHONPATH": str(_PROJECT),
            "spark.python.daemon.module": "spark_trace_analysis.cluster.worker_daemon",
            "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 2)),
        }
    else:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        settings |= _ON_A_CLUSTER
    builder = SparkSession.builder.master(_with_attempts(master))
    for name, value in (settings | given).items():
        builder = builder.config(name, value)
    with _standard_error_into(folder / "spark.log"):
        return builder.getOrCreate()


def _of_a_user_without_a_name(folder: Path) -> dict[str, str]:
    """Settings for Hadoop and Ivy where the machine does not know this user, as in a container; elsewhere none."""
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        for variable in ("HADOOP_USER_NAME", "SPARK_USER"):
            os.environ.setdefault(variable, "halfcheck")
        return {"spark.jars.ivy": str(folder / "ivy")}
    return {}


def _with_attempts(master: str) -> str:
    """A master on this machine that says how often a task may be begun.

    Examples
    --------
    >>> [_with_attempts(master) for master in ("local[2]", "local", "local[*,1]", "yarn")]
    ['local[2,4]', 'local[1,4]', 'local[*,1]', 'yarn']
    """
    found = _LOCAL_MASTER_WITHOUT_ATTEMPTS.fullmatch(master)
    return master if found is None else f"local[{found[1] or 1},{_LOCAL_ATTEMPTS}]"


def _ship(spark: SparkSession, folder: Path, kernels: Iterable[Path]) -> None:
    """Let every executor unpack this project before its first task."""
    archive = folder / f"{FOLDER}.zip"
    pack(archive, kernels)
    spark.sparkContext.addArchive(f"{archive}#{FOLDER}")


def _wait_for_executors(spark: SparkSession, master: str) -> None:
    """Wait until there are executors, and no more come: how many cores there are decides how a job is shared out.

    Raises `SparkFailedError` if none came; Spark itself would wait for ever.
    """
    began = monotonic()
    executors = 0
    while monotonic() - began < _LONGEST_WAIT_SECONDS:
        found = executors_of(spark)
        if found and found == executors:
            return
        executors = found
        sleep(1)
    message = (
        f"no executor came from {master} in {_LONGEST_WAIT_SECONDS:.0f} s: has it workers with a free core "
        "and the memory of spark.executor.memory (1g if not set)?"
    )
    raise SparkFailedError(message)


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
    saved = os.dup(2)
    target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.dup2(target, 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(target)
