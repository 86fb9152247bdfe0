"""Simulated traffic held against Markov chains that share no code with it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.what_if.exact import worlds
from benchmarks.what_if.exact.one_transaction import OneTransaction, expected_of
from benchmarks.what_if.exact.worlds import WORLDS, ExactWorld, held_measures


def missed(world: ExactWorld, runs: int) -> set[str]:
    """The measures of whose interval the exact number is out, by more than half its width."""
    found = {}
    for each in held_measures(world, runs, 11):
        half = (each.simulated.high - each.simulated.low) / 4
        found[each.measure] = each.simulated.low - half <= each.exact <= each.simulated.high + half
    assert len(found) > 4
    return {measure for measure, is_held in found.items() if not is_held}


@pytest.mark.parametrize("number", [1, 5, 9])
def test_a_simulation_agrees_with_its_chain(number: int) -> None:
    assert missed(WORLDS[number], 150) == set()


@pytest.mark.sweep
@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_each_world_agrees_with_its_chain(world: ExactWorld) -> None:
    assert missed(world, 2_000) == set()


def test_a_chain_of_other_rules_is_told_from_the_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worlds, "expected_of", lambda one: expected_of(replace(one, is_repaired=True)))
    assert missed(WORLDS[2], 150) >= {"doubled", "delivered_after_discard"}


def test_what_follows_by_hand() -> None:
    hangs = expected_of(OneTransaction(0.0, 0.0, 0.08, 10, 4, hangs=1.0))
    assert {measure: value for measure, value in hangs.items() if value} == pytest.approx({"checks": 4, "discarded": 1})
    at_once = expected_of(OneTransaction(0.1, 0.2, 1.0, 10, 3))
    # its END_TRANSACTION is lost, and one of at most three checks is answered; or its answer is lost, and it never ran
    answered = 0.8 * 0.9
    never = (1 - answered) ** 3
    assert at_once["sends_failed"] == pytest.approx(0.1 + 0.9 * 0.2)
    assert at_once["discarded"] == pytest.approx(0.9 * (0.2 + 0.8 * 0.1) * (1 - answered) ** 2)
    assert at_once["delivered"] == pytest.approx(0.9 * 0.8 * (0.9 + 0.1 * (1 - never)))
    assert at_once["delivered_after_discard"] == pytest.approx(0.9 * 0.8 * 0.1 * (1 - answered) ** 2 * answered)
