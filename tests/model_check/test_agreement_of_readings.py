"""The compiled search and the CPython search say the same of the half/op/check machine, whole instances through.

The numbers below were obtained twice, by two readings that share nothing but the specification: `check(…,
reading="numba")` and `check(…, reading="cpython")`. When the specification is changed on purpose, both must move
together.
"""

from __future__ import annotations

import pytest

from tests.model_check.checked import checked, violations

AGREED = {
    ("5.3.3", "quiet", "tiny"): (
        8_400,
        18_130,
        33,
        {"S1.immune_half": 15, "S1.late_op": 11, "S9.immune_half": 12, "S9.late_op": 8, "L2.immunity_burns_checks": 9},
    ),
    ("5.3.3", "crash", "tiny"): (
        37_696,
        98_069,
        37,
        {
            "S1.immune_half": 14,
            "S1.lost_op": 11,
            "S1.late_op": 11,
            "S1.forked_copy": 16,
            "S9.immune_half": 12,
            "S9.lost_op": 9,
            "S9.late_op": 8,
            "S10.op_entry_dies_with_the_process": 4,
            "L2.immunity_burns_checks": 9,
        },
    ),
    ("4.5.1", "slow_local", "tiny"): (
        10_146,
        22_955,
        28,
        {
            "S1.immune_half": 14,
            "S1.after_a_check": 10,
            "S1.late_op": 11,
            "S2.commit_after_rollback": 10,
            "S2.rollback_after_commit": 10,
            "S8.discarded_without_a_record": 11,
            "S9.immune_half": 13,
            "S9.late_op": 13,
            "L2.immunity_burns_checks": 9,
        },
    ),
    ("4.9.7", "duplicate_end", "tiny"): (
        15_199,
        34_822,
        33,
        {
            "S1.doubled_request": 6,
            "S1.immune_half": 16,
            "S1.late_op": 16,
            "S9.immune_half": 13,
            "S9.late_op": 13,
            "S9.unexplained": 16,
            "L2.immunity_burns_checks": 9,
        },
    ),
    ("4.5.1", "crash", "plain"): (
        45_968,
        135_242,
        34,
        {
            "S1.lost_op": 11,
            "S1.forked_copy": 16,
            "S1.passed_op": 18,
            "S7.in_memory": 10,
            "S7.in_the_file": 9,
            "S8.discarded_without_a_record": 15,
            "S9.passed_op": 15,
        },
    ),
    ("4.9.7", "crash", "deep"): (
        24_064,
        58_829,
        39,
        {
            "S1.immune_half": 14,
            "S1.lost_op": 11,
            "S1.late_op": 14,
            "S1.forked_copy": 16,
            "S9.immune_half": 13,
            "S9.late_op": 13,
            "S9.forked_copy": 17,
            "L2.immunity_burns_checks": 15,
        },
    ),
    ("5.4.0", "quiet", "deep"): (
        27_778,
        62_777,
        42,
        {"S1.immune_half": 15, "S1.late_op": 11, "S9.immune_half": 12, "S9.late_op": 8, "L2.immunity_burns_checks": 13},
    ),
    ("4.5.1", "slow_round", "plain"): (
        55_227,
        149_217,
        34,
        {
            "S1.late_op": 11,
            "S1.passed_op": 20,
            "S7.in_memory": 11,
            "S7.in_the_file": 9,
            "S8.discarded_without_a_record": 15,
            "S9.late_op": 8,
            "S9.passed_op": 17,
        },
    ),
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
