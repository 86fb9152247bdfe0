"""Judges all buckets in rounds, and reads the rows that they give.

A bucket is judged again where a round gives facts that it needs. Alone it lacks the source of a put-back with several
candidates (from the scan of all put-backs), the wholeness of the log (damage may show when records are compared), the
progress of rounds (from all put-backs), and the twins of transactions without a half.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields, replace
from heapq import nsmallest
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from files.content import read_json
from files.parquet import parquet_file
from spark_trace_analysis.audit.audit import Selected, of_each_state
from spark_trace_analysis.audit.columns.bucket import Bucket
from spark_trace_analysis.audit.columns.stage_files import facts_at, read_bucket, read_findings, write_facts
from spark_trace_analysis.audit.rules.consistency import unknown_key
from spark_trace_analysis.audit.rules.damage import Damage, DamageFinding, Rank, at_record
from spark_trace_analysis.audit.rules.grouping import birth_of
from spark_trace_analysis.audit.rules.history import first_behind
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.rules.transaction_row import TransactionRow
from spark_trace_analysis.audit.selection import COLUMNS, Selection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from files.remote_path import Location
    from reference.format.commit_log import CommitLog
    from spark_trace_analysis.audit.stages.group_stage import GroupTask
    from spark_trace_analysis.audit.stages.stage_runner import StageRunner


@dataclass(frozen=True, slots=True)
class JudgingRounds:
    """Runs the rounds, the first with facts of the whole log, or of a log in which something is damaged."""

    runner: StageRunner
    log: CommitLog
    task: GroupTask
    if_damaged: GroupTask

    def run(self, damage: Damage) -> tuple[GroupTask, list[GroupTask]]:
        """Judge all buckets into the last round's damage; gives its task, and each bucket's whose files count."""
        task = self.task
        rounds = self._round(task)
        learnt = Damage()
        self._take(rounds, learnt)
        if task.circumstances.log_is_complete and learnt.count:
            task = self.if_damaged
            rounds = self._round(task)
        self._take(rounds, damage)
        return task, rounds

    def _round(self, task: GroupTask) -> list[GroupTask]:
        rounds = [task] * task.ops.scan.buckets
        facts = self._judge(rounds)
        if any(fact["ambiguous"] for fact in facts):
            scans = scans_before(task, len(rounds))
            again = replace(task, round=f"{task.round}-scanned", scans=scans)
            rounds = [again if fact["ambiguous"] else one for fact, one in zip(facts, rounds, strict=True)]
            facts = self._judge(rounds)
        passed = _passed(facts)
        if passed and any(fact["counts"][TransactionState.UNKNOWN] for fact in facts):
            rounds = [
                replace(one, round=f"{one.round}-passed", circumstances=replace(one.circumstances, passed=passed))
                if fact["counts"][TransactionState.UNKNOWN]
                else one
                for fact, one in zip(facts, rounds, strict=True)
            ]
            self._judge(rounds)
        return rounds

    def _judge(self, tasks: Sequence[GroupTask]) -> list[dict[str, Any]]:
        def run(item: tuple[int, GroupTask]) -> None:
            item[1].run(item[0])

        def done(item: tuple[int, GroupTask]) -> Location:
            return item[1].path("rows", item[0], "json")

        items = list(enumerate(tasks))
        self.runner.run("judge", run, items, done)
        return [facts_of(task, bucket) for bucket, task in items]

    def _take(self, rounds: Sequence[GroupTask], damage: Damage) -> None:
        for bucket, task in enumerate(rounds):
            damage.take(read_findings(task.path("rows", bucket, "jsonl")))
        damage.take(self._orphans(rounds))

    def _orphans(self, rounds: Sequence[GroupTask]) -> Iterator[DamageFinding]:
        """Transactions without a half of which another one has the birth."""
        orphans: list[tuple[int, int, str]] = []
        for bucket, task in enumerate(rounds):
            if facts_of(task, bucket)["orphans"]:
                path = task.path("orphans", bucket, "json")
                orphans += [tuple(one) for one in read_json(path)]
        if not orphans:
            return
        twins = TwinTask(rounds[0], sorted({birth_hash for birth_hash, _, _ in orphans}))
        buckets = range(len(rounds))
        self.runner.run("twins", twins.run, buckets, twins.path)
        firsts = [at for bucket in buckets for at in facts_at(twins.path(bucket))["firsts"]]
        births = Counter(birth_of(self.log.record_at(at)) for at in firsts)
        for _, at, unique_key in orphans:
            if births[birth_of(self.log.record_at(at))] > 1:
                yield at_record(self.log, Rank.KEYS, at, unknown_key(unique_key))


@dataclass(frozen=True, slots=True)
class TwinTask:
    """Looks in a bucket for the first records of transactions whose birth could be that of an orphan."""

    task: GroupTask
    birth_hashes: Sequence[int]

    def path(self, bucket: int) -> Location:
        """The file of one bucket."""
        return self.task.path("twins", bucket, "json")

    def run(self, bucket: int) -> None:
        """Write where these records stand in the log."""
        ops = self.task.ops
        records = read_bucket([ops.scan.path("records", split) for split in ops.splits], bucket)
        entries = read_bucket([ops.path(number) for number in range(ops.scan.buckets)], bucket)
        bucket_of_all = Bucket(records, entries)
        firsts = bucket_of_all.at[bucket_of_all.starts]
        found = firsts[np.isin(bucket_of_all.birth_hashes(), np.array(self.birth_hashes, np.int64))]
        write_facts(self.path(bucket), {"firsts": found.tolist()})


def _passed(facts: Sequence[dict[str, Any]]) -> dict[int, int]:
    """Half queue id to the last half that a round surely passed, by all buckets."""
    passed: dict[int, int] = {}
    for fact in facts:
        for queue, offset in fact["passed"].items():
            passed[int(queue)] = max(passed.get(int(queue), -1), offset)
    return passed


def facts_of(task: GroupTask, bucket: int) -> dict[str, Any]:
    """The facts that the judging of a bucket gives beside its rows."""
    return facts_at(task.path("rows", bucket, "json"))


def scans_before(task: GroupTask, buckets: int) -> dict[int, int]:
    """The place of the scan of the half queue before each put-back with several possible parents.

    All put-backs of all transactions in the order of the log, one stretch of it after the other.
    """
    paths = [task.path("links", bucket, "arrow") for bucket in range(buckets)]
    scan: dict[int, int] = {}
    scans = {}
    for stretch in range(buckets):
        table = read_bucket(paths, stretch).sort_by("at")
        columns = table.to_pydict()
        for at, queue_id, parent, candidates in zip(
            columns["at"], columns["queue_id"], columns["parent"], columns["candidates"], strict=True
        ):
            offset = parent
            if candidates:
                scans[at] = scan.get(queue_id, -1)
                offset = first_behind(candidates, scans[at])
            scan[queue_id] = offset
    return scans


def places_of_records(task: GroupTask) -> list[int]:
    """The commit log offsets of all records of transactions, in order; for short stores only."""
    scan = task.ops.scan
    places: set[int] = set()
    for kind in ("records", "entries"):
        for bucket in range(scan.buckets):
            table = read_bucket([scan.path(kind, split) for split in task.ops.splits], bucket)
            places.update(table.column("at").to_pylist())
    return sorted(places)


_OF_A_ROW: Final = [field.name for field in fields(TransactionRow)]


def gravest_rows(rounds: Sequence[GroupTask], limit: int, selection: Selection) -> list[TransactionRow]:
    """The gravest rows to list, of all buckets: first looked for in some columns, then read."""
    rank_of = {state.value: rank for rank, state in enumerate(TransactionState)}
    ranked: list[tuple[int, int, int, int]] = []
    for bucket, task in enumerate(rounds):
        table = _listable(task, bucket, ["first_offset", *COLUMNS], selection)
        chosen = np.flatnonzero(selection.flags(table))
        states = table.column("state").combine_chunks()
        gravity = np.array([rank_of[state] for state in states.dictionary.to_pylist()], np.int64)
        gravity = gravity[states.indices.to_numpy()[chosen]] if len(chosen) else gravity
        first = table.column("first_offset").to_numpy()[chosen]
        gravest = np.lexsort((first, gravity))[:limit] if len(chosen) else chosen
        found = (values[gravest].tolist() for values in (gravity, first, chosen))
        ranked += ((rank, at, bucket, place) for rank, at, place in zip(*found, strict=True))
        ranked = nsmallest(limit, ranked)
    rows = {}
    for bucket, places in groupby(sorted(ranked, key=itemgetter(2, 3)), key=itemgetter(2)):
        listed = list(places)
        table = _listable(rounds[bucket], bucket, _OF_A_ROW, selection)
        for rank, content in zip(listed, table.take([rank[3] for rank in listed]).to_pylist(), strict=True):
            rows[rank] = TransactionRow.of(content)
    return [rows[rank] for rank in ranked]


def _listable(task: GroupTask, bucket: int, columns: list[str], selection: Selection) -> pa.Table:
    """The rows of a bucket that a list may hold; those that are not plain stand in the last row groups of its file."""
    with parquet_file(task.path("rows", bucket, "parquet")) as file:
        first = 0 if selection.lists_plain else facts_of(task, bucket)["plain_groups"]
        return file.read_row_groups(list(range(first, file.num_row_groups)), columns)


def rows_asked_for(rounds: Sequence[GroupTask], selection: Selection) -> Iterator[TransactionRow]:
    """All selected rows, bucket by bucket; one row group of a file at a time is held."""
    for bucket, task in enumerate(rounds):
        with parquet_file(task.path("rows", bucket, "parquet")) as file:
            for group in range(file.num_row_groups):
                chosen = selection.flags(file.read_row_group(group, COLUMNS))
                if chosen.any():
                    table = file.read_row_group(group, _OF_A_ROW).filter(pa.array(chosen))
                    yield from map(TransactionRow.of, table.to_pylist())


def all_rows(rounds: Sequence[GroupTask], selection: Selection) -> list[TransactionRow]:
    """All selected rows, in the order of their first records; they are all held."""
    return sorted(rows_asked_for(rounds, selection), key=lambda row: row.first_offset)


def count_selected(rounds: Sequence[GroupTask], selection: Selection) -> Selected:
    """The number of selected rows, by state, and of the plain ones among them."""
    counts: Counter[str] = Counter()
    also: Counter[str] = Counter()
    plain = 0
    columns = ["state", "also"] if selection.is_everything else COLUMNS
    for bucket, task in enumerate(rounds):
        plain_groups = facts_of(task, bucket)["plain_groups"]
        with parquet_file(task.path("rows", bucket, "parquet")) as file:
            for group in range(file.num_row_groups):
                table = file.read_row_group(group, columns)
                chosen = table.filter(pa.array(selection.flags(table)))
                counts.update(_numbers(chosen.column("state")))
                also.update(_numbers(pc.list_flatten(chosen.column("also"))))
                plain += chosen.num_rows if group < plain_groups else 0
    return Selected(of_each_state(counts), of_each_state(counts + also), plain)


def _numbers(words: pa.ChunkedArray) -> dict[str, int]:
    return {one["values"]: one["counts"] for one in pc.value_counts(words.cast(pa.string())).to_pylist()}
