"""A walk is followed by its own profile with the faults that it had, and refused where one event of it is changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model_check.trace_validation.follow import SEEN, NamedEvent, follow
from model_check.walks.walk import Walker
from model_check.world import World
from spec.profiles import PROFILES, distinct
from tests.sampled import sampled

STEPS = 80
WORLDS: tuple[tuple[str, ...], ...] = ((), ("crash", "slow_round"), ("wrong_end", "late_end", "put_failure"))

OF_A_ROUND = ("pass_", "put_back_", "discard_", "pull_more_ops", "end_round_")


def walks(profile: str, faults: tuple[str, ...], count: int) -> list[list[NamedEvent]]:
    walker = Walker(World.of(profile, faults, "tiny"))
    columns = walker.walk(11, 0, count, STEPS)
    found: list[list[NamedEvent]] = [[] for _ in range(count)]
    for row, trace in enumerate(columns["trace"]):
        seen = tuple(int(columns[name][row]) for name in SEEN)
        found[trace].append(NamedEvent(walker.actions[columns["action"][row]], int(columns["time"][row]), seen))
    return found


@pytest.mark.untraced
@pytest.mark.parametrize("profile", sampled(distinct(PROFILES), 2))
@pytest.mark.parametrize("faults", WORLDS, ids=lambda faults: ",".join(faults) or "quiet")
def test_a_walk_is_followed_with_no_fault_but_its_own(profile: str, faults: tuple[str, ...]) -> None:
    for walk in walks(profile, faults, 10):
        followed = follow(walk, World.of(profile, (), "tiny").constants)
        assert (followed.explained, followed.guard) == (len(walk), None)
        assert set(followed.faults) <= set(faults)


def quiet(action: str, time: int) -> NamedEvent:
    """An event that speaks of no half."""
    return NamedEvent(action, time, (-1, -1, -1, -1, -1, 0))


def test_the_immunity_that_a_send_does_not_say_stays_open_until_an_event_shows_it() -> None:
    constants = World.of("5.3.3", (), "tiny").constants
    sent = NamedEvent("send_half", 0, (0, 0, -1, -1, -1, 0))
    begins = [sent, quiet("tick", 1), quiet("begin_round", 1)]
    put_back = NamedEvent("put_back_immune_half", 1, (0, 0, 1, -1, 1, 0))
    young = quiet("end_round_at_young_half", 1)
    assert follow([*begins, young], constants).guard is None
    immune = [*begins, put_back, quiet("end_round_at_fresh_half", 1), quiet("tick", 2), quiet("begin_round", 2)]
    assert follow(immune, constants).guard is None
    followed = follow([*immune, replace(young, time=2)], constants)
    assert (followed.explained, followed.guard) == (len(immune), "require: it has no immunity of its own")


def test_a_changed_event_is_refused_by_name_value_and_guard() -> None:
    constants = World.of("5.3.3", (), "tiny").constants
    walk, at = next(
        (walk, at)
        for walk in walks("5.3.3", (), 20)
        for at, event in enumerate(walk)
        if event.action == "store_real_message"
    )
    event = walk[at]
    other_half = replace(event, seen=(event.seen[0], 1 - event.seen[1], *event.seen[2:]))
    refusals = {
        "another action": (replace(event, action="write_op"), "require: "),
        "another half": (other_half, "require: "),
        "another outcome": (replace(event, seen=(*event.seen[:5], 2)), "record: store_real_message h="),
        "another time": (replace(event, time=event.time + 1), "record: store_real_message h="),
        "no action": (replace(event, action="deliver"), "record: the specification has an action deliver"),
    }
    for name, (changed, guard) in refusals.items():
        followed = follow([*walk[:at], changed, *walk[at + 1 :]], constants)
        assert followed.explained == at, name
        assert followed.guard is not None, name
        assert followed.guard.startswith(guard), f"{name}: {followed.guard}"
        assert followed.nearest, name


def test_a_missing_event_is_noticed_at_the_first_that_needs_it() -> None:
    constants = World.of("5.3.3", (), "tiny").constants
    for walk in walks("5.3.3", (), 5):
        began = next(i for i, event in enumerate(walk) if event.action == "begin_round")
        needing = next(i for i, event in enumerate(walk) if i > began and event.action.startswith(OF_A_ROUND))
        followed = follow([*walk[:began], *walk[began + 1 :]], constants)
        assert (followed.explained, followed.guard) == (needing - 1, "require: a round runs")
