"""Is every mutant noticed, and for the right reason?"""

from __future__ import annotations

from collections import Counter

import pytest

from fuzz.lockstep.fuzzed_instances import fuzzed_world
from fuzz.mutants.kill_table import MUTANTS, hunt
from fuzz.mutants.mutant import Edit, Mutant, MutatedPart
from spec.constants import FAULTS

SOME = MUTANTS[2::6]
"""`make verify` and `make fuzz` hunt them all, as the sweep does."""


@pytest.mark.untraced
@pytest.mark.parametrize(
    "mutant",
    [pytest.param(m, id=m.name, marks=() if m in SOME else pytest.mark.sweep) for m in MUTANTS],
)
def test_the_mutant_is_killed_by_what_it_touches(mutant: Mutant) -> None:
    kill = hunt(mutant, random_seed=7)
    assert kill.variable, f"{mutant.name} survives {kill.examples} examples"
    assert kill.variable in mutant.seen_in, f"{kill.variable} is not in {sorted(mutant.seen_in)}"


def test_an_error_in_the_specification_is_noticed_beside_the_sound_broker() -> None:
    mutant = next(mutant for mutant in MUTANTS if mutant.name == "spec: equal age young")
    kill = hunt(mutant, random_seed=7)
    assert kill.variable == "the round's branch"
    assert kill.failure is not None
    assert str(kill.failure.mismatch).endswith(" in the specification, ops_pulled in the broker")


def test_there_are_enough_mutants_of_each_part() -> None:
    assert Counter(mutant.part for mutant in MUTANTS) == {
        MutatedPart.BROKER: 49,
        MutatedPart.SPEC: 18,
        MutatedPart.PROPERTY: 9,
    }
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert {mutant.part for mutant in SOME} == set(MutatedPart)


def test_a_mutant_that_changes_nothing_survives(monkeypatch: pytest.MonkeyPatch) -> None:
    words = Edit(
        "reference.broker.transaction.transactional_message_check_service",
        "waited >= self._broker",
        "self._broker.settings is not None and waited >= self._broker",
    )
    harmless = Mutant(
        "harmless",
        MutatedPart.BROKER,
        "says the same in more words",
        (),
        words,
        frozenset({"round.running"}),
        fuzzed_world("5.3.3", FAULTS),
    )
    monkeypatch.setattr("fuzz.mutants.kill_table.MOST_EXAMPLES", 30)
    kill = hunt(harmless, random_seed=7)
    assert (kill.variable, kill.step, kill.examples, kill.failure) == ("", "", 30, None)


def test_a_kill_for_another_reason_is_told_apart() -> None:
    mutant = next(mutant for mutant in MUTANTS if mutant.name == "round a moment late")
    other = Mutant(
        "other",
        MutatedPart.BROKER,
        mutant.what,
        (),
        mutant.edit,
        frozenset({"half.born_at"}),
        fuzzed_world("5.3.3", FAULTS),
    )
    kill = hunt(other, random_seed=7)
    assert kill.variable == "whether a round begins"
    assert kill.variable not in other.seen_in
