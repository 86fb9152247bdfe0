"""The whole log, put together from its splits: that they join, and facts that no split has alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reference.format.commit_log import CommitLog
from reference.format.commit_log_file import FileReader
from reference.format.consume_queue import open_consume_queues
from reference.format.cross_check import CrossCheck, wrong_count
from reference.format.frame import Frame
from spark_trace_analysis.audit.columns.stage_files import facts_at, read_findings, write_facts, write_findings
from spark_trace_analysis.audit.rules.circumstances import LogFacts
from spark_trace_analysis.audit.rules.consistency import FEW, lone_host
from spark_trace_analysis.audit.rules.damage import DamageFinding, Rank, at_record, found, order_of
from spark_trace_analysis.records.transaction_record import HALF_TOPIC, OP_TOPIC

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from files.remote_path import Location
    from spark_trace_analysis.audit.stages.scan_task import ScanTask
    from spark_trace_analysis.records.store_splits import Split

_EDGE = 3


def broken_joins(log: CommitLog, splits: Sequence[Split], scan: ScanTask) -> list[int]:
    """The files of a log whose splits do not begin where the one before them ends."""
    broken = []
    for index in range(len(log.files)):
        position, is_end = log.files[index].header_bytes, False
        for split in splits:
            if split.file != index:
                continue
            facts = _facts(scan, split)
            start = facts["start"]
            is_wrong = start is not None and (is_end or start != position)
            is_wrong |= start is None and not is_end and position < split.end
            if is_wrong:
                broken.append(index)
                break
            position, is_end = (position if start is None else facts["end"]), is_end or facts["is_end"]
    return broken


def _facts(scan: ScanTask, split: Split) -> dict[str, Any]:
    return facts_at(scan.path("scan", split.number, "json"))


@dataclass(slots=True)
class WholeLog(LogFacts):
    """The facts of all splits together, and the damage that no split could see alone.

    For each split there is where the half queues ended before it, and for each consume queue how many entries the
    records have that they should have.
    """

    half_ends: list[dict[int, int]] = field(default_factory=list)
    findings: list[DamageFinding] = field(default_factory=list)
    matched: Counter[str] = field(default_factory=Counter)


def put_together(log: CommitLog, splits: Sequence[Split], scan: ScanTask) -> WholeLog:
    """Go through the facts of all splits in the order of the log."""
    whole = WholeLog()
    if log.partial is not None:
        whole.half_end |= log.partial.ends_of(HALF_TOPIC)
        whole.op_end |= log.partial.ends_of(OP_TOPIC)
    hosts: dict[str, list[int]] = {}
    ordered = unordered = 0
    last_dispatched = -1
    undispatched: list[int] = []
    times = _Times(log)
    counting = _Counting(log)
    file_ends: dict[int, int] = {}
    for split in splits:
        facts = _facts(scan, split)
        whole.records += facts["records"]
        whole.events += facts["events"]
        marks = {mask: (first, last) for mask, first, last in facts["marks"]}
        whole.marks.take(marks, (facts["last_half"][0], facts["last_half"][1]))
        whole.discard_checks = max(whole.discard_checks, facts["discard_checks"])
        whole.copy_checks = max(whole.copy_checks, facts["copy_checks"])
        whole.half_ends.append(dict(whole.half_end))
        for ends, of_split in ((whole.half_end, facts["half_end"]), (whole.op_end, facts["op_end"])):
            for queue, end in of_split.items():
                ends[int(queue)] = max(ends.get(int(queue), 0), end)
        for host, (count, first) in facts["hosts"].items():
            known = hosts.setdefault(host, [0, first])
            known[0] += count
        ordered, unordered = ordered + facts["ordered"], unordered + facts["unordered"]
        last_dispatched = max(last_dispatched, facts["last_dispatched"])
        whole.unseen.update(facts["displaced"])
        undispatched += facts["undispatched"]
        whole.matched.update(facts["matched"])
        times.add(facts["records"], facts["first_times"], facts["last_times"])
        if facts["last_times"]:
            whole.last_offset, whole.last_timestamp = facts["last_times"][-1]
        counting.add(facts["edges"])
        before = file_ends.get(split.file, log.files[split.file].header_bytes)
        file_ends[split.file] = before if facts["end"] is None else facts["end"]
    whole.unseen.update(at for at in undispatched if at < last_dispatched)
    whole.findings += times.finish()
    whole.findings += counting.findings
    whole.findings += _file_ends(log, file_ends)
    whole.findings += _of_splits(splits, scan, last_dispatched, has_unordered=unordered < ordered)
    total = sum(count for count, _ in hosts.values())
    for host, (count, first) in hosts.items():
        if count == 1 and total > FEW:
            whole.findings.append(at_record(log, Rank.HOST, first, lone_host(host)))
    return whole


def _file_ends(log: CommitLog, ends: dict[int, int]) -> Iterator[DamageFinding]:
    for index, file in enumerate(log.files):
        for region in FileReader(file, log.following(index)).check_end(ends[index]):
            yield found(Rank.LOG, order_of(file.start + region.offset, 2), region)


def _of_splits(
    splits: Sequence[Split], scan: ScanTask, last_dispatched: int, *, has_unordered: bool
) -> Iterator[DamageFinding]:
    """Damage that depends on the other splits."""
    for split in splits:
        for missing in read_findings(scan.path("missing", split.number, "jsonl")):
            if missing.order < last_dispatched:
                yield missing
        if has_unordered:
            yield from read_findings(scan.path("unordered", split.number, "jsonl"))


class _Times:
    """Holds the times of records at the edges of splits against each other."""

    def __init__(self, log: CommitLog) -> None:
        self._rules = CrossCheck(log, {})
        self._rules.is_start = False
        self._first: list[list[int]] = []
        self._last: list[list[int]] = []
        self._findings: list[DamageFinding] = []

    def add(self, records: int, first: list[list[int]], last: list[list[int]]) -> None:
        edge = self._last[-2:] + first[:2]
        if self._last and first:
            for place in range(len(edge) - 2):
                self._rules.check_neighbours(*map(_frame, edge[place : place + _EDGE]))
                self._take(edge[place + 1][0], Rank.TIMES)
        self._first = (self._first + first)[:_EDGE]
        self._last = last if records >= _EDGE else (self._last + last)[-_EDGE:]

    def finish(self) -> list[DamageFinding]:
        if len(self._first) == _EDGE:
            before, record, after = map(_frame, self._first)
            if before.store_timestamp > after.store_timestamp >= record.store_timestamp:
                self._rules.is_start = True
                self._rules.check_neighbours(before, record, after)
                self._take(before.physical_offset, Rank.TIMES)
            self._rules.check_last(*map(_frame, self._last))
            self._take(self._last[-1][0], Rank.LAST_TIME)
        return self._findings

    def _take(self, at: int, rank: Rank) -> None:
        self._findings += [found(rank, order_of(at), region) for region in self._rules.found]
        self._rules.found.clear()


def _frame(edge: list[int]) -> Frame:
    return Frame(edge[0], 0, b"", 0, 0, 0, edge[1], 0, is_body_sound=True)


class _Counting:
    """Without any consume queue: whether each queue goes on from one split to the next."""

    def __init__(self, log: CommitLog) -> None:
        self._log = log
        self._next: dict[tuple[str, int, int], int] = {}
        self.findings: list[DamageFinding] = []

    def add(self, edges: list[list[Any]]) -> None:
        for topic, queue_id, at, offset, is_batch, after in edges:
            part = self._log.part_of(at)
            expected = self._next.get((topic, queue_id, part), offset if part else 0)
            if offset not in (expected, 0) and not is_batch:
                reason = wrong_count((topic, queue_id), offset, expected)
                self.findings.append(at_record(self._log, Rank.RECORD, at, reason))
            self._next[topic, queue_id, part] = after


@dataclass(frozen=True, slots=True)
class QueueTask:
    """Looks for entries of a consume queue that no record answers to."""

    scan: ScanTask

    def path(self, number: int, suffix: str) -> Location:
        """A file of one queue, by its number."""
        return self.scan.folder / f"queue-{number:06d}.{suffix}"

    def run(self, item: tuple[int, tuple[str, int]]) -> None:
        """Write the findings of one queue."""
        number, key = item
        log = CommitLog.open(self.scan.paths)
        queues = open_consume_queues(self.scan.paths.root)
        rules = CrossCheck(log, queues)
        queue = queues[key]
        findings = (
            found(Rank.QUEUE, offset, region)
            for offset, entry in queue.entries()
            if entry.commit_log_offset >= log.start
            for region in rules.check_answer(key, queue, offset, entry)
        )
        write_findings(self.path(number, "jsonl"), findings)
        write_facts(self.path(number, "json"), {})


def wrong_queues(
    log: CommitLog, scan: ScanTask, matched: Counter[str]
) -> tuple[list[DamageFinding], list[tuple[str, int]]]:
    """Queues of a wrong size, and the keys of those that have other entries than the records that matched."""
    queues = open_consume_queues(scan.paths.root)
    rules = CrossCheck(log, queues)
    findings = [
        found(Rank.QUEUE, region.offset, region) for queue in queues.values() for region in rules.wrong_sizes(queue)
    ]
    doubtful = [key for key, queue in queues.items() if queue.end - queue.first != matched[f"{key[0]}/{key[1]}"]]
    return findings, doubtful
