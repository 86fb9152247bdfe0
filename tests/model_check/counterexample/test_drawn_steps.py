"""Each action is drawn in its own way, and no label has a gap."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from model_check.counterexample.drawn_steps import _DRAWN, drawn, drawn_path
from model_check.counterexample.sequence_diagram import PARTICIPANTS, StepKind
from model_check.counterexample.steps import Event, read_path, replay
from model_check.instances import constants_for
from spec.language import Step, take
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.counterexample import b02

if TYPE_CHECKING:
    from collections.abc import Sequence


def test_the_table_has_an_entry_of_its_own_for_each_action() -> None:
    assert set(_DRAWN) == {action.name for action in TRANSACTIONAL_MESSAGES.actions}
    assert len({id(draw) for draw in _DRAWN.values()}) == len(_DRAWN)


WORLDS = [
    ("4.5.1", ("lose_end", "lose_check", "duplicate_end", "wrong_end", "crash")),
    ("5.3.3", ("slow_local", "late_end", "slow_round", "slow_dispatch")),
    ("5.3.3", ()),
]


def walked(profile: str, faults: tuple[str, ...], taken: Counter[str]) -> list[Event]:
    """The events of some walks that prefer the actions that were taken least."""
    constants = constants_for(profile, faults, "tiny")
    chance = random.Random(11)
    events: list[Event] = []
    for _ in range(60):
        state = TRANSACTIONAL_MESSAGES.initial(constants)
        path: list[Step] = []
        for _ in range(40):
            steps = sorted(
                TRANSACTIONAL_MESSAGES.steps(constants),
                key=lambda step: chance.random() * (1 + taken[step.action.name]),
            )
            following = next((step for step in steps if take(state, constants, step) is None), None)
            if following is None:
                break
            path.append(following)
            taken[following.action.name] += 1
        events += replay(TRANSACTIONAL_MESSAGES, constants, path).events
    return events


RARE = [
    (
        ("4.5.1", ("slow_local",), "tiny"),
        "send_half t=0 immunity=-1; tick; tick; tick; begin_round; put_back_and_check; answer_check_too_early h=1",
    ),
    (
        ("5.3.3", ("late_end",), "tiny"),
        "send_half t=0 immunity=3; commit_locally t=0; tick; tick; tick; tick; refuse_late_end h=0",
    ),
    (
        ("4.9.7", ("crash",), "medium"),
        "send_half t=0 immunity=3; send_half t=1 immunity=-1; tick; begin_round; put_back_immune_half; "
        "end_round_at_young_half; crash; tick; begin_round; put_back_immune_half; commit_locally t=0; "
        "commit_locally t=1; store_real_message h=0; store_real_message h=1; write_op h=0; write_op h=1; "
        "pull_more_ops; pass_settled_half; pass_half_of_settled_original",
    ),
]
"""Schedules of the actions that chance hardly finds; the last meets an original again that has an old copy."""


def schedule(world: tuple[str, tuple[str, ...], str], steps: str) -> Sequence[Event]:
    constants = constants_for(*world)
    return replay(TRANSACTIONAL_MESSAGES, constants, read_path(TRANSACTIONAL_MESSAGES, constants, steps)).events


def test_each_label_is_filled_in_and_each_arrow_joins_participants_that_there_are() -> None:
    taken: Counter[str] = Counter()
    events = [event for world in WORLDS for event in walked(*world, taken)]
    events += [event for world, steps in RARE for event in schedule(world, steps)]
    assert {event.step.action.name for event in events} == set(_DRAWN)
    for event in events:
        for message in drawn(event):
            assert message.number == event.number
            assert not set("?{") & set(message.label.replace("names {", "")), message
            assert {message.source, message.target} <= set(PARTICIPANTS)


def test_only_the_last_message_of_a_path_is_the_violation() -> None:
    messages = drawn_path(b02.replayed().events)
    assert [(m.source, m.target, m.label) for m in messages] == [
        ("Producer", "Half queue", "half 0"),
        ("Producer", "Broker", "END rollback for half 0"),
        ("Broker", "Broker", "op for half 0 waits in memory"),
        ("Broker", "Broker", "the broker's process dies and starts again"),
    ]
    assert [m.is_violation for m in messages] == [False, False, False, True]
    assert [m.kind for m in messages] == [StepKind.MESSAGE] * 3 + [StepKind.BREAK]


@pytest.mark.parametrize(("immunity", "label"), [(-1, "half 0"), (3, "half 0, immunity 3")])
def test_a_half_with_an_immunity_says_so(immunity: int, label: str) -> None:
    constants = constants_for("5.3.3", (), "tiny")
    path = read_path(TRANSACTIONAL_MESSAGES, constants, f"send_half t=0 immunity={immunity}")
    (event,) = replay(TRANSACTIONAL_MESSAGES, constants, path).events
    assert [message.label for message in drawn(event)] == [label]
