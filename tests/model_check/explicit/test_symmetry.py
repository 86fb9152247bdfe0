"""A search that numbers records in the order of their use stands for the search that numbers them in any order."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from model_check import cpython
from model_check.errors import EvaluationError, ModelCheckError
from model_check.explicit.search import explore
from model_check.instances import load_instance
from model_check.world import Environment, World
from spec.language import (
    NONE,
    Machine,
    MachineState,
    Record,
    action,
    always,
    array_of,
    count,
    declared_action,
    declared_always,
    each,
    flag,
    maybe_index,
    records,
    require,
    within,
)
from spec.state import State
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.explicit.symmetry import orbit_size, orbits_by_level
from tests.sampled import sampled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.explicit.search import Exploration
    from spec.constants import Instance

pytestmark = pytest.mark.untraced


@dataclass(frozen=True, kw_only=True)
class Constants:
    guests: int = 3
    seats: int = 4
    keeps_seats: bool = True
    in_order: bool = True


class Guest(Record):
    has_come: bool = flag()
    has_left: bool = flag()
    seat: int = maybe_index("seats")


class Hall(MachineState):
    guest: Sequence[Guest] = records("guests", Guest)
    taken_by: list[int] = array_of(maybe_index("guests"), "seats")
    seats_taken: int = count("seats")


@action(g=each("guests"))
def come(s: Hall, c: Constants, g: int) -> None:
    require(not s.guest[g].has_come, "the guest has not come before")
    require(s.seats_taken < c.seats, "there is a seat")
    within(not c.in_order or g == 0 or s.guest[g - 1].has_come, "guests are numbered in the order in which they come")
    s.guest[g].has_come = True
    if c.keeps_seats:
        s.guest[g].seat = s.seats_taken
        s.taken_by[s.seats_taken] = g
        s.seats_taken += 1


@action(g=each("guests"))
def move_on(s: Hall, c: Constants, g: int) -> None:
    require(s.guest[g].seat != NONE and s.seats_taken < c.seats, "the guest sits, and there is a seat")
    s.taken_by[s.guest[g].seat] = NONE
    s.taken_by[s.seats_taken] = g
    s.seats_taken += 1


@action(g=each("guests"))
def leave(s: Hall, c: Constants, g: int) -> None:
    require(s.guest[g].has_come and not s.guest[g].has_left, "the guest is here")
    s.guest[g].has_left = True


@always("G1", clause="stay")
def somebody_stays(s: Hall, c: Constants) -> bool:
    """Not all guests leave."""
    return any(not s.guest[g].has_left for g in range(c.guests))


HALL = Machine(
    name="hall",
    state=Hall,
    actions=tuple(declared_action(f) for f in (come, move_on, leave)),
    clauses=(declared_always(somebody_stays),),
    witnesses=(),
    switches=("keeps_seats", "in_order"),
    symmetric="guest",
)


def in_order_of_seats(values: tuple[int, ...], constants: Constants) -> tuple[int, ...]:
    """The same state with its guests numbered in the order of the seats that they were given."""
    state, other = Hall(constants).load(values), Hall(constants)
    come_first = sorted(
        (g for g in range(constants.guests) if state.guest[g].has_come), key=lambda g: state.guest[g].seat
    )
    for new, old in enumerate(come_first):
        other.guest[new].has_come = True
        other.guest[new].has_left = state.guest[old].has_left
        other.guest[new].seat = state.guest[old].seat
    for place in range(constants.seats):
        guest = state.taken_by[place]
        other.taken_by[place] = NONE if guest == NONE else come_first.index(guest)
    other.seats_taken = state.seats_taken
    return other.canonical()


@pytest.mark.parametrize(("guests", "seats"), [(1, 2), (2, 3), (3, 4), (4, 4)])
def test_each_canonical_state_stands_for_its_orbit(guests: int, seats: int) -> None:
    ordered = Constants(guests=guests, seats=seats)
    reduced, whole = cpython.explore(HALL, ordered), cpython.explore(HALL, replace(ordered, in_order=False))
    orbits = Counter(in_order_of_seats(values, ordered) for values in whole.parents)
    assert orbits == {values: orbit_size(HALL, ordered, values) for values in reduced.parents}
    assert reduced.depth == whole.depth
    paths = [[found.path_to(state) for state in found.violations.values()] for found in (reduced, whole)]
    assert paths[0] == paths[1] != []


@pytest.mark.parametrize("threads", [1, 2])
def test_orbits_are_summed_level_by_level(threads: int) -> None:
    reduced = explore(HALL, Constants(), threads=threads)
    whole = explore(HALL, Constants(in_order=False), threads=threads)
    assert orbits_by_level(reduced) == whole.sizes
    assert sum(orbits_by_level(reduced)) == whole.distinct > 3 * reduced.distinct
    assert reduced.seen_at == whole.seen_at
    assert reduced.path_to(0) == whole.path_to(0)
    assert cpython.explore(HALL, Constants(in_order=False)).distinct == whole.distinct


def test_a_state_that_does_not_show_the_order_of_use_is_counted_too_often() -> None:
    reduced = explore(HALL, Constants(keeps_seats=False))
    whole = explore(HALL, Constants(keeps_seats=False, in_order=False))
    assert sum(orbits_by_level(reduced)) > whole.distinct


def test_a_search_that_is_not_reduced_or_has_nothing_to_reduce_is_refused() -> None:
    whole = explore(HALL, Constants(in_order=False))
    with pytest.raises(EvaluationError, match=r"^guest: a record is used and one before it is not, so that they are"):
        orbits_by_level(whole)
    state = Hall(Constants(in_order=False))
    state.guest[1].has_come = True
    with pytest.raises(EvaluationError, match=r"^guest: a record is used and one before it is not, so that they are"):
        orbit_size(HALL, Constants(), state.canonical())
    for name in (None, "taken_by", "nobody"):
        with pytest.raises(ModelCheckError, match=f"^hall declares no array of symmetric records, but {name!r}$"):
            orbit_size(replace(HALL, symmetric=name), Constants(), state.canonical())


TWO = replace(load_instance("small"), name="two", half_slots=2, op_slots=1, check_max=1)
HASTY = replace(TWO, name="hasty", timeout=0, check_interval=0, round_limit=0)


def searched(profile: str, environment: str, instance: Instance | str) -> tuple[Exploration, Exploration]:
    """All states, with transactions numbered in the order of their sends and in any order; verdicts are the same."""
    of = {
        name: World.of(profile + name, Environment.named(environment), instance).constants
        for name in ("", "-orders_sends")
    }
    reduced, whole = (explore(TRANSACTIONAL_MESSAGES, constants) for constants in of.values())
    assert reduced.complete
    assert whole.complete
    assert reduced.seen_at == whole.seen_at
    assert reduced.depth == whole.depth
    bits = range(len(TRANSACTIONAL_MESSAGES.clauses))
    assert reduced.paths_to(bits) == whole.paths_to(bits)
    return reduced, whole


@pytest.mark.parametrize(
    ("profile", "environment"),
    sampled(
        [
            ("4.5.1", "quiet"),
            ("4.9.7", "crash"),
            ("5.3.3", "crash,slow_round,late_end"),
            ("5.3.3", "twin_send"),
            ("5.3.3", "acting_slave"),
            ("5.4.0", "power_loss"),
            ("5.4.0", "clock_skew,clock_step"),
            ("5.3.3", "offline_producer,wrong_end"),
            ("fixed", "put_failure,resume_discarded"),
        ],
        2,
    ),
)
def test_the_protocol_gives_the_same_verdicts_with_its_transactions_in_any_order(
    profile: str, environment: str
) -> None:
    reduced, whole = searched(profile, environment, TWO)
    assert orbits_by_level(reduced) == whole.sizes
    assert 1.9 * reduced.distinct < whole.distinct


@pytest.mark.parametrize("environment", ["quiet", "power_loss", "twin_send,crash"])
@pytest.mark.parametrize("size", ["tiny"])
def test_one_transaction_has_one_number(environment: str, size: str) -> None:
    reduced, whole = searched("5.3.3", environment, size)
    assert orbits_by_level(reduced) == reduced.sizes == whole.sizes


def in_the_other_order(values: tuple[int, ...], constants: object) -> tuple[int, ...]:
    """The same state of two transactions with their numbers exchanged."""
    state = State(constants).load(values)
    moved = list(values)
    slots = {slot.label: place for place, slot in enumerate(state.memory.slots)}
    for label, place in slots.items():
        if label.startswith("transaction[0]."):
            other = slots[label.replace("[0]", "[1]")]
            moved[place], moved[other] = values[other], values[place]
        elif label.startswith("half[") and label.endswith("].transaction"):
            is_there = int(label[len("half[") : label.index("]")]) < state.half_length
            moved[place] = 1 - values[place] if is_there else 0
    return tuple(moved)


@pytest.mark.parametrize(
    ("profile", "environment"),
    sampled([("4.9.7", "twin_send"), ("4.5.1", "quiet"), ("5.4.0", "clock_skew")], 3),
)
def test_the_plain_search_finds_each_state_and_the_one_with_its_transactions_exchanged(
    profile: str, environment: str
) -> None:
    ordered = World.of(profile, Environment.named(environment), HASTY).constants
    any_order = World.of(f"{profile}-orders_sends", Environment.named(environment), HASTY).constants
    reduced, whole = (cpython.explore(TRANSACTIONAL_MESSAGES, constants) for constants in (ordered, any_order))
    exchanged = {in_the_other_order(values, ordered) for values in reduced.parents}
    assert set(reduced.parents) | exchanged == set(whole.parents)
    assert sum(orbit_size(TRANSACTIONAL_MESSAGES, ordered, values) for values in reduced.parents) == whole.distinct
    assert explore(TRANSACTIONAL_MESSAGES, any_order).distinct == whole.distinct


@pytest.mark.parametrize(
    ("environment", "mishaps"), [("power_loss", 2), ("power_loss,twin_send", 1)], ids=["twice", "twins"]
)
def test_a_state_is_counted_too_often_when_no_half_shows_any_more_which_transaction_was_sent_first(
    environment: str, mishaps: int
) -> None:
    """A second power loss may take what shows it, and so may the first where a transaction moved on to its twin."""
    reduced, whole = searched("4.5.1", environment, replace(TWO, mishaps=mishaps))
    assert reduced.distinct < whole.distinct < sum(orbits_by_level(reduced))
