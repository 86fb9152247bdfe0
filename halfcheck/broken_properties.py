"""The properties that a run's trace breaks, and which of them the faults explain that were ordered in it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any

from files.content import parse_json
from files.reading import read_bytes, read_lines
from files.temporary_folder import temporary_folder
from files.writing import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from reference.format.broker_conf import BrokerConf
    from wire.node.ordered_faults import OrderedFault, OrderedFaults

_Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class BrokenProperty:
    """A property that the trace breaks, by its id and what it claims.

    Attributes
    ----------
    event
        The number of events up to the violation.
    is_by_the_stop
        Whether it holds up to the last stop of the broker, and only that breaks it.
    ordered
        The orders that explain it: it holds without the transactions that these befell. Empty if none does, or not
        all of it.
    """

    property_id: str
    sentence: str
    event: int
    is_by_the_stop: bool = False
    ordered: tuple[str, ...] = ()


def broken_properties(
    trace: Path, conf: BrokerConf, release: str, ordered: OrderedFaults | None = None
) -> list[BrokenProperty]:
    """In the order in which properties are judged; the same ones as ``halfcheck analyze`` finds.

    Whatever is broken is judged again in parts of the trace: in the rest, without the transactions that ordered
    faults befell, and by order in those that it befell alone. What the rest breaks, too, nobody has ordered; nor what
    was broken before a fault befell anything.
    """
    if not trace.stat().st_size:
        return []
    judge = _TraceJudge(conf, release)
    broken = judge.broken_in(trace)
    befallen = [] if ordered is None or not broken else list(_befallen(trace, ordered))
    if befallen:
        explained = _explained(trace, befallen, broken, judge)
        broken = [replace(each, ordered=explained.get(each.property_id, ())) for each in broken]
    return broken


@dataclass(frozen=True, slots=True)
class _Befallen:
    """What one order befell: numbers of transactions, and how many rows the trace had when it first did."""

    order: str
    transactions: frozenset[int]
    row: int


def _befallen(trace: Path, ordered: OrderedFaults) -> Iterator[_Befallen]:
    spans: list[_Span] | None = None
    for fault in ordered.all:
        if not fault.befell:
            continue
        if fault.begins is None:
            found = ordered.transactions(fault)
        else:
            spans = list(_spans(trace)) if spans is None else spans
            found = {span.transaction: fault.begins for span in spans if span.is_under_way_in(fault)}
        if found:
            yield _Befallen(fault.order, frozenset(found), min(found.values()))


@dataclass(slots=True)
class _Span:
    """A transaction is under way from its half on until it is settled on the disk."""

    transaction: int
    begins: int
    ends: int | None = None

    def is_under_way_in(self, fault: OrderedFault) -> bool:
        """Whether any of it is in the time of a fault that befalls all that is under way."""
        has_begun = fault.ends is None or self.begins < fault.ends
        return has_begun and (self.ends is None or fault.begins is None or self.ends >= fault.begins)


def _spans(trace: Path) -> Iterator[_Span]:
    spans: dict[int, _Span] = {}
    for number, row in enumerate(map(parse_json, read_lines(trace))):
        if row["event"] == "half_stored":
            spans.setdefault(row["transaction"], _Span(row["transaction"], number))
        elif row["event"] == "op_stored" and row["transaction"] in spans:
            spans[row["transaction"]].ends = number
    yield from spans.values()


def _explained(
    trace: Path, befallen: Sequence[_Befallen], broken: Sequence[BrokenProperty], judge: _TraceJudge
) -> Mapping[str, tuple[str, ...]]:
    """By property the orders that explain all of it."""
    everything = frozenset().union(*(each.transactions for each in befallen))
    with temporary_folder() as folder:
        parts = [folder / f"{number}.jsonl" for number in range(len(befallen) + 1)]
        rows = [parse_json(line) for line in read_lines(trace)]
        _write(parts[0], [row for row in rows if row["transaction"] not in everything])
        for part, each in zip(parts[1:], befallen, strict=True):
            _write(part, [row for row in rows if row["transaction"] in (-1, *each.transactions)])
        rest, *alone = ({each.property_id for each in judge.broken_in(part)} for part in parts)
    found: dict[str, tuple[str, ...]] = {}
    for one in broken:
        by = [each for each, its in zip(befallen, alone, strict=True) if one.property_id in its]
        if one.property_id not in rest and any(each.row < one.event for each in by):
            found[one.property_id] = tuple(dict.fromkeys(each.order for each in by))
    return found


def _write(part: Path, rows: Sequence[_Row]) -> None:
    write_whole(part, "".join(json.dumps(row | {"step": step}) + "\n" for step, row in enumerate(rows)))


class _TraceJudge:
    """Judges traces by the expressions, which need no compiler."""

    def __init__(self, conf: BrokerConf, release: str) -> None:
        from model_check.releases import profile_for
        from model_check.world import Profile, World
        from spark_trace_analysis.traces.runs import RunSettings

        self._profile = Profile.of(profile_for(release)[0])
        self._settings = RunSettings.of(World.of(self._profile).constants)._replace(
            check_max=conf.or_default("transactionCheckMax", release),
            timeout=conf.or_default("transactionTimeOut", release),
        )

    def broken_in(self, trace: Path) -> list[BrokenProperty]:
        """What a trace breaks."""
        import polars as pl
        import pyarrow as pa

        from spark_trace_analysis.ingest.recorded_run import record_run
        from spark_trace_analysis.judge.by_expressions import judge_file
        from spark_trace_analysis.judge.properties import ALL

        if not trace.stat().st_size:
            return []
        with temporary_folder() as folder:
            run = record_run(trace, folder / "run", self._profile, self._settings).run
            content = pa.py_buffer(read_bytes(run.folder / run.manifest.files[0].name))
            # What producers decided, a broker's trace does not show.
            seen = set(pl.read_parquet(BytesIO(content.to_pybytes()), columns=["event"])["event"].unique())
            asked = [each for each in ALL if not each.needs or each.needs in seen]
            rows: list[dict[str, Any]] = list(judge_file(content, asked, self._settings))
        sentences = {each.property_id: each.sentence for each in ALL}
        return [
            BrokenProperty(row["property"], sentences[row["property"]], row["shortest_events"])
            for row in rows
            if row["violations"]
        ]
