"""What is violated in one reading is violated in TLC, by a trace of the same length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from model_check.check import check
from model_check.clauses import chosen_clauses
from model_check.question import Question
from model_check.tla.module import TlaModule, export
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.tla.comparison import run_export

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("profile", "faults", "clause", "depth"),
    [
        ("5.3.3", ["crash"], "S10.op_entry_dies_with_the_process", 4),
        pytest.param("5.3.3", ["crash"], "S1.immune_half", 14, marks=pytest.mark.sweep),
        pytest.param("4.5.1", ["slow_local"], "S1.after_a_check", 10, marks=pytest.mark.sweep),
    ],
)
def test_the_shortest_counterexample_has_the_same_length(
    tmp_path: Path, profile: str, faults: list[str], clause: str, depth: int
) -> None:
    clauses = chosen_clauses([clause])
    exported = export(TRANSACTIONAL_MESSAGES, World.of(profile, faults, "tiny").constants, clauses)
    told = run_export(exported, tmp_path)
    assert told.violated == clause.replace(".", "_")
    assert len(told.trace) == depth
    own = check(Question.of(profile, faults, "tiny", properties=[clause]))
    assert [row.depth for row in own.rows] == [depth]


def test_a_witness_is_shown_as_a_violation(tmp_path: Path) -> None:
    exported = export(TRANSACTIONAL_MESSAGES, World.of("5.3.3", [], "tiny").constants, ())
    negated = "S2_never_a_rollback_is_acknowledged"
    assert f"\\* INVARIANT {negated}\n" in exported.config
    asked = TlaModule(exported.name, exported.module, exported.config.replace("\\* INVARIANT S2", "INVARIANT S2"))
    told = run_export(asked, tmp_path)
    assert told.violated == negated
    assert told.trace[-1] in ("BufferOp", "WriteOp")


def test_without_a_choice_every_clause_is_asked_for() -> None:
    exported = export(TRANSACTIONAL_MESSAGES, World.of("5.3.3", [], "tiny").constants)
    asked = exported.config.split("INVARIANTS\n")[1].split("\\*")[0].split()
    clauses = TRANSACTIONAL_MESSAGES.clauses
    assert asked == ["TypeOK", *(f"{clause.identifier}_{clause.clause}" for clause in clauses)]
