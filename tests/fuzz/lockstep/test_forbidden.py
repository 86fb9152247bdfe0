"""Is the broker really asked for what the specification forbids, and is its refusal looked at?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fuzz.lockstep.forbidden import _ask_round, ask, is_allowed
from fuzz.lockstep.pairing import Mismatch, Pairing
from fuzz.lockstep.script import run_text
from spec.constants import FAULTS

if TYPE_CHECKING:
    from fuzz.lockstep.pairing import Pair
    from spec.language import Step

LATE = "send_half t=0 immunity=3; commit_locally t=0; tick; tick; tick; tick"
WAITING = "send_half t=0 immunity=-1; commit_locally t=0; store_real_message h=0; buffer_op h=0"


def after(schedule: str, profile: str = "5.3.3") -> Pair:
    return run_text(Pairing.of(profile, FAULTS), schedule)


def step(pair: Pair, words: str) -> Step:
    return next(step for step in pair.pairing.steps if str(step) == words)


def rule(pair: Pair, words: str) -> str:
    refused = ask(pair, step(pair, words))
    assert refused is not None
    assert pair.asked is not None
    return refused.rule


def test_a_late_end_is_asked_for_and_refused() -> None:
    assert rule(after(LATE), "store_real_message h=0") == "it is not refused as late"


def test_a_round_beside_another_and_a_round_too_early_are_refused() -> None:
    pair = after("begin_round")
    assert rule(pair, "begin_round") == "no round runs"
    pair.take(step(pair, "end_round_at_queue_end"))
    assert rule(pair, "begin_round") == "the check interval is over since the last round"


def test_a_thread_that_has_overslept_and_was_started_anew_is_not_asked() -> None:
    """It may be due before the specification's, which counts from the end of the last round."""
    pair = after("crash; become_slave; step_clock_back; become_master; tick")
    assert ask(pair, step(pair, "begin_round")) is not None
    assert pair.side.broker.check_service.round is None


def test_a_batch_that_is_not_due_is_not_written() -> None:
    assert rule(after(WAITING), "write_op_batch").startswith("the batch interval is over")


def test_an_end_for_no_half_and_one_that_fits_no_half_are_refused() -> None:
    pair = after("send_half t=0 immunity=-1")
    assert rule(pair, "store_real_message h=0") == "a commit for this half arrives"
    assert rule(pair, "store_real_message h=5") == "a commit for this half arrives"


def test_asking_leaves_the_specification_as_it_was() -> None:
    pair = after(WAITING)
    before = list(pair.state.memory.values)
    assert is_allowed(pair, step(pair, "tick")) is None
    assert ask(pair, step(pair, "write_op_batch")) is not None
    assert pair.state.memory.values == before
    assert pair.state.memory.undo is None


@pytest.mark.parametrize(
    ("schedule", "words", "variable"),
    [
        (LATE, "store_real_message h=0", "the answer to END_TRANSACTION"),
        ("begin_round; end_round_at_queue_end", "begin_round", "whether a round begins"),
        (WAITING, "write_op_batch", "op messages written"),
    ],
)
def test_a_broker_that_does_not_refuse_is_seen(schedule: str, words: str, variable: str) -> None:
    pair = after(schedule)
    # The broker's clock no longer agrees with the specification's, so that what is forbidden is due, or not late.
    if words == "store_real_message h=0":
        pair.side.clock.step(-2_000)
    else:
        pair.side.clock.advance(60_000)
    with pytest.raises(Mismatch) as found:
        ask(pair, step(pair, words))
    assert found.value.variable == variable


def test_a_specification_that_allows_two_passes_of_a_round_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = after("send_half t=0 immunity=-1; tick; begin_round")
    monkeypatch.setattr("fuzz.lockstep.forbidden.is_allowed", lambda pair, step: None)
    with pytest.raises(Mismatch, match=r"passes allowed is .*discard_half, end_round_at_fresh_half"):
        _ask_round(pair)
