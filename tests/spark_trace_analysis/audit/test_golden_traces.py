"""What real brokers wrote is explained by the specification of their version, and by no wrong one."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import pytest

from conformance.golden_stores import golden_stores
from model_check.trace_validation import check_thread
from model_check.trace_validation import validate as validation
from model_check.trace_validation.observed import EventKind, ObservedEvent, Trace
from model_check.trace_validation.path_search import SHORTEST_RESTART_MS, PathVerdict
from model_check.trace_validation.validate import validate
from spec.language import NONE
from tests.model_check.trace_validation.retake import replay
from tests.sampled import sampled
from tests.spark_trace_analysis.audit.golden_traces import GoldenTrace, golden_trace

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = [store.name for store in golden_stores()]
LONG = {"4.9.7/wide", "5.3.3/wide"}
MIDDLING = {"4.5.1/mixed", "4.9.7/mixed", "5.3.3/mixed", "5.5.0/mixed", "4.9.7/crash2", "5.3.3/crash"}
"""Seconds each: sweeps ask them all that the others are asked here."""
SHORT = [name for name in NAMES if name not in LONG]
QUICKLY_EXPLAINED = [pytest.param(name, marks=pytest.mark.sweep if name in MIDDLING else ()) for name in SHORT]

MADE_BY_THE_DRIVER = {
    "4.5.1/late": {"duplicate_end": 2, "late_end": 3, "wrong_end": 4},
    "4.9.7/late": {"duplicate_end": 2, "late_end": 3, "wrong_end": 4},
    "5.3.3/late": {"duplicate_end": 2, "late_end": 2, "wrong_end": 3},
    "5.4.0/late": {"duplicate_end": 2, "late_end": 2, "wrong_end": 3},
    "5.5.0/late": {"duplicate_end": 2, "late_end": 2, "wrong_end": 3},
    "5.5.1/late": {"duplicate_end": 2, "late_end": 2, "wrong_end": 3},
    "4.9.7/crash2": {"crash": 1},
    "5.3.3/crash": {"crash": 1},
    "5.3.3/crash2": {"crash": 1},
    "5.4.0/crash": {"crash": 1},
    "5.5.0/crash2": {"crash": 1},
}
"""The driver of `late` sends two commits again, contradicts itself, and ends halves after checks and discards; 5.x
refuses two of its late ENDs, which then leave no record. `crash` and `crash2` kill the broker once."""


def verdict_of(name: str, trace: Trace) -> PathVerdict:
    golden = golden_trace(name)
    return validate(trace, golden.settings, golden.switches)


@cache
def verdict_alone(name: str) -> PathVerdict:
    return verdict_of(name, golden_trace(name).alone)


@pytest.mark.untraced
@pytest.mark.parametrize(
    "name",
    [
        *SHORT,
        *(pytest.param(name, marks=pytest.mark.sweep) for name in sorted(LONG)),
    ],
)
def test_each_store_is_explained_with_no_fault_but_those_that_its_driver_made(name: str) -> None:
    trace = golden_trace(name).with_driver
    verdict = verdict_of(name, trace)
    assert (verdict.accepted, verdict.divergence) == (True, None)
    assert verdict.faults == MADE_BY_THE_DRIVER.get(name, {})
    assert replay(trace, verdict.path, verdict.constants) is None


def test_op_messages_that_were_born_an_interval_apart_may_be_stored_sooner_behind_each_other() -> None:
    """The batch interval of `gone` is 200 ms; in 5.5 the thread wakes up just when it is over."""
    golden = golden_trace("5.5.1/gone")
    ops = [event for event in golden.alone.events if event.kind is EventKind.OP_STORED]
    apart = [(later.born - op.born, later.time - op.time) for op, later in itertools.pairwise(ops)]
    assert (golden.settings.op_batch_interval_ms, apart) == (200, [(1671, 1674), (200, 197), (1807, 1807)])


@pytest.mark.parametrize("name", sampled(QUICKLY_EXPLAINED, 3))
def test_the_store_alone_says_the_same_without_its_drivers_log(name: str) -> None:
    verdict = verdict_alone(name)
    assert verdict.accepted is True
    assert verdict.faults == MADE_BY_THE_DRIVER.get(name, {})


@pytest.mark.parametrize("name", sampled(QUICKLY_EXPLAINED, 3))
def test_a_path_without_one_of_its_steps_does_not_replay(name: str) -> None:
    trace, verdict = golden_trace(name).alone, verdict_alone(name)
    stored = [
        i for i, step in enumerate(verdict.path) if step.step.action.name in ("begin_round", "put_back_and_check")
    ]
    assert stored
    for left_out in (stored[0], stored[-1]):
        path = [step for i, step in enumerate(verdict.path) if i != left_out]
        assert replay(trace, path, verdict.constants) is not None


# --- wrong specifications ---------------------------------------------------------------------------------------------


def check_max_too_low(golden: GoldenTrace) -> PathVerdict:
    settings = replace(golden.settings, check_max=golden.settings.check_max - 1)
    return validate(golden.alone, settings, golden.switches)


def check_max_too_high(golden: GoldenTrace) -> PathVerdict:
    settings = replace(golden.settings, check_max=golden.settings.check_max + 1)
    return validate(golden.alone, settings, golden.switches)


def other_op_format(golden: GoldenTrace) -> PathVerdict:
    switches = replace(golden.switches, batches_ops=not golden.switches.batches_ops)
    return validate(golden.alone, golden.settings, switches)


def b01_repaired(golden: GoldenTrace) -> PathVerdict:
    return validate(golden.alone, golden.settings, replace(golden.switches, heeds_settled_originals=True))


def first(golden: GoldenTrace, wanted: Callable[[ObservedEvent], bool]) -> int | None:
    return next((i for i, event in enumerate(golden.alone.events) if wanted(event)), None)


@pytest.mark.parametrize("name", sampled(QUICKLY_EXPLAINED, 3))
def test_a_check_maximum_that_is_too_low_is_refused_at_the_first_copy_beyond_it(name: str) -> None:
    golden = golden_trace(name)
    verdict = check_max_too_low(golden)
    beyond = first(golden, lambda e: e.kind is EventKind.PUT_BACK and e.check_times >= golden.settings.check_max)
    assert verdict.accepted is (beyond is None)
    if verdict.divergence is not None:
        assert verdict.divergence.number == beyond
        assert verdict.divergence.guard == "require: it has checks left"


@pytest.mark.parametrize("name", sampled(QUICKLY_EXPLAINED, 3))
def test_a_check_maximum_that_is_too_high_is_refused_at_the_first_discard(name: str) -> None:
    """4.5.1 leaves no record of a discard; there the saved half offset gives it away."""
    golden = golden_trace(name)
    verdict = check_max_too_high(golden)
    discard = first(golden, lambda e: e.kind is EventKind.DISCARDED)
    spent = any(event.check_times == golden.settings.check_max for event in golden.alone.events)
    assert verdict.accepted is (not spent)
    if verdict.divergence is not None:
        if golden.switches.keeps_discarded:
            assert verdict.divergence.number == discard
            assert verdict.divergence.guard == "require: it has no checks left"
        else:
            assert verdict.divergence.event.kind is EventKind.OFFSETS_SAVED


@pytest.mark.parametrize("name", SHORT)
def test_another_versions_op_format_is_refused_at_the_first_op_message(name: str) -> None:
    golden = golden_trace(name)
    verdict = other_op_format(golden)
    op = first(golden, lambda e: e.kind is EventKind.OP_STORED)
    assert verdict.accepted is (op is None)
    if verdict.divergence is not None and name != "5.3.3/late":
        assert verdict.divergence.number == op
        assert verdict.divergence.guard.startswith("record: the body of an op message is ")


def test_deliveries_in_a_row_are_refused_where_each_end_writes_its_own_op_message() -> None:
    """A crash may have cut the first END_TRANSACTION short; the third one comes sooner than a broker starts again."""
    golden = golden_trace("5.3.3/late")
    first, second, third = [
        i for i, e in enumerate(golden.alone.events) if e.kind is EventKind.DELIVERED and e.half == 0
    ][:3]
    times = [golden.alone.events[i].time for i in (first, second, third)]
    assert times[2] - times[1] < SHORTEST_RESTART_MS <= times[1] - times[0]
    verdict = other_op_format(golden)
    assert verdict.divergence is not None
    assert (verdict.divergence.number, verdict.divergence.guard) == (third, "require: none is under way")


@pytest.mark.parametrize(
    "name",
    [
        *sampled([name for name in SHORT if name.endswith("/immunity")], 2),
        *sampled([case for case in QUICKLY_EXPLAINED if not str(case.values[0]).endswith("/immunity")], 3),
    ],
)
def test_the_repair_of_b01_is_refused_where_an_immune_copy_of_a_settled_half_is_put_back(name: str) -> None:
    golden = golden_trace(name)
    verdict = b01_repaired(golden)
    named: set[int] = set()
    expected = None
    for number, event in enumerate(golden.alone.events):
        if event.kind is EventKind.OP_STORED:
            named |= set(event.names)
        elif event.kind is EventKind.PUT_BACK and event.original != NONE and event.original in named:
            expected = number
            break
    assert (expected is not None) is name.endswith("/immunity")
    assert verdict.accepted is (expected is None)
    if verdict.divergence is not None:
        assert expected is not None
        later = verdict.divergence.number - expected
        assert later > 0 if "graceful_stop" in verdict.faults else later == 0, "a stop explains that one, not the next"
        assert verdict.divergence.guard == "require: no op message that was pulled names its original"
        assert verdict.divergence.nearest[0].startswith("pass_half_of_settled_original at half ")


@pytest.mark.parametrize("half", [-2, 99])
@pytest.mark.parametrize("kind", [EventKind.DELIVERED, EventKind.OP_STORED])
@pytest.mark.parametrize("name", ["4.9.7/five", "5.3.3/five"])
def test_a_record_that_names_a_half_that_is_not_there_is_refused(name: str, kind: EventKind, half: int) -> None:
    golden = golden_trace(name)
    at = first(golden, lambda e: e.kind is kind)
    assert at is not None
    events = list(golden.alone.events)
    events[at] = replace(events[at], names=(half,)) if kind is EventKind.OP_STORED else replace(events[at], half=half)
    verdict = validate(replace(golden.alone, events=tuple(events)), golden.settings, golden.switches)
    assert verdict.divergence is not None
    assert verdict.divergence.number == at
    assert f"stored: {half} of " in verdict.divergence.guard


@pytest.mark.parametrize(("patience", "is_explained"), [(1, False), (validation.PATIENCE, True)])
def test_a_search_that_was_cut_short_goes_on_for_longer(
    monkeypatch: pytest.MonkeyPatch, patience: int, is_explained: bool
) -> None:
    monkeypatch.setattr(check_thread, "LEAST_TRIES", 0)
    monkeypatch.setattr(check_thread, "TRIES_PER_EVENT", 1)
    monkeypatch.setattr(validation, "PATIENCE", patience)
    monkeypatch.setattr(validation, "MOST_CRASHES", 0)
    found = verdict_of("5.3.3/five", golden_trace("5.3.3/five").alone)
    assert (found.accepted, found.is_complete) == (is_explained, is_explained)
