"""Files that Spark tasks make: a job that died is begun again, and makes those that are missing.

Each task writes its files by itself; nothing but their number comes back to the driver.
"""

import errno
from collections.abc import Callable, Iterator

import pyarrow as pa
from pyspark.sql import SparkSession

_TASK_ROW = "found bigint, problem string"
_FOR_GOOD = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR}
"""Failures that no second attempt of a task can mend."""


def make_files(
    spark: SparkSession,
    number: int,
    find_or_make: Callable[[int], bool],
    tasks: int,
    *,
    refuse: Callable[[], str | None] = lambda: None,
    gives_up: bool = False,
    settle: Callable[[], None] = lambda: None,
) -> int:
    """Let tasks make so many files; returns how many of them were there.

    Parameters
    ----------
    find_or_make
        Makes the file of a number unless it is there, and says whether it was; it goes to the workers.
    tasks
        Among how many the files are shared out, each a range of numbers.
    refuse
        Says on a worker why nothing can be made there, if so; that ends the job.
    gives_up
        Whether any failure ends the job, as on a file system that has tried again by itself.
    settle
        Called on a worker when it has made its files, to wait until they are written.

    Raises
    ------
    OSError
        A file can't be written, and never will be.
    """

    def make(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = 0
        refused = refuse()
        if refused is not None:
            yield _task_row(found, refused)
            return
        try:
            for batch in batches:
                for place in batch.column(0).to_pylist():
                    found += find_or_make(place)
            settle()
        except OSError as failure:
            if failure.errno not in _FOR_GOOD and not gives_up:
                raise
            yield _task_row(found, failure.strerror)
            return
        yield _task_row(found, None)

    rows = spark.range(0, number, 1, tasks).mapInArrow(make, _TASK_ROW)
    made, problem = rows.selectExpr("sum(found)", "min(problem)").collect()[0]
    if problem is not None:
        raise OSError(None, problem)
    return int(made)


def _task_row(found: int, problem: str | None) -> pa.RecordBatch:
    schema = pa.schema([("found", pa.int64()), ("problem", pa.string())])
    return pa.RecordBatch.from_pylist([{"found": found, "problem": problem}], schema)
