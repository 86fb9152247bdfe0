"""The audit as a job in stages that hand files on: no task holds more than a split or a bucket.

Splits of the log become columns; op entries are joined to their halves; transactions are judged bucket by bucket. The
driver computes facts of the whole log (a scan of all put-backs, whether anything is damaged) between the stages, and
repeats a stage that needs them. Every stage writes files that appear by rename, so that a task may be started twice
and an audit that was killed goes on from what is there. Who runs the tasks, a :class:`StageRunner` says: threads of
this process, or Spark.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from files.remote_path import RemotePath
from reference.format.consume_queue import open_consume_queues
from reference.format.errors import CorruptRegion, NotAStoreError, StoreError
from spark_trace_analysis.audit.audit import Audit
from spark_trace_analysis.audit.audit_folders import (
    count_finished,
    key_of,
    move,
    require_new,
    work_folder,
    writing_audit,
)
from spark_trace_analysis.audit.columns.stage_files import read_findings
from spark_trace_analysis.audit.opened_store import OpenedStore, StoreQuestion
from spark_trace_analysis.audit.rules.damage import Damage, Rank, found
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.selection import Selection
from spark_trace_analysis.audit.stages.group_stage import GroupTask
from spark_trace_analysis.audit.stages.judging_rounds import (
    JudgingRounds,
    all_rows,
    count_selected,
    facts_of,
    gravest_rows,
    places_of_records,
    rows_asked_for,
)
from spark_trace_analysis.audit.stages.op_stage import OpTask
from spark_trace_analysis.audit.stages.scan_task import ScanTask
from spark_trace_analysis.audit.stages.whole_log import QueueTask, WholeLog, broken_joins, put_together, wrong_queues
from spark_trace_analysis.cluster.jobs import watched
from spark_trace_analysis.ingest.store_trace import StoreTrace
from spark_trace_analysis.records.rocksdb_halves import require_deliveries_from_the_queue, require_no_rocksdb_queue
from spark_trace_analysis.records.store_splits import SPLIT_BYTES, Split, splits_of
from spark_trace_analysis.records.transaction_record import classify

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from files.remote_path import Location
    from reference.format.store_paths import StorePaths
    from spark_trace_analysis.audit.row_files import RowFiles
    from spark_trace_analysis.audit.stages.stage_runner import StageRunner


BUCKET_BYTES = 256 << 20
"""So many bytes of the log go into a bucket, on average."""

SMALL_SPLIT_BYTES, SMALL_BUCKET_BYTES = 8 << 20, 16 << 20
"""For threads of one process, so that they take little memory."""

_MOST_FILES_TIMES_BUCKETS = 1 << 18
"""Of larger stores both splits and buckets grow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedAuditOptions:
    """The options of an audit in stages, as of :func:`audit_store` and :class:`Audit.listed`.

    All rows go to `out` as Parquet, a new directory; files between the stages to `work`, or beside `out`, or into a
    temporary folder. An audit that was killed goes on from what is there. `split_bytes` and `bucket_bytes` say how the
    work is shared out, `is_on_one_machine` whether all tasks run on this one; the result lists a selection, and row
    files take a line for each transaction of one.
    """

    version: str | None = None
    limit: int = 1000
    everything: bool = False
    out: Location | None = None
    work: Location | None = None
    split_bytes: int = SPLIT_BYTES
    bucket_bytes: int = BUCKET_BYTES
    is_on_one_machine: bool = False
    question: StoreQuestion = field(default_factory=StoreQuestion)
    selection: Selection = field(default_factory=Selection)
    row_files: RowFiles | None = None
    on_progress: Callable[[int, int], None] | None = None

    @property
    def stage_folder(self) -> Location | None:
        """The folder of the files between the stages, if it has a name that the same command finds again.

        They are many and small: the tasks of one machine do not write them beside rows that lie on another file system.
        """
        if self.work is not None or self.out is None or (self.is_on_one_machine and isinstance(self.out, RemotePath)):
            return self.work
        return self.out.with_name(f".{self.out.name}.audit")


