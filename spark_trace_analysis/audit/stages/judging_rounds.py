"""Judges all buckets in rounds, each again where something was learnt that it needs.

A bucket alone cannot know from which of several copies a put-back was made (the scan of all put-backs says it), whether
the log is whole (damage may show when records are compared), or whether a transaction without a half has a twin.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spark_trace_analysis.audit.columns.bucket import Bucket
from spark_trace_analysis.audit.columns.stage_files import read_bucket, read_findings
from spark_trace_analysis.audit.rules.consistency import unknown_key
from spark_trace_analysis.audit.rules.damage import Damage
from spark_trace_analysis.audit.rules.findings import Finding, Rank, at_record
from spark_trace_analysis.audit.stages.judged_buckets import facts_of, scans_before
from spark_trace_analysis.audit.stages.spark_stage import run_stage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

    from reference.format.commit_log import CommitLog
    from spark_trace_analysis.audit.stages.group_stage import GroupTask


class JudgingRounds:
    """Runs the rounds.

    Parameters
    ----------
    task
        What the first round must know of the whole log.
    if_damaged
        The same for a log in which something is damaged.
    """

    def __init__(self, spark: SparkSession, log: CommitLog, task: GroupTask, if_damaged: GroupTask) -> None:
        self._spark = spark
        self._log = log
        self._task = task
        self._if_damaged = if_damaged
        self._buckets = task.ops.scan.buckets

    def run(self, damage: Damage) -> tuple[GroupTask, list[GroupTask]]:
        """Judge all buckets; gives the task of the last round, and for each bucket the one whose files count.

        Parameters
        ----------
        damage
            Takes what the last round has found.
        """
        task = self._task
        rounds = self._round(task)
        learnt = Damage()
        self._take(rounds, learnt)
        if task.circumstances.log_is_complete and learnt.count:
            task = self._if_damaged
            rounds = self._round(task)
        self._take(rounds, damage)
        return task, rounds

    def _round(self, task: GroupTask) -> list[GroupTask]:
        rounds = [task] * self._buckets
        facts = self._judge(rounds)
        if any(fact["ambiguous"] for fact in facts):
            scans = scans_before(task, self._buckets)
            again = replace(task, round=f"{task.round}-scanned", scans=scans)
            rounds = [again if fact["ambiguous"] else one for fact, one in zip(facts, rounds, strict=True)]
            self._judge(rounds)
        return rounds

    def _judge(self, tasks: Sequence[GroupTask]) -> list[dict[str, Any]]:
        def run(item: tuple[int, GroupTask]) -> None:
            item[1].run(item[0])

        def done(item: tuple[int, GroupTask]) -> Path:
            return item[1].path("rows", item[0], "json")

        items = list(enumerate(tasks))
        run_stage(self._spark, "judge", run, items, done)
        return [facts_of(task, bucket) for bucket, task in items]

    def _take(self, rounds: Sequence[GroupTask], damage: Damage) -> None:
        for bucket, task in enumerate(rounds):
            damage.take(read_findings(task.path("rows", bucket, "jsonl")))
        damage.take(self._orphans(rounds))

    def _orphans(self, rounds: Sequence[GroupTask]) -> Iterator[Finding]:
        """Transactions without a half of which another one has the birth."""
        orphans: list[tuple[int, int, str]] = []
        for bucket, task in enumerate(rounds):
            if facts_of(task, bucket)["orphans"]:
                path = task.path("orphans", bucket, "json")
                orphans += [tuple(one) for one in json.loads(path.read_text(encoding="utf-8"))]
        if not orphans:
            return
        births = np.unique(np.array([birth for birth, _, _ in orphans], np.int64))
        ops = rounds[0].ops

        def count(bucket: int) -> list[tuple[int, int]]:
            records = read_bucket([ops.scan.path("records", split) for split in ops.splits], bucket)
            entries = read_bucket([ops.path(number) for number in range(ops.scan.buckets)], bucket)
            own = Bucket(records, entries).births()
            values, counts = np.unique(own[np.isin(own, births)], return_counts=True)
            return [(int(value), int(number)) for value, number in zip(values, counts, strict=True)]

        context = self._spark.sparkContext
        context.setJobDescription("audit: twins")
        counted: dict[int, int] = {}
        for birth, number in context.parallelize(range(self._buckets), self._buckets).flatMap(count).collect():
            counted[birth] = counted.get(birth, 0) + number
        for birth, at, unique_key in orphans:
            if counted[birth] > 1:
                yield at_record(self._log, Rank.KEYS, at, unknown_key(unique_key))
