"""A thread reads the clock before its record is stored, and other threads' records may be stored in between."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from model_check.configuration import Configuration
from model_check.trace_validation.observed import EventKind, ObservedEvent, Trace
from model_check.trace_validation.validate import validate
from spec.profiles import PROFILES
from tests.model_check.trace_validation.retake import replay

if TYPE_CHECKING:
    from model_check.trace_validation.path_search import PathVerdict

SETTINGS = Configuration.of_release("5.3.3", op_batch_interval_ms=200)


def half(number: int, time: int, *, immunity: int = -1) -> ObservedEvent:
    return ObservedEvent(
        kind=EventKind.HALF_STORED, time=time, transaction=number, half=number, born=time, immunity=immunity
    )


def delivered(number: int, time: int) -> ObservedEvent:
    return ObservedEvent(kind=EventKind.DELIVERED, time=time, transaction=number, half=number, born=time)


def op(number: int, *, names: tuple[int, ...], born: int, time: int, is_batched: bool = True) -> ObservedEvent:
    return ObservedEvent(
        kind=EventKind.OP_STORED, time=time, op=number, names=names, born=born, is_batched=is_batched, body_size=2
    )


def verdict_of(profile: str, *events: ObservedEvent) -> PathVerdict:
    trace = Trace(events)
    verdict = validate(trace, SETTINGS, PROFILES[profile])
    assert verdict.accepted is (replay(trace, verdict.path, verdict.constants) is None)
    return verdict


def two_op_messages(second_born: int) -> tuple[ObservedEvent, ...]:
    """The first one is born at 1,300 and waits for the commit log, where another half is stored meanwhile."""
    return (
        half(0, 1_000),
        half(1, 1_001),
        delivered(0, 1_100),
        half(2, 1_303),
        op(0, names=(0,), born=1_300, time=1_303),
        delivered(1, 1_310),
        op(1, names=(1,), born=second_born, time=second_born),
    )


@pytest.mark.parametrize("profile", ["5.3.3", "5.4.0"])
def test_op_messages_that_are_born_an_interval_apart_may_be_stored_sooner_behind_each_other(profile: str) -> None:
    verdict = verdict_of(profile, *two_op_messages(1_500))
    assert (verdict.accepted, verdict.faults) == (True, {})


@pytest.mark.parametrize("second_born", [1_499, 1_400])
def test_op_messages_that_are_born_less_than_an_interval_apart_are_refused(second_born: int) -> None:
    verdict = verdict_of("5.4.0", *two_op_messages(second_born))
    assert verdict.divergence is not None
    assert verdict.divergence.number == 6
    assert verdict.divergence.guard.startswith("require: the batch interval is over since the last write")


@pytest.mark.parametrize(("stored", "faults"), [(7_002, {}), (7_030, {"wrong_end": 1})])
def test_a_commit_that_was_in_time_when_it_was_read_may_be_stored_behind_another_record(
    stored: int, faults: dict[str, int]
) -> None:
    """An immunity of 6 s is over at 7,000."""
    verdict = verdict_of(
        "5.3.3",
        half(0, 1_000, immunity=6_000),
        half(1, stored - 1),
        delivered(0, stored),
        op(0, names=(0,), born=stored + 200, time=stored + 200),
    )
    assert (verdict.accepted, verdict.faults) == (True, faults)
