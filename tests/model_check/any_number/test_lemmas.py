"""The conditions of actions of others are lemmas: one that says more is refused by the comparison with many."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from model_check.any_number.simulation import Simulator
from model_check.explicit.search import explore
from model_check.world import World
from spec.chapters.others import reads_for_another
from spec.constants import Constants
from spec.language import action, declared_action, require, upto
from spec.op_pull import read_op_messages
from spec.rounds import end_round, is_fresh
from spec.state import Pull, State, Stuck
from spec.transactional_messages import AMONG_OTHERS, TRANSACTIONAL_MESSAGES
from tests.model_check.any_number.two_transactions import TWO

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spec.language import Machine


@action(event="round_ended", place=1040)
def end_round_at_another(s: State, c: Constants) -> None:
    """Lemma 2 without its time limit: others may have been passed before the half on which the round stands."""
    require(s.round.running, "a round runs")
    require(s.round.met != s.round.cursor + 1, "the cursor may stand on one of another transaction")
    end_round(s, c, Stuck.NO)


@action(event="ops_pulled", place=1020, to=upto("op_slots"))
def pull_ops_among_others(s: State, c: Constants, to: int) -> None:
    """Lemma 1 for the half ahead, too: what stands before a fresh half may be old."""
    reads_for_another(s, c)
    require(
        not any(h == s.round.cursor and h < s.half_length and is_fresh(s, c, h) for h in range(c.half_slots)),
        "the half at the cursor was there before the round",
    )
    require(s.round.next_op <= to and to <= s.op_length, "these are there")
    s.round.last_pull = Pull.FOUND
    read_op_messages(s, c, s.round.next_op, to - s.round.next_op)


def among(mutant: Callable[..., None]) -> Machine:
    """The machine with one action replaced."""
    own = declared_action(mutant)
    return replace(AMONG_OTHERS, actions=tuple(own if a.name == own.name else a for a in AMONG_OTHERS.actions))


@pytest.mark.parametrize(
    ("mutant", "profile", "faults"),
    [
        (end_round_at_another, "fixed", ("slow_round", "acting_slave")),
        (pull_ops_among_others, "4.9.7", ()),
    ],
)
def test_a_lemma_that_says_more_is_refused(mutant: Callable[..., None], profile: str, faults: Sequence[str]) -> None:
    constants = World.of(profile, faults, TWO).constants
    found = explore(TRANSACTIONAL_MESSAGES, constants, most_states=200_000)
    words = found.compiled.packing.words
    states = found.store.arrays.states[: int(found.store.counts[0]) * words].reshape(-1, words)
    for machine, is_sound in ((AMONG_OTHERS, True), (among(mutant), False)):
        simulator = Simulator(found.compiled, constants, machine=machine)
        simulator.compare(states)
        assert (simulator.result.broken == {}) == is_sound, simulator.result.broken
