"""The compiled search and the CPython search say the same of the half/op/check machine, whole instances through.

The numbers below were obtained twice, by two readings that share nothing but the specification: `check(…,
reading="numba")` and `check(…, reading="cpython")`. When the specification is changed on purpose, both must move
together.
"""

from __future__ import annotations

import pytest

from tests.model_check.checked import checked, violations

AGREED = {
    ("5.3.3", "quiet", "tiny"): (7_894, 17_062, 33, {"S1.immune_half": 15, "S1.late_op": 11}),
    ("5.3.3", "crash", "tiny"): (
        35_194,
        91_821,
        37,
        {
            "S1.immune_half": 14,
            "S1.lost_op": 11,
            "S1.late_op": 11,
            "S1.forked_copy": 16,
            "S10.op_entry_dies_with_the_process": 4,
        },
    ),
    ("4.5.1", "slow_local", "tiny"): (
        9_608,
        21_893,
        28,
        {
            "S1.immune_half": 14,
            "S1.after_a_check": 10,
            "S1.late_op": 11,
            "S2.commit_after_rollback": 10,
            "S2.rollback_after_commit": 10,
        },
    ),
    ("4.5.1", "crash", "plain"): (45_744, 134_762, 34, {"S1.lost_op": 11, "S1.forked_copy": 16, "S1.passed_op": 18}),
    ("5.4.0", "quiet", "deep"): (25_532, 57_763, 42, {"S1.immune_half": 15, "S1.late_op": 11}),
    ("4.5.1", "slow_round", "plain"): (55_157, 149_041, 34, {"S1.late_op": 11, "S1.passed_op": 20}),
}
"""(profile, environment, instance) → distinct, generated, depth, violated clauses with their depths."""

CASES = [pytest.param(*key, id="-".join(key)) for key in AGREED]


@pytest.mark.parametrize(("profile", "environment", "instance"), CASES)
def test_both_readings_find_the_pinned_states_verdicts_and_first_shortest_paths(
    profile: str, environment: str, instance: str
) -> None:
    compiled, judge = (checked(profile, environment, instance, reading) for reading in ("numba", "cpython"))
    for result in (compiled, judge):
        found = (result.distinct, result.generated, result.depth, violations(result))
        assert found == AGREED[profile, environment, instance]
        assert result.complete
    assert [(r.clause, r.verdict, r.path) for r in compiled.clauses] == [
        (r.clause, r.verdict, r.path) for r in judge.clauses
    ]
    assert compiled.unseen == judge.unseen == ()


def test_one_instance_has_between_50_000_and_150_000_states() -> None:
    assert any(50_000 <= distinct <= 150_000 for distinct, *_ in AGREED.values())