def audit_in_stages(runner: StageRunner, store: Path | StorePaths, options: StagedAuditOptions) -> Audit:
    """Judge every transaction of a store; the same as :func:`audit_store`, for a store of any size.

    Raises
    ------
    reference.format.errors.StoreError
        It is not a store, or its ``broker.conf`` can't be understood.
    BadOptionError
        `out` exists already.
    StoreNotJudgedError
        Its halves lie in RocksDB.
    """
    if options.out is not None:
        require_new(options.out)
    opened = OpenedStore(store, options.version, options.question)
    try:
        return _Job(runner, opened, options).result()
    except _LogGrewError:
        return _Job(runner, opened.cut(), options).result()


class _LogGrewError(StoreError):
    """Something seems damaged in a log that has grown since it was opened, and may have been on its way."""


class _Job:
    def __init__(self, runner: StageRunner, store: OpenedStore, options: StagedAuditOptions) -> None:
        self.runner = runner
        self.store = store
        self.options = options
        self.log = store.log
        require_no_rocksdb_queue(store.path)
        open_consume_queues(store.path)
        size = self.log.stored_bytes
        growth = max((size / options.split_bytes * size / options.bucket_bytes / _MOST_FILES_TIMES_BUCKETS) ** 0.5, 1)
        self.buckets = max(int(-(-size // (options.bucket_bytes * growth))), 1)
        self.split_bytes = int(options.split_bytes * growth)
        sizes = {"split_bytes": options.split_bytes, "bucket_bytes": options.bucket_bytes, "end": store.paths.end}
        self.key = key_of(store.paths, self.log, store.saved, store.conf, {"version": options.version, **sizes})

    def result(self) -> Audit:
        """The audit; raises :class:`_LogGrewError`, of a log that is not cut."""
        with work_folder(self.key, self.options.stage_folder) as folder:
            found_there = count_finished(folder)
            audit = self._run(folder)
        return replace(audit, tasks_found=found_there)

    def _run(self, folder: Location) -> Audit:
        scan = ScanTask(self.store.paths.absolute(), folder, self.buckets, self.store.timeout_ms)
        splits = self._scan(scan)
        whole = put_together(self.log, splits, scan)
        numbers = [split.number for split in splits]
        damage = Damage()
        for number in numbers:
            damage.take(read_findings(scan.path("findings", number, "jsonl")))
        damage.take(whole.findings)
        if not whole.records and damage.of_log:
            message = f"{self.log.files[0].path} is not a commit log: {damage.first_of_log}"
            raise NotAStoreError(message)
        self._check_queues(scan, whole, damage)
        ops = OpTask(scan, numbers, whole.half_ends)
        self.runner.run("join ops", ops.run, range(self.buckets), lambda bucket: ops.path(bucket, "json"))
        for bucket in range(self.buckets):
            damage.take(read_findings(ops.path(bucket, "jsonl")))
        tasks = (
            self._group_task(ops, whole, damage, is_damaged=is_damaged) for is_damaged in (bool(damage.count), True)
        )
        groups, rounds = JudgingRounds(self.runner, self.log, *tasks).run(damage)
        require_deliveries_from_the_queue(self.store.path, self.log, damage.broken_links())
        damage.take(found(Rank.FOREIGN_QUEUE, 0, region) for region in self.store.foreign_keys())
        damage.take(found(Rank.OFFSET_AHEAD, 0, region) for region in self.store.offsets_ahead(groups.circumstances))
        if damage.count and self.store.is_moving():
            raise _LogGrewError(self.store.path)
        first = next(damage.regions(), None)
        if self.store.saved.corrupt is not None:
            damage.take([found(Rank.SAVED_OFFSETS, 0, self.store.saved.corrupt)])
        audit = self._result(groups, rounds, whole, damage, first)
        if self.options.row_files is not None:
            self.options.row_files.write(rows_asked_for(rounds, self.options.selection), self.log)
        if self.options.out is not None:
            with writing_audit(audit, self.options.out) as unfinished:
                for bucket, one in enumerate(rounds):
                    move(one.path("rows", bucket, "parquet"), unfinished / f"transactions-{bucket:05d}.parquet")
        return audit

    def _scan(self, scan: ScanTask) -> list[Split]:
        """Read all splits; a file whose splits do not join is read as one."""
        splits = splits_of(self.log, self.split_bytes)

        def done(split: Split) -> Location:
            return scan.path("scan", split.number, "json")

        def read(split: Split) -> None:  # the driver, which only names the task, need not load the kernels
            from spark_trace_analysis.audit.stages.scan_stage import scan_split

            scan_split(scan, split)

        with self._watching(splits, done):
            self.runner.run("read", read, splits, done)
        broken = set(broken_joins(self.log, splits, scan))
        whole = [Split(len(splits) + index, index, 0, len(self.log.files[index].data)) for index in sorted(broken)]
        self.runner.run("read again", read, whole, done)
        joined = [split for split in splits if split.file not in broken] + whole
        return sorted(joined, key=lambda split: (split.file, split.start))

    def _watching(self, splits: Sequence[Split], done: Callable[[Split], Location]) -> AbstractContextManager[None]:
        """Report now and then how many bytes were read: those of the splits whose file is there."""
        on_progress = self.options.on_progress
        if on_progress is None:
            return nullcontext()
        total = sum(split.end - split.start for split in splits)
        return watched(
            lambda: on_progress(sum(one.end - one.start for one in splits if done(one).exists()), total), 0.5
        )

    def _check_queues(self, scan: ScanTask, whole: WholeLog, damage: Damage) -> None:
        findings, doubtful = wrong_queues(self.log, scan, whole.matched)
        damage.take(findings)
        task = QueueTask(scan)
        items = list(enumerate(doubtful))
        self.runner.run("check queues", task.run, items, lambda item: task.path(item[0], "json"))
        for number, _ in items:
            damage.take(read_findings(task.path(number, "jsonl")))

    def _group_task(self, ops: OpTask, whole: WholeLog, damage: Damage, *, is_damaged: bool) -> GroupTask:
        reach = self.log.files[-1].end - self.log.start
        return GroupTask(
            ops=ops,
            circumstances=self.store.circumstances(whole, damage.hidden(), is_damaged=is_damaged),
            log_start=self.log.start,
            round="damaged" if is_damaged else "sound",
            range_bytes=reach // self.buckets + 1,
        )

    def _result(
        self,
        task: GroupTask,
        rounds: Sequence[GroupTask],
        whole: WholeLog,
        damage: Damage,
        first: CorruptRegion | None,
    ) -> Audit:
        selection = self.options.selection
        counts = {state.value: 0 for state in TransactionState}
        plain = 0
        for bucket, one in enumerate(rounds):
            facts = facts_of(one, bucket)
            plain += facts["plain"]
            for state, count in facts["counts"].items():
                counts[state] += count
        rows = tuple(
            all_rows(rounds, selection)
            if self.options.everything
            else gravest_rows(rounds, self.options.limit, selection)
        )
        return Audit(
            store=self.store.paths.name,
            version=task.circumstances.version,
            writers=self.store.writers(whole),
            records=whole.records,
            events=whole.events,
            corrupt=tuple(damage.regions()),
            damage=damage.count,
            counts=counts,
            plain=plain,
            transactions=rows,
            selection=selection,
            asked_for=count_selected(rounds, selection),
            notes=self.store.notes(whole),
            received_checks=self.store.received_checks(rows),
            trace=self.store.explain(whole, task.circumstances, first, lambda: self._trace(task)),
        )

    def _trace(self, task: GroupTask) -> StoreTrace:
        """The trace of a short store."""
        trace = StoreTrace(self.store.timeout_ms)
        for at in places_of_records(task):
            record = self.log.record_at(at)
            trace.add(record, classify(record))
        return trace
