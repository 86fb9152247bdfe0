"""A02 in the quiet world: three transactions suffice in 4.5.1, and 4.9.7 has repaired it.

The end of the op queue sets the op offset past an op message whose half no round has met yet; once a round has ended
without moving the offset itself, that op message is never read again, and its half is checked and delivered twice.
"""

from __future__ import annotations

import pytest

from model_check.clauses import clauses_by_name
from model_check.finding import Finding, Row, Verdict
from tests.model_check.checked import checked, violations
from tests.sampled import sampled


@pytest.fixture(autouse=True, params=["trio"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """Only this file uses it, since it takes long to compile (see the root conftest.py)."""
    return str(request.param)


AGREED = {
    "4.5.1": (
        2_312_474,
        6_680_078,
        41,
        {
            "S1.passed_op": 24,
            "S6.flag_of_a_copy": 10,
            "S7.in_memory": 13,
            "S7.in_the_file": 9,
            "S8.discarded_without_a_record": 10,
            "S9.passed_op": 21,
            "L1.discarded_without_a_record": 10,
            "L4.left_behind": 6,
            "R1.pulls_nothing": 5,
        },
    ),
    "4.9.7": (
        1_916_179,
        5_417_942,
        38,
        {
            "S2.commit_after_discard": 11,
            "S6.flag_of_a_copy": 10,
            "S8.parked_although_settled": 11,
            "R1.pulls_nothing": 5,
        },
    ),
}
"""Profile → distinct, generated, depth, violated clauses with their depths: with one thread and with two.

TLC finds the same numbers of distinct and generated states and the same depth on the exported module.
"""


def clause(finding: Finding, name: str) -> Row:
    return finding[clauses_by_name()[name]]


@pytest.mark.parametrize("threads", sampled([1, 2], 2))
@pytest.mark.parametrize("profile", AGREED)
def test_the_jump_is_found_in_4_5_1_and_not_in_4_9_7(profile: str, threads: int) -> None:
    result = checked(profile, "quiet", "trio", threads=threads)
    numbers = result.numbers
    assert (numbers.distinct, numbers.generated, numbers.depth, violations(result)) == AGREED[profile]
    assert numbers.complete
    assert [w.name for w in result.unseen] == (["a_transaction_is_parked"] if profile == "4.5.1" else [])
    for name in ("S1.passed_op", "S7.in_memory", "S7.in_the_file", "S9.passed_op"):
        expected = Verdict.VIOLATED if profile == "4.5.1" else Verdict.HOLDS
        assert clause(result, name).verdict is expected


@pytest.mark.parametrize("profile", AGREED)
def test_one_thread_and_two_give_the_same_verdicts_and_paths(profile: str) -> None:
    one, two = (checked(profile, "quiet", "trio", threads=threads) for threads in (1, 2))
    assert [(r.clause, r.verdict, r.path) for r in one.rows] == [(r.clause, r.verdict, r.path) for r in two.rows]


def test_the_schedule_delivers_a_transaction_twice_whose_op_message_stands_behind_the_op_offset() -> None:
    found = clause(checked("4.5.1", "quiet", "trio"), "S1.passed_op")
    assert found.clause.resembles == ("A02", "A15", "B15", "B56")
    assert found.replay is not None
    names = [event.step.action.name for event in found.replay.events]
    assert len(names) == 24
    assert names.count("send_half") == 3
    assert {change.after for event in found.replay.events for change in event.changes if "cause" in change.field} == {
        "passed_op"
    }
    twice = [c.field for event in found.replay.events for c in event.changes if c.after == "2" and "deliver" in c.field]
    assert len(twice) == 1
    last = found.replay.events[-1]
    assert [c.field for c in last.changes if "deliver" in c.field] == twice


def test_the_op_offset_is_wrong_before_anyone_suffers() -> None:
    result = checked("4.5.1", "quiet", "trio")
    depths = [clause(result, name).depth for name in ("S7.in_the_file", "S7.in_memory", "S9.passed_op", "S1.passed_op")]
    assert depths == [9, 13, 21, 24]
    assert clause(result, "S7.in_memory").clause.resembles == ("A02", "A15", "B56")
