"""Giving a half up after its checks, with or without a record of it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from fuzz.actions.check_round import branch, fail_all_puts, half_at_cursor, uncertain_branch
from fuzz.actions.record import expect
from reference.broker.transaction.check_outcome import CheckBranch
from reference.broker.transaction.half_index import original_of
from reference.errors import ThrownInCheckError
from reference.format.properties import IMMUNITY_SECONDS

if TYPE_CHECKING:
    from fuzz.broker_side.broker_side import BrokerSide
    from spec.language import Refused, Step


def _retry_discard(side: BrokerSide, _: Step, refused: Refused) -> bool:
    """A repaired round stays at a half whose record is not stored."""
    is_asked = refused.rule == "nobody looks whether its record was stored" and (
        side.constants.retries_discards and side.constants.keeps_discarded and side.constants.put_failure
    )
    if is_asked:
        done = fail_all_puts(side)
        expect("the round's branch", CheckBranch.DISCARD_FAILED.value, "" if done is None else done.branch.value)
    return is_asked


def _is_put_back_later(side: BrokerSide, _: Step) -> bool:
    """A half whose copy cannot be stored, as long as a repaired broker does not try: it reads op messages before.

    The specification lets it be discarded as soon as it is old enough.
    """
    half, running = half_at_cursor(side), side.broker.check_service.round
    if half is None or running is None:
        return False
    text, timeout = half.properties.get(IMMUNITY_SECONDS), side.broker.settings.transaction_timeout_ms
    immunity = timeout if text is None else running.judge.immunity_time(text)
    age, is_passed = side.clock.now - half.born_timestamp, original_of(half) in running.op_remove_map.remove_map
    if text is not None and running.judge.is_young(age, immunity):
        return is_passed
    if is_passed and side.constants.heeds_settled_originals:
        return True
    if side.constants.keeps_check_open and side.broker.transactional_message_service.has_op_to_come(half):
        return True
    with suppress(ThrownInCheckError):
        return not running.is_need_check(age, immunity, side.clock.now)
    return True


discard_half = branch(CheckBranch.DISCARDED)
discard_half_unrecorded = uncertain_branch(
    CheckBranch.DISCARDED, "bad put", after="spin_at_failed_immunity", ask=_retry_discard
)(fail_all_puts)
discard_instead_of_check = branch(CheckBranch.DISCARDED, repairs=("discards_instead_of_checking",))
discard_what_cannot_be_copied = uncertain_branch(
    CheckBranch.DISCARDED, "round", repairs=("parks_poison",), unless=_is_put_back_later
)(lambda side: side.process.step_round())
