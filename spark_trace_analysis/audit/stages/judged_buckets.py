"""What the driver of an audit reads out of the files that its judging stage has written, bucket by bucket."""

from __future__ import annotations

from heapq import nsmallest
from itertools import groupby, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from spark_trace_analysis.audit.columns.stage_files import facts_at, read_bucket
from spark_trace_analysis.audit.rules.put_back_parents import first_behind
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.rules.transaction_row import TransactionRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from spark_trace_analysis.audit.stages.group_stage import GroupTask

GRAVITY = {state.value: rank for rank, state in enumerate(TransactionState)}


def facts_of(task: GroupTask, bucket: int) -> dict[str, Any]:
    """What the judging of a bucket tells beside its rows."""
    return facts_at(task.path("rows", bucket, "json"))


def scans_before(task: GroupTask, buckets: int) -> dict[int, int]:
    """Where the scan of the half queue was before each put-back that several copies could be the parent of.

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


def gravest_rows(rounds: Sequence[GroupTask], limit: int) -> list[TransactionRow]:
    """The gravest rows that are not plain, of all buckets: first looked for in two columns, then read."""
    ranked: list[tuple[int, int, int, int]] = []
    for bucket, task in enumerate(rounds):
        table = _not_plain(task, bucket, ["state", "first_offset"])
        gravity = [GRAVITY[state] for state in table.column("state").to_pylist()]
        offsets = table.column("first_offset").to_pylist()
        ranked += zip(gravity, offsets, repeat(bucket), range(table.num_rows), strict=False)
        ranked = nsmallest(limit, ranked)
    rows = {}
    for bucket, places in groupby(sorted(ranked, key=itemgetter(2, 3)), key=itemgetter(2)):
        chosen = list(places)
        table = _not_plain(rounds[bucket], bucket, None)
        for rank, told in zip(chosen, table.take([rank[3] for rank in chosen]).to_pylist(), strict=True):
            rows[rank] = TransactionRow.of(told)
    return [rows[rank] for rank in ranked]


def _not_plain(task: GroupTask, bucket: int, columns: list[str] | None) -> pa.Table:
    """The rows of a bucket that are not plain; they stand in the last row groups of its file."""
    with pq.ParquetFile(task.path("rows", bucket, "parquet")) as file:
        groups = range(facts_of(task, bucket)["plain_groups"], file.num_row_groups)
        return file.read_row_groups(list(groups), columns)


def all_rows(rounds: Sequence[GroupTask]) -> list[TransactionRow]:
    """All rows of all buckets, in the order of their first records; they are all held."""
    rows = [
        TransactionRow.of(told)
        for bucket, task in enumerate(rounds)
        for told in pq.read_table(task.path("rows", bucket, "parquet"), partitioning=None).to_pylist()
    ]
    return sorted(rows, key=lambda row: row.first_offset)


def places_of_records(task: GroupTask) -> list[int]:
    """The commit log offsets of all records of transactions, in order; for short stores only."""
    scan = task.ops.scan
    places: set[int] = set()
    for kind in ("records", "entries"):
        for bucket in range(scan.buckets):
            table = read_bucket([scan.path(kind, split) for split in task.ops.splits], bucket)
            places.update(table.column("at").to_pylist())
    return sorted(places)
