"""Does the check find known defects, with a trace that is minimal and says what the catalogue says?"""

from __future__ import annotations

import pytest

from model_check.check import ClauseResult, Verdict
from model_check.counterexample.steps import replay
from model_check.instances import constants_for
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.checked import checked


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


PROFILES = ("4.5.1", "4.9.7", "5.3.3", "5.4.0")


def clause(profile: str, environment: str, name: str) -> ClauseResult:
    return next(r for r in checked(profile, environment, "tiny").clauses if r.clause.clause == name)


@pytest.mark.parametrize(("profile", "depth"), list(zip(PROFILES, (16, 16, 15, 15), strict=True)))
def test_a_commit_inside_the_immunity_is_delivered_twice_in_the_quiet_world_of_every_version(
    profile: str, depth: int
) -> None:
    """B01."""
    found = clause(profile, "quiet", "immune_half")
    assert (found.verdict, found.depth, found.clause.resembles) == (Verdict.VIOLATED, depth, ("B01",))
    assert found.replayed is not None
    events = found.replayed.events
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


def test_an_acknowledged_end_is_lost_with_the_process_in_5_3_3_and_not_in_4_9_7() -> None:
    """B02."""
    name = "op_entry_dies_with_the_process"
    found = clause("5.3.3", "crash", name)
    assert (found.verdict, found.depth, found.clause.resembles) == (Verdict.VIOLATED, 4, ("B02",))
    assert [str(step) for step in found.path or ()] == [
        "send_half t=0 immunity=-1",
        "roll_back_locally t=0",
        "buffer_op h=0",
        "crash",
    ]
    assert clause("4.9.7", "crash", name).verdict is Verdict.HOLDS
    assert checked("4.9.7", "crash", "tiny").complete
    assert clause("5.3.3", "quiet", name).verdict is Verdict.HOLDS


def test_a_lost_op_entry_is_delivered_again_in_5_3_3() -> None:
    """B02, to its end: the transaction is delivered twice."""
    found = clause("5.3.3", "crash", "lost_op")
    assert found.replayed is not None
    names = [event.step.action.name for event in found.replayed.events]
    assert names.index("store_real_message") < names.index("crash") < names.index("put_back_and_check")
    assert names.count("store_real_message") == 2


@pytest.mark.parametrize("environment", ["quiet", "crash", "slow_local"])
@pytest.mark.parametrize("profile", PROFILES)
def test_every_counterexample_replays_and_cannot_be_cut(profile: str, environment: str) -> None:
    result = checked(profile, environment, "tiny")
    constants = constants_for(profile, result.faults, "tiny")
    for found in result.clauses:
        if found.path is not None:
            whole, cut = (replay(TRANSACTIONAL_MESSAGES, constants, path) for path in (found.path, found.path[:-1]))
            assert found.clause in whole.violated
            assert found.clause not in cut.violated
            assert [event.step for event in whole.events] == list(found.path)
