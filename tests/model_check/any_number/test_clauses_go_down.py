"""A clause that a state of many transactions breaks is broken by what some transaction sees of it.

On this, and on each step being followed, rests that what one among others does not break nobody breaks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pytest

from model_check.any_number.claims import SPEAKS_OF_TWO
from model_check.any_number.compared_instances import IMMUNE
from model_check.any_number.projection import LEFT_OUT, Projection
from model_check.clauses import name_of
from model_check.explicit.search import explore
from model_check.front_end.lower import Lowering
from model_check.front_end.terms import Read, parts
from model_check.world import World
from spec.language import holds
from spec.transactional_messages import AMONG_OTHERS, TRANSACTIONAL_MESSAGES
from tests.sampled import sampled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spec.constants import Constants
    from spec.language import MachineState, Property

STATES: Final = 3_000
"""So many of the states that a search of two transactions finds are judged."""

WORLDS: Final = [
    ("4.9.7", ("slow_local", "wrong_end"), 7),
    ("4.5.1", ("crash", "late_end"), 12),
    ("fixed", ("acting_slave", "null_half"), 1),
    ("5.5.1", ("undecodable_half", "twin_send"), 4),
    ("5.3.3", ("acting_slave", "slow_local"), 15),
    ("5.4.0", ("put_failure", "offset_regression"), 10),
    ("4.9.7", ("clock_step", "undecodable_op"), 3),
]
"""A profile, faults, and how many clauses are broken somewhere at the least, so that there is something to see."""


def carried_by_the_step(constants: Constants) -> set[Property]:
    """Clauses of ghosts of a round as a whole, which the projection leaves out: there t is chosen at the step."""
    lowering = Lowering(AMONG_OTHERS, constants)
    return {
        clause
        for clause in AMONG_OTHERS.clauses
        for arguments in clause.arguments(constants)
        for part in parts(lowering.claim(clause, arguments), once=True)
        if isinstance(part, Read) and ".".join(part.path) in LEFT_OUT
    }


def broken(state: MachineState, constants: Constants, clauses: Sequence[Property]) -> list[Property]:
    return [clause for clause in clauses if not holds(state, constants, clause)]


@pytest.mark.parametrize(("profile", "faults", "least"), sampled(WORLDS, 4))
def test_what_a_state_breaks_some_transaction_sees_broken(profile: str, faults: tuple[str, ...], least: int) -> None:
    constants = World.of(profile, faults, IMMUNE).constants
    found = explore(TRANSACTIONAL_MESSAGES, constants, most_states=400_000)
    projection = Projection.of(found.compiled, constants)
    words, count = found.compiled.packing.words, int(found.store.counts[0])
    states = found.store.arrays.states[: count * words].reshape(count, words)
    chosen = np.ascontiguousarray(states[np.random.default_rng(1).choice(count, STATES, replace=False)])
    many, one = TRANSACTIONAL_MESSAGES.initial(constants), AMONG_OTHERS.initial(projection.one)
    carried = carried_by_the_step(projection.one)
    asked = [c for c in TRANSACTIONAL_MESSAGES.clauses if c not in carried and name_of(c) not in SPEAKS_OF_TWO]
    unpack, unpack_one = found.compiled.packing.unpack, projection.compiled.packing.unpack
    seen: set[Property] = set()
    for state, views in zip(chosen, projection(chosen), strict=True):
        of_many = broken(many.load(unpack(state)), constants, asked)
        of_some = {clause for view in views for clause in broken(one.load(unpack_one(view)), projection.one, of_many)}
        assert [name_of(clause) for clause in of_many if clause not in of_some] == []
        seen.update(of_many)
    assert len(seen) >= least, sorted(map(name_of, seen))


def test_few_clauses_are_carried_by_the_step() -> None:
    carried = {name_of(clause) for clause in carried_by_the_step(World.of("5.5.1", (), "crowd").constants)}
    assert {name for name in carried if not name.startswith("L3.")} == {
        "L4.left_behind",
        "L4.undecodable_op",
        "R1.pulls_nothing",
        "R1.spins_on_a_write",
    }
    assert {name for name in map(name_of, AMONG_OTHERS.clauses) if name.startswith("L3.")} <= carried
