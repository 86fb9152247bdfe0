"""A crash at any write loses and doubles what the specification says, and nothing else; the store always opens again.

``make crash-sweep`` takes every write in every manner; here it is one of each kind, drawn by a fixed seed.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from reference.scenarios.scenario import begin
from reference.scenarios.walk_throughs import SCENARIOS
from reference.store.disk import QUEUE_ENTRY, RENAME
from tests.sampled import sampled
from tests.seeds.crash import OFFSET_IN_MEMORY, Boundary, Manner, boundaries, run_to_rest
from tests.seeds.crash_judgement import judge_crash
from tests.seeds.crash_sweep import SWEPT, crashes, main

if TYPE_CHECKING:
    from reference.scenarios.scenario import Scenario

SEED = 1


def sample(scenario: Scenario) -> list[tuple[Boundary, Manner]]:
    """One crash before each kind of write."""
    of_kind: dict[str, list[tuple[Boundary, Manner]]] = {}
    for boundary, manner in crashes(scenario, SEED):
        of_kind.setdefault(boundary.kind, []).append((boundary, manner))
    random = Random(scenario.name)
    return [random.choice(those) for those in of_kind.values()]


def first(name: str, kind: str) -> Boundary:
    return next(boundary for boundary in boundaries(SCENARIOS[name], SEED) if boundary.kind == kind)


@pytest.mark.untraced
@pytest.mark.parametrize("name", sampled(SWEPT, 2))
def test_a_crash_of_each_kind_does_what_the_specification_allows(name: str) -> None:
    scenario = SCENARIOS[name]
    wrong = [
        (boundary, manner, what)
        for boundary, manner in sample(scenario)
        for what in judge_crash(scenario, SEED, boundary, manner).wrong
    ]
    assert wrong == []


@pytest.mark.parametrize("name", SWEPT)
def test_every_write_is_a_boundary(name: str) -> None:
    scenario = SCENARIOS[name]
    at_rest = run_to_rest(begin(scenario, SEED))
    found = boundaries(scenario, SEED)
    assert [b.writes for b in found if b.steps is None] == list(range(at_rest.cluster.disk.write_count))
    in_memory = [b for b in found if b.steps is not None]
    assert len(in_memory) == at_rest.cluster.recorder.counts["round_ended"] > 0
    kinds = {boundary.kind for boundary in found}
    assert {"half record", "delivered record", "op record", QUEUE_ENTRY, "offset file", OFFSET_IN_MEMORY} <= kinds
    assert RENAME in kinds, "of the offset file up to 5.0, of the counts of open halves from 5.2.0 on"


@pytest.mark.parametrize(
    ("name", "kind", "body"), [("code-walk", "op record", "order 0"), ("storage-flow", "op record", "parcel 0")]
)
def test_in_4_x_a_crash_between_a_real_message_and_its_op_delivers_it_again(name: str, kind: str, body: str) -> None:
    """Nothing in the store tells a process that died there from an END_TRANSACTION that hangs before its op message."""
    judgement = judge_crash(SCENARIOS[name], SEED, first(name, kind), Manner.PROCESS)
    assert judgement.doubled == [body]
    assert judgement.clauses in (["S1.lost_op"], ["S1.late_op"])
    assert judgement.wrong == []


def test_in_5_3_a_crash_before_the_op_batch_is_written_delivers_again_what_it_holds() -> None:
    boundary = first("five-outcomes", "op record")
    judgement = judge_crash(SCENARIOS["five-outcomes"], SEED, boundary, Manner.PROCESS)
    assert (judgement.doubled, judgement.clauses) == (["message 1"], ["S1.lost_op"])
    assert judgement.faults == {"crash": 1}
    assert judgement.wrong == []


def test_only_a_loss_of_power_takes_a_half_that_was_acknowledged() -> None:
    scenario = SCENARIOS["five-outcomes"]
    boundary = first("five-outcomes", "delivered record")
    assert judge_crash(scenario, SEED, boundary, Manner.PROCESS).lost == []
    by_power = judge_crash(scenario, SEED, boundary, Manner.POWER)
    assert by_power.lost != []
    assert by_power.wrong == []


def test_a_half_that_was_stored_and_not_acknowledged_is_rolled_back_when_it_is_checked() -> None:
    scenario = SCENARIOS["five-outcomes"]
    boundary = first("five-outcomes", QUEUE_ENTRY)
    judgement = judge_crash(scenario, SEED, boundary, Manner.PROCESS)
    assert judgement.wrong == []


def test_the_sweep_prints_a_table_and_refuses_a_name_it_does_not_know(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["code-walk", "--every", "97"]) == 0
    printed = capsys.readouterr().out
    assert "code-walk (4.5.1), seed 1" in printed
    assert "WRONG" not in printed
    assert main(["nothing"]) == 151
    assert "there is no walk-through 'nothing'" in capsys.readouterr().err
