"""B01 closely: a commit inside the immunity is delivered twice, in the quiet world of every version."""

from __future__ import annotations

import pytest

from model_check.clauses import clauses_by_name
from model_check.finding import Verdict
from tests.model_check.checked import checked


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


IMMUNE_HALF = clauses_by_name()["S1.immune_half"]
PROFILES = ("4.5.1", "4.9.7", "5.3.3", "5.4.0", "5.5.0")


@pytest.mark.parametrize(("profile", "depth"), list(zip(PROFILES, (16, 16, 15, 15, 15), strict=True)))
def test_the_half_is_delivered_and_then_a_copy_that_was_put_back_for_its_immunity(profile: str, depth: int) -> None:
    found = checked(profile, "quiet", "tiny")[IMMUNE_HALF]
    assert (found.verdict, found.depth, found.clause.resembles) == (Verdict.VIOLATED, depth, ("B01",))
    assert found.replay is not None
    events = found.replay.events
    at = {event.step.action.name: event for event in events}

    sent, put_back = at["send_half"], at["put_back_immune_half"]
    immunity = sent.step.arguments[1]
    assert immunity == 3
    assert put_back.time - sent.time < immunity, "the half is immune when it is put back"

    delivered = [event for event in events if event.step.action.name == "store_real_message"]
    assert [event.step.arguments for event in delivered] == [(0,), (2,)], "the half, and then a copy"
    first, second = delivered
    assert put_back.number < second.number
    assert at["put_back_and_check"].number < at["answer_check"].number < second.number, "the copy was checked"
    assert first.time - sent.time <= immunity, "the first commit is accepted inside the immunity"
    assert sum(event.step.action.name == "put_back_and_check" for event in events) == 1

    last = {change.field: change.after for change in events[-1].changes}
    assert last["transaction[0].deliveries"] == "2"


def test_from_5_1_on_the_repair_is_not_enough_where_op_batches_are_late() -> None:
    late = checked("5.3.3+heeds_settled_originals", "quiet", "tiny")[IMMUNE_HALF]
    assert late.path
    assert "write_op_batch" not in [step.action.name for step in late.path]
    at_once = checked("5.3.3+heeds_settled_originals-batches_ops", "quiet", "tiny")[IMMUNE_HALF]
    assert at_once.verdict is Verdict.HOLDS
