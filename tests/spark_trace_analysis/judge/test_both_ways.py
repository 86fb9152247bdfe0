"""Judging: kernels and expressions agree where they should, and each finds the other's mutants."""

import inspect
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from spark_trace_analysis.errors import BadTracesError, DisagreementError
from spark_trace_analysis.judge.both_ways import Count, ViolatingTraces, judge
from spark_trace_analysis.judge.by_expressions import judge_file
from spark_trace_analysis.judge.by_kernel import find_violations
from spark_trace_analysis.judge.properties import ALL, NOT_SHOWN, Invariant
from spark_trace_analysis.traces import events
from spark_trace_analysis.traces.manifest import TraceRun
from spark_trace_analysis.traces.runs import settings_of
from spark_trace_analysis.traces.schema import ACTIONS
from spark_trace_analysis.traces.whole_traces import WholeTraces, read_whole_traces
from spec.events import EVENTS
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.spark_trace_analysis.arbitrary_traces import events_of
from tests.spark_trace_analysis.traces_by_hand import BY_HAND

WriteRun = Callable[..., TraceRun]
BY_ID = {each.property_id: each for each in ALL}
TRACES = [trace for trace, _ in BY_HAND]
ROLLED_BACK = {"op_stored", "op_buffered", "op_lost", "half_rolled_back"}


def expected(property_id: str) -> ViolatingTraces:
    """What the table says of a property."""
    broken = [
        (expected[property_id], number) for number, (_, expected) in enumerate(BY_HAND) if property_id in expected
    ]
    if not broken:
        return ViolatingTraces()
    events, shortest = min(broken)
    return ViolatingTraces(len(broken), min(number for _, number in broken), shortest, events)


@pytest.fixture(scope="module")
def by_hand(write_run: WriteRun, tmp_path_factory: pytest.TempPathFactory) -> TraceRun:
    return write_run(tmp_path_factory.mktemp("by_hand") / "run", TRACES)


@pytest.fixture(scope="module")
def whole(by_hand: TraceRun) -> list[WholeTraces]:
    content = (Path(str(by_hand.folder)) / by_hand.manifest.files[0].name).read_bytes()
    return list(read_whole_traces(pa.BufferReader(content)))


def events_to_violations(whole: list[WholeTraces], run: TraceRun, invariant: Invariant) -> list[int]:
    settings = settings_of(run)
    return [int(n) for traces in whole for n in find_violations(traces, invariant, settings)]


def test_traces_written_by_hand_are_judged_rightly_in_both_ways(spark: SparkSession, by_hand: TraceRun) -> None:
    judgement = judge(spark, [by_hand])
    for count in judgement.counts:
        wanted = expected(count.property_id)
        assert wanted.violations > 0, f"some trace breaks {count.property_id}"
        assert found_of(count) == wanted, count.property_id
    assert (judgement.traces, judgement.events) == (len(BY_HAND), sum(map(len, TRACES)))


def found_of(count: Count) -> ViolatingTraces:
    return ViolatingTraces(count.violations, count.first_trace, count.shortest_trace, count.shortest_events)


@pytest.mark.parametrize("invariant", ALL, ids=lambda each: each.property_id)
def test_each_trace_is_broken_by_the_event_that_the_table_says(
    whole: list[WholeTraces], by_hand: TraceRun, invariant: Invariant
) -> None:
    at = events_to_violations(whole, by_hand, invariant)
    for number, (trace, expected) in enumerate(BY_HAND):
        assert at[number] == expected.get(invariant.property_id, 0), trace


