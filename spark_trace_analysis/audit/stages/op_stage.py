"""The second stage of an audit: each task joins the op entries of some places of the half queue to their halves.

An op counts for the half that stood at its place when it was written; after a crash two halves may bear one offset.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reference.format.commit_log import CommitLog
from spark_trace_analysis.audit.columns.stage_files import read_bucket, write_buckets, write_facts, write_findings
from spark_trace_analysis.audit.rules.damage import DamageFinding, Rank, at_record
from spark_trace_analysis.audit.rules.grouping import beyond_the_end
from spark_trace_analysis.audit.stages.scan_task import ScanTask, key_bucket

if TYPE_CHECKING:
    from collections.abc import Sequence

    from files.remote_path import Location


@dataclass(frozen=True, slots=True)
class OpTask:
    """The parameters of all tasks of the stage.

    Splits are the numbers of those whose files count; for each of them, half ends say where the half queues ended
    before it, by queue id.
    """

    scan: ScanTask
    splits: Sequence[int]
    half_ends: Sequence[dict[int, int]]

    def path(self, bucket: int, suffix: str = "arrow") -> Location:
        """A file of one bucket."""
        return self.scan.folder / f"ops-{bucket:06d}.{suffix}"

    def run(self, bucket: int) -> None:
        """Join the op entries of one bucket to their halves and write them by transaction."""
        halves = _columns([self.scan.path("halves", split) for split in self.splits], bucket)
        files = [self.scan.path("entries", split) for split in self.splits]
        entries = _columns(files, bucket)
        owner = _last_before(halves, entries)
        is_known = owner >= 0
        findings = self._strange(entries, np.flatnonzero(~is_known), files, bucket)
        named = owner[is_known]
        shadowed = _shadowed(halves)
        other, entry = _of_others(halves, entries)
        half = np.concatenate([named, shadowed, other])
        zeros = np.zeros(len(shadowed), np.int64)
        columns = {
            "half_at": halves["at"][half],
            "is_shadow": np.repeat([False, True, False], [len(named), len(shadowed), len(other)]),
            "is_foreign": np.repeat([False, False, True], [len(named), len(shadowed), len(other)]),
        }
        for name in ("op_offset", "at", "store_timestamp"):
            columns[name] = np.concatenate([entries[name][is_known], zeros, entries[name][entry]])
        key_hash = halves["key_hash"][half]
        buckets = key_bucket(key_hash, self.scan.buckets)
        write_buckets(self.path(bucket), columns, buckets, self.scan.buckets)
        write_findings(self.path(bucket, "jsonl"), findings)
        write_facts(self.path(bucket, "json"), {})

    def _strange(
        self, entries: dict[str, Any], unknown: Any, files: Sequence[Location], bucket: int
    ) -> list[DamageFinding]:
        """Entries that name a half beyond the end that the half queue had when they were written."""
        if not len(unknown):
            return []
        ends = np.cumsum([read_bucket([path], bucket).num_rows for path in files])
        log = CommitLog.open(self.scan.paths)
        findings: list[DamageFinding] = []
        for number in unknown:
            before = self.half_ends[int(np.searchsorted(ends, number, side="right"))]
            end = max(before.get(int(entries["queue_id"][number]), 0), int(entries["half_end"][number]))
            offset, at = int(entries["half_offset"][number]), int(entries["at"][number])
            if offset >= end:
                findings.append(at_record(log, Rank.OP, at, beyond_the_end(offset, end), len(findings)))
        return findings


def _columns(paths: Sequence[Location], bucket: int) -> dict[str, Any]:
    table = read_bucket(paths, bucket)
    return {name: table.column(name).to_numpy() for name in table.column_names}


def _last_before(halves: dict[str, Any], entries: dict[str, Any]) -> Any:
    """For each entry the number of the last half at its place that was written before it; -1 if there is none."""
    count = len(halves["at"])
    queue = np.append(halves["queue_id"], entries["queue_id"])
    offset = np.append(halves["queue_offset"], entries["half_offset"])
    order = np.lexsort((np.append(halves["at"], entries["at"]), offset, queue))
    is_half = order < count
    place = np.arange(len(order))
    last = np.maximum.accumulate(np.where(is_half, place, -1)) if len(order) else place
    owner = np.full(len(entries["at"]), -1, np.int64)
    asked = place[~is_half & (last >= 0)]
    half, entry = order[last[asked]], order[asked]
    is_same = (queue[half] == queue[entry]) & (offset[half] == offset[entry])
    owner[entry[is_same] - count] = half[is_same]
    return owner


def _shadowed(halves: dict[str, Any]) -> Any:
    """Halves at whose place another one was written later."""
    queue, offset = halves["queue_id"], halves["queue_offset"]
    order = np.lexsort((halves["at"], offset, queue))
    is_same = (np.diff(queue[order]) == 0) & (np.diff(offset[order]) == 0)
    return order[:-1][is_same]


def _of_others(halves: dict[str, Any], entries: dict[str, Any]) -> tuple[Any, Any]:
    """Halves, and with each an entry that names its place and was written for another half there."""
    owner = _last_before(halves, entries)
    shared = np.unique(halves["queue_offset"][_shadowed(halves)])
    together: dict[tuple[int, int], list[int]] = {}
    for half in map(int, np.flatnonzero(np.isin(halves["queue_offset"], shared))):
        together.setdefault((int(halves["queue_id"][half]), int(halves["queue_offset"][half])), []).append(half)
    pairs = [
        (half, entry)
        for entry in map(int, np.flatnonzero(np.isin(entries["half_offset"], shared)))
        for half in together.get((int(entries["queue_id"][entry]), int(entries["half_offset"][entry])), ())
        if 0 <= owner[entry] != half
    ]
    found = np.array(pairs, np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]
