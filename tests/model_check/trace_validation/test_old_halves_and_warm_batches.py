"""Old halves are discarded with checks left, batches go by the last op message, rollbacks come when they were sent."""

from __future__ import annotations

from model_check.configuration import Configuration
from model_check.trace_validation.observed import EndRequest, EventKind, ObservedEvent, ObservedOutcome, Trace
from model_check.trace_validation.validate import validate
from model_check.world import Profile
from spec.chapters import end_transaction
from tests.model_check.trace_validation.retake import replay

HOUR = 3_600_000
NOW = 1_000 * HOUR


def discarded_when(age_ms: int, *, check_times: int = 1) -> Trace:
    """A half of an age that is discarded by the first round, and the offsets behind it."""
    return Trace(
        (
            ObservedEvent(kind=EventKind.HALF_STORED, time=NOW, transaction=0, half=0, born=NOW - age_ms),
            ObservedEvent(kind=EventKind.DISCARDED, time=NOW + 5, transaction=0, check_times=check_times),
            ObservedEvent(kind=EventKind.OFFSETS_SAVED, time=NOW + 6, half=1, op=0),
        ),
        crashes=(),
    )


def configured(hours: int) -> Configuration:
    return Configuration.of_release("5.4.0", file_reserved_ms=hours * HOUR)


def test_a_half_that_is_older_than_messages_are_kept_is_discarded_with_checks_left() -> None:
    trace = discarded_when(73 * HOUR)
    verdict = validate(trace, configured(72), Profile.of("5.4.0").switches)
    assert (verdict.accepted, verdict.faults) == (True, {})
    assert replay(trace, verdict.path, verdict.constants) is None


def test_where_a_discard_leaves_no_record_the_offsets_tell_of_it() -> None:
    half, _, offsets = discarded_when(73 * HOUR).events
    trace = Trace((half, offsets), crashes=())
    accepted = {
        hours: validate(
            trace, Configuration.of_release("4.5.1", file_reserved_ms=hours * HOUR), Profile.of("4.5.1").switches
        ).accepted
        for hours in (72, 74)
    }
    assert accepted == {72: True, 74: False}


def test_a_half_that_is_kept_still_is_not() -> None:
    verdict = validate(discarded_when(73 * HOUR), configured(74), Profile.of("5.4.0").switches)
    assert not verdict.accepted


def test_a_half_that_is_too_old_counts_one_check_before_it_is_discarded() -> None:
    verdict = validate(discarded_when(73 * HOUR, check_times=2), configured(72), Profile.of("5.4.0").switches)
    assert verdict.divergence is not None
    assert verdict.divergence.guard == "record: a half of the transaction with that check count is stored"


def settled_soon(wrote_op_at: int | None) -> Trace:
    """A commit whose op message is written a tenth of an op batch interval later."""
    return Trace(
        (
            ObservedEvent(kind=EventKind.HALF_STORED, time=NOW, transaction=0, half=0, born=NOW),
            ObservedEvent(kind=EventKind.DELIVERED, time=NOW + 1, transaction=0, half=0, born=NOW + 1),
            ObservedEvent(
                kind=EventKind.OP_STORED, time=NOW + 301, born=NOW + 300, op=0, names=(0,), is_batched=True, body_size=2
            ),
        ),
        crashes=(),
        wrote_op_at=wrote_op_at,
    )


def test_an_op_message_comes_an_interval_behind_the_last_one_or_behind_the_first_entry_of_a_process() -> None:
    accepted = {
        at: validate(settled_soon(at), Configuration.of_release("5.4.0"), Profile.of("5.4.0").switches).accepted
        for at in (None, NOW - 1_000, NOW - 2_700, NOW - 10_000)
    }
    assert accepted == {None: False, NOW - 1_000: False, NOW - 2_700: True, NOW - 10_000: True}


def test_a_rollback_comes_when_it_was_sent_where_that_is_known_and_else_as_soon_as_it_may() -> None:
    sent = NOW + 7_000
    events = (
        ObservedEvent(kind=EventKind.HALF_STORED, time=NOW, transaction=0, half=0, born=NOW, immunity=60_000),
        ObservedEvent(
            kind=EventKind.PUT_BACK, time=NOW + 5_000, transaction=0, half=1, born=NOW, check_times=1, original=0
        ),
        ObservedEvent(
            kind=EventKind.OP_STORED,
            time=sent + 3_001,
            born=sent + 3_000,
            op=0,
            names=(0,),
            is_batched=True,
            body_size=2,
        ),
    )
    request = EndRequest(sent, 0, ObservedOutcome.ROLLBACK)
    buffered = {}
    for is_timed in (False, True):
        trace = Trace(events, (request,), crashes=(), is_timed=is_timed)
        settings = Configuration.of_release("5.4.0", check_interval_ms=5_000)
        verdict = validate(trace, settings, Profile.of("5.4.0").switches)
        assert verdict.accepted, verdict.divergence
        assert replay(trace, verdict.path, verdict.constants) is None
        (buffered[is_timed],) = (
            step.now for step in verdict.path if step.step.action.function is end_transaction.buffer_op
        )
    assert buffered == {False: NOW, True: sent}
