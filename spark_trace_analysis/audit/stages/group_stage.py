"""The third stage of an audit: each task takes some transactions, puts their records together and judges each.

Straight histories, the large majority, are judged from columns (``columns/straight_histories.py``).
Every other one is built as objects and judged by the same rules as in an audit record by record.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from files.writing import write_whole
from reference.format.commit_log import CommitLog
from spark_trace_analysis.audit.columns.bucket import Bucket, ranges
from spark_trace_analysis.audit.columns.row_tables import write_rows
from spark_trace_analysis.audit.columns.stage_files import read_bucket, write_buckets, write_facts, write_findings
from spark_trace_analysis.audit.columns.straight_histories import straight_histories
from spark_trace_analysis.audit.rules.consistency import Siblings, unchanging, wrong_groups, wrong_links
from spark_trace_analysis.audit.rules.damage import DamageFinding, Rank, at_record
from spark_trace_analysis.audit.rules.grouping import Grouping
from spark_trace_analysis.audit.rules.history import (
    Delivery,
    Discard,
    HalfCopy,
    History,
    OpEntry,
    TransactionKey,
    first_behind,
)
from spark_trace_analysis.audit.rules.transaction_row import row_of
from spark_trace_analysis.records.transaction_record import NOTHING, RecordKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from files.remote_path import Location
    from spark_trace_analysis.audit.rules.circumstances import Circumstances
    from spark_trace_analysis.audit.stages.op_stage import OpTask


@dataclass(frozen=True, slots=True)
class GroupTask:
    """The parameters of all tasks of the stage.

    Attributes
    ----------
    round
        The number of the round, in the names of its files: buckets are judged again with facts of the round before.
    range_bytes
        Put-backs are bucketed by so many bytes of the commit log.
    scans
        Commit log offset of a put-back with several possible parents to the half offset that the scan was at.
    """

    ops: OpTask
    circumstances: Circumstances
    log_start: int
    round: str
    range_bytes: int
    scans: Mapping[int, int] = field(default_factory=dict)

    def path(self, kind: str, bucket: int, suffix: str) -> Location:
        """A file of one bucket."""
        return self.ops.scan.folder / f"{kind}-{self.round}-{bucket:06d}.{suffix}"

    def run(self, bucket: int) -> None:
        """Judge the transactions of one bucket."""
        _Judging(self, bucket).run()


class _Judging:
    def __init__(self, task: GroupTask, bucket: int) -> None:
        scan = task.ops.scan
        self.task = task
        self.number = bucket
        records = read_bucket([scan.path("records", split) for split in task.ops.splits], bucket)
        ops = read_bucket([task.ops.path(number) for number in range(scan.buckets)], bucket)
        self.bucket = Bucket(records, ops)
        self.straight = straight_histories(self.bucket, task.circumstances)
        self.log = CommitLog.open(scan.paths)
        self.findings: list[DamageFinding] = []
        self.links: list[tuple[int, int, int, list[int]]] = []
        self.orphans: list[list[Any]] = []
        self.timeout_ms = scan.timeout_ms

    def run(self) -> None:
        task, bucket = self.task, self.bucket
        is_crooked = np.ones(bucket.count, bool)
        is_crooked[self.straight.numbers] = False
        histories = self._histories(np.flatnonzero(is_crooked))
        puts_back, births = bucket.puts_back, bucket.birth_hashes()
        rows = {}
        for number, history in histories.items():
            if bucket.has_shadow[number] or puts_back[number]:
                self._link(history, bucket.shadowed_at)
            rows[number] = row_of(history, task.circumstances.of(history.first_offset))
            for place, reason in wrong_links(history, task.log_start, self.log.is_gone):
                self._find(Rank.LINKS, place, reason)
            if not task.log_start and not any(copy.check_times is None for copy in history.copies):
                self.orphans.append([int(births[number]), history.first_offset, history.key.unique_key])
        for namesakes in bucket.namesakes():
            for place, reason in wrong_groups([histories[number] for number in namesakes]):
                self._find(Rank.GROUPS, place, reason)
        written = write_rows(task.path("rows", self.number, "parquet"), bucket, self.straight, rows.values())
        passed = self._write_links()
        write_findings(task.path("rows", self.number, "jsonl"), self.findings)
        facts = {
            **written,
            "ambiguous": sum(bool(candidates) for *_, candidates in self.links),
            "orphans": len(self.orphans),
            "passed": passed,
        }
        if self.orphans:
            write_whole(task.path("orphans", self.number, "json"), json.dumps(self.orphans))
        write_facts(task.path("rows", self.number, "json"), facts)

    def _find(self, rank: Rank, at: int, reason: str, rule: int = 0) -> None:
        self.findings.append(at_record(self.log, rank, at, reason, rule))

    def _histories(self, numbers: Any) -> dict[int, History]:
        """The histories of some transactions, with their ops."""
        bucket = self.bucket
        columns = bucket.rows_of(numbers)
        ops = bucket.ops_of(numbers)
        foreign: dict[int, list[OpEntry]] = {}
        for op in bucket.foreign_ops:
            foreign.setdefault(op["half_at"], []).append(OpEntry(op["op_offset"], op["at"], op["store_timestamp"]))
        histories = {}
        row = entry = 0
        for number in map(int, numbers):
            size, entries = int(bucket.sizes[number]), int(bucket.op_counts[number])
            rows = range(row, row + size)
            if bucket.is_odd[number] or not bucket.agrees[number]:
                history = self._decoded(columns, rows)
            else:
                history = self._of_columns(columns, rows)
            copies = {copy.commit_log_offset: copy for copy in history.copies}
            for at, copy in copies.items():
                copy.foreign_ops += foreign.get(at, [])
            for index in range(entry, entry + entries):
                op = OpEntry(ops["op_offset"][index], ops["at"][index], ops["store_timestamp"][index])
                copies[ops["half_at"][index]].ops.append(op)
            histories[number] = history
            row, entry = row + size, entry + entries
        return histories

    def _of_columns(self, columns: dict[str, list[Any]], rows: range) -> History:
        """A history from its columns alone."""
        first = rows[0]
        immunity = columns["immunity_ms"][first]
        history = History(
            key=TransactionKey(columns["unique_key"][first], columns["producer_group"][first]),
            topic=columns["topic"][first],
            born_timestamp=columns["born_timestamp"][first],
            birth=(columns["birth_hash"][first], "", 0),
            immunity_ms=None if immunity == NOTHING else immunity,
            keys=columns["message_keys"][first],
            tags=columns["message_tags"][first],
        )
        for row in rows:
            kind, at, time = columns["kind"][row], columns["at"][row], columns["store_timestamp"][row]
            checks, queue_id, queue_offset = (
                columns[name][row] for name in ("check_times", "queue_id", "queue_offset")
            )
            check_times = None if checks == NOTHING else checks
            if kind == RecordKind.DELIVERED:
                prepared, flag = columns["prepared_offset"][row], columns["flag"][row]
                history.deliveries.append(Delivery(queue_id, queue_offset, at, prepared, time, flag, check_times))
            elif kind == RecordKind.DISCARDED:
                history.discards.append(Discard(queue_id, queue_offset, at, check_times, time))
            else:
                history.copies.append(
                    HalfCopy(
                        queue_id=queue_id,
                        queue_offset=queue_offset,
                        commit_log_offset=at,
                        check_times=check_times,
                        store_timestamp=time,
                        flag=columns["flag"][row],
                        is_immunity_put_back=columns["prepared_queue_offset"][row] != NOTHING
                        and history.immunity_ms is not None
                        and time - columns["born_timestamp"][row] <= history.immunity_ms,
                    )
                )
        return history

    def _decoded(self, columns: dict[str, list[Any]], rows: range) -> History:
        """A history from its records themselves, each held against the others."""
        grouping, siblings = Grouping(self.timeout_ms), Siblings()
        history = None
        for row in rows:
            record = self.log.record_at(columns["at"][row])
            kind, history = grouping.add(record)
            siblings.add(record.physical_offset, unchanging(record, kind))
        for rule, (at, reason) in enumerate(siblings.odd_ones()):
            self._find(Rank.SIBLINGS, at, reason, rule)
        if history is None:
            message = f"{self.log.files[0].path}: the log was changed while it was read"
            raise RuntimeError(message)
        return history

    def _link(self, history: History, shadowed_at: set[int]) -> None:
        """Link the put-backs; where several copies could be the parent, the scan of all put-backs decides."""
        for copy in history.copies:
            at = copy.commit_log_offset
            if copy.check_times is None or at in shadowed_at:
                continue
            parents = history.parents_of(copy)
            if not parents:
                continue
            candidates: list[int] = [other.queue_offset for other in parents]
            is_open = len(candidates) > 1
            offset = first_behind(candidates, self.task.scans.get(at, -1)) if is_open else candidates[0]
            self.links.append((at, copy.queue_id, offset, candidates if is_open else []))
            copy.link(next(other for other in parents if other.queue_offset == offset))

    def _write_links(self) -> dict[int, int]:
        """Write the put-backs by their place in the log, for the scan over all of them.

        Gives for each half queue the last half that a round surely passed, as
        :func:`spark_trace_analysis.audit.rules.history.passed_by_rounds` does.
        """
        bucket, straight = self.bucket, self.straight
        copies = ranges(bucket.starts[straight.numbers] + 1, straight.put_backs)
        queue_id, queue_offset = bucket.column("queue_id"), bucket.column("queue_offset")
        at, queue, parent, candidates = zip(*self.links, strict=True) if self.links else ((), (), (), ())
        columns = {
            "at": np.append(bucket.at[copies], np.array(at, np.int64)),
            "queue_id": np.append(queue_id[copies].astype(np.int64), np.array(queue, np.int64)),
            "parent": np.append(queue_offset[copies - 1], np.array(parent, np.int64)),
            "candidates": pa.array([*[()] * len(copies), *candidates], pa.list_(pa.int64())),
        }
        buckets = (columns["at"] - self.task.log_start) // self.task.range_bytes
        write_buckets(self.task.path("links", self.number, "arrow"), columns, buckets, self.task.ops.scan.buckets)
        firsts = [offsets[0] if offsets else one for one, offsets in zip(parent, candidates, strict=True)]
        columns["parent"][len(copies) :] = np.array(firsts, np.int64)
        queues = columns["queue_id"]
        return {int(queue): int(columns["parent"][queues == queue].max()) for queue in np.unique(queues)}
