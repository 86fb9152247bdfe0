"""B02 closely: an acknowledged END_TRANSACTION dies with the process, and the transaction is delivered again."""

from __future__ import annotations

import pytest

from model_check.clauses import clauses_by_name
from model_check.finding import Verdict
from tests.model_check.checked import checked


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def test_an_acknowledged_end_is_lost_with_the_process_in_5_3_3_and_not_in_4_9_7() -> None:
    dies = clauses_by_name()["S10.op_entry_dies_with_the_process"]
    found = checked("5.3.3", "crash", "tiny")[dies]
    assert (found.verdict, found.depth, found.clause.resembles) == (Verdict.VIOLATED, 4, ("B02", "B03", "B53"))
    assert [str(step) for step in found.path or ()] == [
        "send_half t=0 immunity=-1",
        "roll_back_locally t=0",
        "buffer_op h=0",
        "crash",
    ]
    assert checked("4.9.7", "crash", "tiny")[dies].verdict is Verdict.HOLDS
    assert checked("4.9.7", "crash", "tiny").numbers.complete
    assert checked("5.3.3", "quiet", "tiny")[dies].verdict is Verdict.HOLDS


def test_a_lost_op_entry_is_delivered_again_in_5_3_3() -> None:
    found = checked("5.3.3", "crash", "tiny")[clauses_by_name()["S1.lost_op"]]
    names = [step.action.name for step in found.path or ()]
    assert names.index("store_real_message") < names.index("crash") < names.index("put_back_and_check")
    assert names.count("store_real_message") == 2
