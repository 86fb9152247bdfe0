"""Traces of the reference broker: from their numbers alone, telling what the specification tells of the same steps."""

from __future__ import annotations

from functools import cache

import pytest

from fuzz.lockstep.broker_trace import UNRECORDED, BrokerTraces
from fuzz.lockstep.pairing import Pair, Pairing
from model_check.errors import EvaluationError, ModelCheckError
from model_check.walks.choices import CHOICES
from model_check.world import Environment
from spec.events import EVENTS, FIELDS
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

WORLDS = (("5.3.3", "crash,lose_end"), ("4.5.1", "late_end,wrong_end"), ("4.9.7", "put_failure,clock_step"))

SAID = {
    "half_stored",
    "local_outcome",
    "message_delivered",
    "put_back_for_check",
    "put_back_for_immunity",
    "half_passed",
    "half_discarded",
    "crashed",
    "time_passed",
}
"""Events with one row a step, whoever tells them."""


@cache
def broker(profile: str, environment: str, choice: str = "weighted") -> BrokerTraces:
    return BrokerTraces(Pairing.of(profile, Environment.named(environment), "small"), choice)


@pytest.mark.parametrize("choice", CHOICES)
def test_a_trace_depends_on_its_number_and_seed_only(choice: str) -> None:
    traces = broker("5.3.3", "crash,lose_end", choice)
    third = traces.make(7, 3, 20)
    traces.make(7, 4, 20)
    assert traces.make(7, 3, 20) == third
    assert traces.make(8, 3, 20) != third
    assert traces.make(7, 3, 12).steps == third.steps[:12]


@pytest.mark.parametrize(("profile", "environment"), WORLDS)
def test_the_steps_of_a_trace_make_it_again_in_the_lockstep(profile: str, environment: str) -> None:
    made = broker(profile, environment).make(7, 1, 30)
    pair = Pair(Pairing.of(profile, Environment.named(environment), "small"))
    for step in made.steps:
        assert pair.take(step) is None
    recorded = [row | {"action": "", "trace": 1, "step": 0} for row in pair.side.broker.recorder.rows]
    bare = [row | {"action": "", "step": 0} for row in made.rows]
    assert len(recorded) > 5
    assert [row for row in bare if row in recorded] == recorded


@pytest.mark.parametrize(("profile", "environment"), WORLDS)
def test_what_the_broker_says_of_the_steps_is_what_the_specification_says_of_them(
    profile: str, environment: str
) -> None:
    pairing = Pairing.of(profile, Environment.named(environment), "small")
    compared: set[str] = set()
    for number in range(20):
        made = broker(profile, environment).make(5, number, 40)
        said = [
            (row["event"], row["transaction"], row["half"], row["copy"]) for row in made.rows if row["event"] in SAID
        ]
        state, expected = pairing.machine.initial(pairing.constants), []
        for step in made.steps:
            step.action.function(state, pairing.constants, *step.arguments)
            if step.action.event in SAID:
                functions = step.action.shows.items()
                shown = {name: seen(state, pairing.constants, *step.arguments[:1]) for name, seen in functions}
                expected.append((step.action.event, *(shown.get(name, -1) for name in ("transaction", "half", "copy"))))
        assert said == expected
        compared |= {str(row[0]) for row in said}
    assert {"half_stored", "local_outcome", "message_delivered", "put_back_for_check", "time_passed"} <= compared


def test_rows_have_the_fields_and_words_of_the_vocabulary() -> None:
    rows = broker("5.3.3", "crash,lose_end").make(7, 12, 30).rows
    names = {action.name for action in TRANSACTIONAL_MESSAGES.actions}
    assert [row["step"] for row in rows] == list(range(len(rows)))
    for row in rows:
        assert set(row) == {field.name for field in FIELDS}
        assert row["trace"] == 12
        assert row["event"] in EVENTS
        assert row["action"] in names
    assert set(EVENTS) >= UNRECORDED


def test_a_broker_that_differs_from_the_specification_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.actions.broker.TICK_MS", 999)
    with pytest.raises(EvaluationError, match=r"^trace 2: specification and reference broker disagree: step \d+, "):
        BrokerTraces(Pairing.of("5.3.3", (), "small"), "weighted").make(7, 2, 60)


@pytest.mark.parametrize(
    ("profile", "faults", "choice"), [("5.3.2", (), "uniform"), ("5.3.3", ("rain",), "uniform"), ("5.3.3", (), "best")]
)
def test_unknown_names_are_refused(profile: str, faults: tuple[str, ...], choice: str) -> None:
    with pytest.raises(ModelCheckError, match=r"5\.3\.2|rain|best"):
        BrokerTraces(Pairing.of(profile, faults, "small"), choice)