def test_simulated_traces_are_judged_as_a_plain_count_says(spark: SparkSession, simulated: list[TraceRun]) -> None:
    judgement = judge(spark, simulated)
    for count, run in zip(judgement.counts[:: len(ALL)], simulated, strict=True):
        deliveries: Counter[tuple[int, int]] = Counter()
        doubled: dict[int, int] = {}
        for row in pq.read_table(run.folder / run.manifest.files[0].name).to_pylist():
            if row["event"] == "message_delivered":
                deliveries[row["trace"], row["transaction"]] += 1
                if deliveries[row["trace"], row["transaction"]] == 2:
                    doubled.setdefault(row["trace"], row["step"] + 1)
        least = min(((events, trace) for trace, events in doubled.items()), default=(None, None))
        assert count.property_id == "S1"
        assert found_of(count) == ViolatingTraces(len(doubled), min(doubled, default=None), least[1], least[0])
        assert deliveries, "some walk delivers a message, or the property would hold for want of deliveries"
    assert judgement.violations()["5.3.3"]["crash,lose_end"]["S1"] > 0


def test_runs_of_the_same_kind_are_added_up(spark: SparkSession, by_hand: TraceRun) -> None:
    twice = judge(spark, [by_hand, by_hand], ALL[:2]).violations()
    assert twice == {"5.3.3": {"quiet": {"S1": 2 * expected("S1").violations, "S2": 2 * expected("S2").violations}}}


# --- mutants ----------------------------------------------------------------------------------------------------------

TAKEN_FOR = {
    "S1": ("message_delivered", "half_stored"),
    "S2": ("op_lost", "op_corrupted"),
    "S3": ("local_outcome", "half_stored"),
    "S4": ("half_stored", "time_passed"),
    "S5": ("check_answered", "check_sent"),
    "S6": ("half_stored", "time_passed"),
    "S8": ("op_buffered", "time_passed"),
    "S9": ("op_buffered", "time_passed"),
    "S10": ("op_stored", "time_passed"),
    "L1": ("crashed", "time_passed"),
    "L2": ("put_back_for_check", "put_back_for_immunity"),
    "L3": ("half_passed", "time_passed"),
    "L5": ("message_delivered", "time_passed"),
    "R1": ("op_stored", "time_passed"),
}
"""A kernel that looks for another event than it should."""

SAID_INSTEAD = {
    "S1": (">= 2", ">= 3"),
    "S2": ('col("parked") > 0', 'col("parked") > 1'),
    "S3": ('col("committed") == 0', 'col("committed") == 1'),
    "S4": ("is_foreign & so_far", "so_far"),
    "S5": ('col("asked_for") == 0', 'col("asked_for") < 0'),
    "S6": ('col("half") != col("first_half")', 'col("half") < col("first_half")'),
    "S8": ("& ~is_action(discarding.discard_half_unrecorded)", ""),
    "S9": ("<= settings.timeout", "<= settings.timeout + 1"),
    "S10": ('col("named") == 0', 'col("named") == 1'),
    "L1": ('col("lost") == 1', 'col("lost") == 0'),
    "L2": ('col("asked") < col("check_times")', 'col("asked") <= col("check_times")'),
    "L3": ('reason == col("stuck_before")', 'col("stuck_before") > 0'),
    "L5": ("is_action(network.lose_end)", "is_action(network.lose_end, network.lose_check)"),
    "R1": ("settings.check_max + 1", "settings.check_max"),
}
"""An expression that says something else."""


def mutant_of_expression(invariant: Invariant) -> Invariant:
    """The property with the function of its expressions compiled anew from an edited source."""
    source, (old, new) = inspect.getsource(invariant.broken), SAID_INSTEAD[invariant.property_id]
    assert old in source
    room: dict[str, Any] = {}
    exec(source.replace(old, new), vars(inspect.getmodule(invariant.broken)), room)  # noqa: S102 (an edit of ours)
    return replace(invariant, broken=room[invariant.broken.__name__])


def found_by_expressions(run: TraceRun, invariant: Invariant) -> ViolatingTraces:
    content = pa.py_buffer((Path(str(run.folder)) / run.manifest.files[0].name).read_bytes())
    (row,) = judge_file(content, [invariant], settings_of(run))
    return ViolatingTraces(row["violations"], *(row.get(name) for name in ("first", "shortest", "shortest_events")))


