"""Audits a store: in this process if it is small, otherwise as a Spark job."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from halfcheck.printing.progress import counting_bar, resumable
from spark_trace_analysis.audit.sole_writer import sole_writer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from spark_trace_analysis.audit.audit import Audit
    from spark_trace_analysis.audit.row_files import RowFiles
    from spark_trace_analysis.audit.spark_audit import Options

_SMALL_BYTES: Final = 64 << 20
_BLOCK_BYTES: Final = 512
"""The unit of `st_blocks`, whatever the file system's is."""
_ALL_CORES: Final = "local[*]"


def audited(
    store: Path,
    version: str | None,
    out: Path | None = None,
    work: Path | None = None,
    master: str | None = None,
    conf: Sequence[str] = (),
    *,
    everything: bool = False,
    limit: int = 1_000,
    row_files: RowFiles | None = None,
) -> Audit:
    """What became of every transaction in a store; the parameters are the options of the command.

    Parameters
    ----------
    row_files
        The files with a line for each transaction, and which are asked for; none and all of them when None.

    Raises
    ------
    reference.format.errors.StoreError
        It is no store, or a file of its configuration can't be understood.
    """
    from spark_trace_analysis.audit.row_files import RowFiles

    row_files = row_files or RowFiles()
    with sole_writer("--out", out), sole_writer("--work", work):
        if master is None and work is None and not conf and _is_small(store):
            return _in_one_process(store, version, out, row_files)
        from spark_trace_analysis.audit.spark_audit import Options

        options = Options(
            version=version,
            limit=limit,
            everything=everything,
            out=out,
            work=work,
            selection=row_files.selection,
            row_files=row_files,
        )
        return _by_spark(store, options, master or _ALL_CORES, conf)


def _in_one_process(store: Path, version: str | None, out: Path | None, row_files: RowFiles) -> Audit:
    from spark_trace_analysis.audit.audit_folders import require_new, write_audit
    from spark_trace_analysis.audit.audit_store import audit_store

    if out is not None:
        require_new(out)
    with _progress(store) as on_progress:
        audit = audit_store(store, version, on_progress, row_files=row_files)
    if out is not None:
        write_audit(audit, out)
    return audit.narrowed(row_files.selection)


def _by_spark(store: Path, options: Options, master: str, conf: Sequence[str]) -> Audit:
    from spark_trace_analysis.audit.audit_folders import count_finished, place_of
    from spark_trace_analysis.audit.spark_audit import audit_by_spark
    from spark_trace_analysis.cluster.session import spark_session

    place = place_of(options.work, options.out)
    with (
        resumable(lambda: 0 if place is None else count_finished(place), "task"),
        spark_session(master, conf=conf) as spark,
        _progress(store) as on_progress,
    ):
        audit = audit_by_spark(spark, store, replace(options, on_progress=on_progress))
        return replace(audit, store=str(store))


def _progress(store: Path) -> AbstractContextManager[Callable[[int, int], None] | None]:
    return counting_bar(f"reading {store}", "DownloadColumn", "TransferSpeedColumn")


def _is_small(store: Path) -> bool:
    """Whether one process is quicker than Spark's start; also of what is no store, to say so.

    What counts is what was written: a broker makes files of a gigabyte, most of it a hole (`MappedFile#init`).
    """
    folder = store / "commitlog"
    if not folder.is_dir():
        return True
    sizes = (path.stat() for path in folder.iterdir() if path.is_file())
    return sum(min(size.st_size, size.st_blocks * _BLOCK_BYTES) for size in sizes) < _SMALL_BYTES
