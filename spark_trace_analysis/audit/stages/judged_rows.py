"""Reads the rows that the rounds have judged: the gravest of all buckets, all of them, counts of a selection."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from heapq import nsmallest
from itertools import groupby, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from files.parquet import parquet_file
from spark_trace_analysis.audit.audit import Selected, of_each_state
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.rules.transaction_row import TransactionRow
from spark_trace_analysis.audit.selection import COLUMNS
from spark_trace_analysis.audit.stages.judging_rounds import facts_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spark_trace_analysis.audit.selection import Selection
    from spark_trace_analysis.audit.stages.group_stage import GroupTask

_OF_A_ROW: Final = [field.name for field in fields(TransactionRow)]


def gravest_rows(rounds: Sequence[GroupTask], limit: int, selection: Selection) -> list[TransactionRow]:
    """The gravest rows to list, of all buckets: first looked for in some columns, then read."""
    rank_of = {state.value: rank for rank, state in enumerate(TransactionState)}
    ranked: list[tuple[int, int, int, int]] = []
    for bucket, task in enumerate(rounds):
        table = _listable(task, bucket, ["first_offset", *COLUMNS], selection)
        chosen = np.flatnonzero(selection.flags(table))
        found = table.select(["state", "first_offset"]).take(chosen)
        gravity = [rank_of[state] for state in found.column("state").to_pylist()]
        ranked += zip(gravity, found.column("first_offset").to_pylist(), repeat(bucket), chosen.tolist(), strict=False)
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