def as_a_mutant_sees_it(traces: WholeTraces, invariant: Invariant) -> WholeTraces:
    """The kernel that looks for the one event in place of the other, told by what it is shown."""
    old, new = (EVENTS.index(name) for name in TAKEN_FOR[invariant.property_id])
    assert EVENTS[old] in events_of(invariant)
    event = np.where(traces.event == new, old, np.where(traces.event == old, len(EVENTS), traces.event))
    return traces._replace(event=event.astype(np.int16))


@pytest.mark.parametrize("invariant", ALL, ids=lambda each: each.property_id)
def test_a_mutant_of_an_expression_is_caught_by_the_kernel(by_hand: TraceRun, invariant: Invariant) -> None:
    assert found_by_expressions(by_hand, invariant) == expected(invariant.property_id)
    assert found_by_expressions(by_hand, mutant_of_expression(invariant)) != expected(invariant.property_id)


@pytest.mark.parametrize("invariant", ALL, ids=lambda each: each.property_id)
def test_a_mutant_of_a_kernel_is_caught_by_the_expression(
    whole: list[WholeTraces], by_hand: TraceRun, invariant: Invariant
) -> None:
    seen = [as_a_mutant_sees_it(traces, invariant) for traces in whole]
    at = events_to_violations(seen, by_hand, invariant)
    broken = [(events, number) for number, events in enumerate(at) if events]
    least = min(broken, default=(None, None))
    first = min((number for _, number in broken), default=None)
    assert ViolatingTraces(len(broken), first, least[1], least[0]) != expected(invariant.property_id)


@pytest.mark.parametrize(
    "mutant", [replace(BY_ID["S1"], kernel=BY_ID["S2"].kernel), mutant_of_expression(BY_ID["R1"])], ids=["S1", "R1"]
)
def test_a_disagreement_ends_the_judging_and_names_both(
    spark: SparkSession, by_hand: TraceRun, mutant: Invariant
) -> None:
    with pytest.raises(DisagreementError, match=r"the kernel finds \d+ .*the expression \d+ ") as disagreement:
        judge(spark, [by_hand], [mutant])
    assert disagreement.value.exit_code == 75


# --- what is judged ---------------------------------------------------------------------------------------------------


def test_a_changed_byte_is_found(spark: SparkSession, write_run: WriteRun, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", TRACES)
    path = Path(str(run.folder)) / run.manifest.files[0].name
    content = bytearray(path.read_bytes())
    content[20] ^= 1
    path.write_bytes(content)
    with pytest.raises(BadTracesError, match=r"traces\.parquet: its SHA-256 is not the manifest's") as damage:
        judge(spark, [run])
    assert damage.value.exit_code == 150


def test_fewer_traces_than_promised_are_found(spark: SparkSession, write_run: WriteRun, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", TRACES)
    promised = replace(run.manifest, parameters=replace(run.parameters, traces=99))
    with pytest.raises(BadTracesError, match=f"holds {len(TRACES)} traces with {run.manifest.events} events, the man"):
        judge(spark, [replace(run, manifest=promised)])


def test_every_property_is_judged_or_has_a_reason_why_not() -> None:
    declared = dict.fromkeys(clause.identifier for clause in TRANSACTIONAL_MESSAGES.clauses)
    judged = [each.property_id for each in ALL]
    assert [name for name in declared if name not in NOT_SHOWN] == judged
    assert set(declared) == {*judged, *NOT_SHOWN}


def test_every_invariant_looks_at_actions_that_exist_and_an_event_that_does_not_is_named() -> None:
    for invariant in ALL:
        assert {action.__name__ for action in invariant.actions} <= set(ACTIONS)
    with pytest.raises(AttributeError, match="there is no event 'half_lost': known are half_stored, "):
        assert events.half_lost
