"""Audits a store: record by record if it is small, otherwise in stages, on threads of this process or by Spark."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from halfcheck.printing.progress import counting_bar, resumable
from model_check.processes import in_a_fork
from reference.format.commit_log import CommitLog
from reference.format.store_paths import StorePaths, store_paths
from spark_trace_analysis.audit.row_files import RowFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from files.brought import BroughtStore
    from files.remote_path import Location
    from spark_trace_analysis.audit.audit import Audit
    from spark_trace_analysis.audit.staged_audit import StagedAuditOptions
    from spark_trace_analysis.audit.stages.stage_runner import StageRunner

_SMALL_BYTES: Final = 16 << 20
_ALL_CORES: Final = "local[*]"


def audited(
    store: Path,
    version: str | None,
    out: Location | None = None,
    work: Location | None = None,
    master: str | None = None,
    conf: Sequence[str] = (),
    broker_conf: Path | None = None,
    log_folders: Sequence[Path] = (),
    *,
    everything: bool = False,
    limit: int = 1_000,
    row_files: RowFiles | None = None,
    brought: BroughtStore | None = None,
) -> Audit:
    """The audit of a store; the parameters are the options of the command, and a store of which this is the copy.

    Raises
    ------
    reference.format.errors.StoreError
        It is no store, or a file of its configuration can't be understood.
    """
    from spark_trace_analysis.audit.audit_folders import sole_writer

    row_files = row_files or RowFiles()
    paths = store_paths(store, broker_conf=broker_conf, log_folders=log_folders)
    if brought is not None:
        paths = replace(paths, called=str(brought.place))
    with sole_writer("--out", out), sole_writer("--work", work):
        is_local = master is None and not conf
        if is_local and work is None and _is_small(paths):
            return _record_by_record(paths, version, out, row_files)
        from spark_trace_analysis.audit import staged_audit

        options = staged_audit.StagedAuditOptions(
            version=version,
            limit=limit,
            everything=everything,
            out=out,
            work=work,
            selection=row_files.selection,
            row_files=row_files,
        )
        runner = _spark(master or _ALL_CORES, conf, brought)
        if is_local:
            small = staged_audit.SMALL_SPLIT_BYTES, staged_audit.SMALL_BUCKET_BYTES
            options = replace(options, split_bytes=small[0], bucket_bytes=small[1], is_on_one_machine=True)
            runner = _threads()
        return replace(_in_stages(paths, options, runner), store=paths.name)


def audited_apart(
    store: Path, version: str | None, out: Path, *, everything: bool, limit: int, row_files: RowFiles
) -> Audit:
    """The same on this machine, after which the memory is free that the kernels and columns of a large store took."""
    job = partial(audited, store, version, out, everything=everything, limit=limit, row_files=row_files)
    return job() if _is_small(store_paths(store)) else in_a_fork(job)


def _record_by_record(paths: StorePaths, version: str | None, out: Location | None, row_files: RowFiles) -> Audit:
    from spark_trace_analysis.audit.audit_folders import require_new, write_audit
    from spark_trace_analysis.audit.audit_store import audit_store

    if out is not None:
        require_new(out)
    with _progress(paths) as on_progress:
        audit = audit_store(paths, version, on_progress, row_files=row_files)
    if out is not None:
        write_audit(audit, out)
    return audit.narrowed(row_files.selection)


def _in_stages(paths: StorePaths, options: StagedAuditOptions, runner: AbstractContextManager[StageRunner]) -> Audit:
    from spark_trace_analysis.audit.audit_folders import count_finished
    from spark_trace_analysis.audit.staged_audit import audit_in_stages

    place = options.stage_folder
    with (
        resumable(lambda: 0 if place is None else count_finished(place), "task"),
        runner as running,
        _progress(paths) as on_progress,
    ):
        return audit_in_stages(running, paths.absolute(), replace(options, on_progress=on_progress))


@contextmanager
def _threads() -> Iterator[StageRunner]:
    from spark_trace_analysis.audit.stages.stage_runner import Threads

    yield Threads()


@contextmanager
def _spark(master: str, conf: Sequence[str], brought: BroughtStore | None) -> Iterator[StageRunner]:
    from spark_trace_analysis.audit.stages.spark_jobs import SparkJobs
    from spark_trace_analysis.cluster.session import spark_session

    with spark_session(master, conf=conf) as spark:
        yield SparkJobs(spark, brought)


def _progress(paths: StorePaths) -> AbstractContextManager[Callable[[int, int], None] | None]:
    return counting_bar(f"reading {paths.name}", "DownloadColumn", "TransferSpeedColumn")


def _is_small(paths: StorePaths) -> bool:
    """Whether reading it record by record is quicker than loading the kernels."""
    return CommitLog.open(paths).stored_bytes < _SMALL_BYTES
