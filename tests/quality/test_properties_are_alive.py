"""No clause is empty: each is violated somewhere, at a pinned depth, and is not where a switch repairs its cause."""

from __future__ import annotations

import pytest

from model_check.check import Verdict
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.checked import checked, violations

ALIVE = {
    "S1.doubled_request": ("4.9.7", "duplicate_end", "tiny", 6),
    "S1.immune_half": ("5.3.3", "quiet", "tiny", 15),
    "S1.after_a_check": ("4.5.1", "slow_local", "tiny", 10),
    "S1.lost_op": ("5.3.3", "crash", "tiny", 11),
    "S1.late_op": ("5.3.3", "quiet", "tiny", 11),
    "S1.forked_copy": ("4.9.7", "crash", "tiny", 16),
    "S1.passed_op": ("4.5.1", "crash", "plain", 18),
    "S2.commit_after_rollback": ("4.5.1", "slow_local", "tiny", 10),
    "S2.rollback_after_commit": ("4.5.1", "slow_local", "tiny", 10),
    "S7.in_memory": ("4.5.1", "crash", "plain", 10),
    "S7.in_the_file": ("4.5.1", "quiet", "plain", 9),
    "S8.discarded_without_a_record": ("4.5.1", "quiet", "tiny", 11),
    "S9.immune_half": ("5.3.3", "quiet", "tiny", 12),
    "S9.lost_op": ("5.3.3", "crash", "tiny", 9),
    "S9.late_op": ("5.3.3", "quiet", "tiny", 8),
    "S9.forked_copy": ("4.9.7", "crash", "deep", 17),
    "S9.passed_op": ("4.5.1", "crash", "plain", 15),
    "S9.unexplained": ("4.9.7", "duplicate_end", "tiny", 16),
    "S10.op_entry_dies_with_the_process": ("5.3.3", "crash", "tiny", 4),
    "L2.immunity_burns_checks": ("5.3.3", "quiet", "tiny", 9),
}
"""Clause → where it is violated, and how soon.

S9.unexplained is violated with duplicate_end only: a repeated END_TRANSACTION that comes after the needless check
writes its own cause over that of the check, since a transaction remembers one cause for S1 and S9 together.
"""

REPAIRED = {
    "S1.doubled_request": ("4.9.7", "quiet", "tiny", "END_TRANSACTION arrives once"),
    "S1.after_a_check": ("4.5.1", "quiet", "tiny", "local transactions are over before the first check"),
    "S1.lost_op": ("5.3.3", "quiet", "tiny", "the process does not die"),
    "S1.forked_copy": ("5.3.3", "quiet", "tiny", "the half offset never goes back"),
    "S1.passed_op": ("4.9.7", "crash", "plain", "op_end_commits_offset is off"),
    "S1.immune_half": ("4.5.1", "crash", "plain", "no message carries an immunity"),
    "S2.commit_after_rollback": ("4.5.1", "quiet", "tiny", "no checker answers too early"),
    "S2.rollback_after_commit": ("4.5.1", "quiet", "tiny", "no checker answers too early"),
    "S7.in_memory": ("4.9.7", "crash", "plain", "op_end_commits_offset is off"),
    "S7.in_the_file": ("4.9.7", "crash", "plain", "op_end_commits_offset is off"),
    "S8.discarded_without_a_record": ("4.9.7", "crash", "tiny", "keeps_discarded is on"),
    "S9.immune_half": ("4.9.7", "crash", "plain", "no message carries an immunity"),
    "S9.lost_op": ("4.9.7", "crash", "tiny", "batches_ops is off: no acknowledged op is lost"),
    "S9.late_op": ("4.9.7", "crash", "plain", "each op is written before its END is acknowledged, rounds take no time"),
    "S9.forked_copy": ("4.9.7", "quiet", "deep", "the half offset never goes back"),
    "S9.passed_op": ("4.9.7", "crash", "plain", "op_end_commits_offset is off"),
    "S9.unexplained": ("4.9.7", "crash", "tiny", "no second END writes over the cause of the check"),
    "S10.op_entry_dies_with_the_process": ("4.9.7", "crash", "tiny", "batches_ops is off"),
    "L2.immunity_burns_checks": ("4.9.7", "crash", "plain", "no message carries an immunity"),
}
"""Clause → where its cause is gone, and why."""

NEVER = {
    "S1.unexplained": "each cause has its clause",
    "S8.neither_settled_nor_copied": "the cursor passes a half in no other way; B13 and B14 need later faults",
}
"""Clause → why no environment of the core violates it. test_mutants_of_the_readings.py shows that each can be."""

WORLDS = sorted({row[:3] for row in (*ALIVE.values(), *REPAIRED.values())})


@pytest.mark.parametrize(("clause", "where"), [pytest.param(k, v, id=f"{k}-{v[2]}") for k, v in ALIVE.items()])
def test_the_clause_is_violated_at_this_depth(clause: str, where: tuple[str, str, str, int]) -> None:
    profile, environment, instance, depth = where
    assert violations(checked(profile, environment, instance))[clause] == depth


@pytest.mark.parametrize(
    ("clause", "where"),
    [pytest.param(k, v, id=f"{k}-{v[2]}") for k, v in REPAIRED.items()],
)
def test_the_clause_holds_where_its_cause_is_gone(clause: str, where: tuple[str, str, str, str]) -> None:
    profile, environment, instance, why = where
    result = checked(profile, environment, instance)
    verdicts = {f"{r.clause.identifier}.{r.clause.clause}": r.verdict for r in result.clauses}
    assert verdicts[clause] is Verdict.HOLDS, why


@pytest.mark.parametrize("world", [pytest.param(world, id="-".join(world)) for world in WORLDS])
def test_what_is_never_violated_holds_and_every_witness_is_seen(world: tuple[str, str, str]) -> None:
    result = checked(*world)
    assert result.complete
    assert not NEVER.keys() & violations(result).keys()
    assert result.unseen == ()


def test_every_clause_is_in_the_table() -> None:
    declared = {f"{clause.identifier}.{clause.clause}" for clause in TRANSACTIONAL_MESSAGES.clauses}
    assert declared == {*ALIVE, *NEVER}
