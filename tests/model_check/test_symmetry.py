"""A search that numbers records in the order of their use stands for the search that numbers them in any order."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from model_check.cpython import search as cpython
from model_check.errors import EvaluationError, ModelCheckError
from model_check.explicit.search import explore
from model_check.instances import constants_for
from model_check.symmetry import orbit_size, orbits_by_level
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
from tests.model_check.any_order import ANY_ORDER, IN_ORDER
from tests.model_check.checked import faults_of

if TYPE_CHECKING:
    from collections.abc import Sequence


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


@pytest.mark.parametrize(
    ("profile", "environment", "instance"),
    [("4.5.1", "quiet", "plain"), ("4.9.7", "crash", "plain"), ("5.3.3", "crash,slow_round,late_end", "plain")],
)
def test_the_protocol_gives_the_same_verdicts_with_its_transactions_in_any_order(
    profile: str, environment: str, instance: str
) -> None:
    constants = constants_for(profile, faults_of(environment), instance)
    reduced, whole = explore(IN_ORDER, constants), explore(ANY_ORDER, constants)
    assert orbits_by_level(reduced) == whole.sizes
    assert reduced.seen_at == whole.seen_at
    for bit in range(len(IN_ORDER.clauses)):
        paths = [found.path_to(bit) for found in (reduced, whole)]
        texts = [None if path is None else [str(step) for step in path] for path in paths]
        assert texts[0] == texts[1]
