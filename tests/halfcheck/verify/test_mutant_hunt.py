"""Does the main job tell who killed each mutant, and does it stop at a survivor?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuzz.mutants import kill_table
from fuzz.mutants.mutant import Edit
from halfcheck.errors import ExitCode, exit_code_of
from halfcheck.verify.parts import hunted
from model_check.errors import EvaluationError

ROUND = next(mutant for mutant in kill_table.MUTANTS if mutant.name == "round a moment late")
PROPERTY = next(mutant for mutant in kill_table.MUTANTS if mutant.name == "S1 allows two")
HARMLESS = replace(
    ROUND,
    name="harmless",
    edit=Edit(
        "reference.broker.transaction.transactional_message_check_service",
        "waited >= self._broker",
        "waited + 0 >= self._broker",
    ),
)


def test_who_killed_it_and_where_is_told() -> None:
    told = [hunted((mutant.name, 7)) for mutant in (ROUND, PROPERTY)]
    assert [(row.mutant.name, row.mutant.part.value, row.variable) for row in told] == [
        ("round a moment late", "broker", "whether a round begins"),
        ("S1 allows two", "property", "S1.immune_half"),
    ]
    assert [row.mutant for row in told] == [ROUND, PROPERTY]
    assert told[1].step == "no violation is found"


def test_a_survivor_ends_with_75_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kill_table, "MOST_EXAMPLES", 40)
    monkeypatch.setattr(kill_table, "MUTANTS", (HARMLESS, ROUND))
    with pytest.raises(EvaluationError) as survival:
        hunted(("harmless", 7))
    assert exit_code_of(survival.value) == ExitCode.EVALUATION_ERROR
    assert (
        str(survival.value) == "1 of 1 mutants survive: harmless (40 examples); see halfcheck fuzz --mutants --seed 7"
    )
