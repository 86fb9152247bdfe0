"""Giving a half up after its checks, with or without a record of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz.actions.check_round import branch, fail_all_puts, uncertain_branch
from fuzz.actions.record import expect
from reference.broker.transaction.check_outcome import CheckBranch

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


discard_half = branch(CheckBranch.DISCARDED)
discard_half_unrecorded = uncertain_branch(
    CheckBranch.DISCARDED, "bad put", after="spin_at_failed_immunity", ask=_retry_discard
)(fail_all_puts)
discard_instead_of_check = branch(CheckBranch.DISCARDED, repairs=("discards_instead_of_checking",))
discard_what_cannot_be_copied = uncertain_branch(CheckBranch.DISCARDED, "round", repairs=("parks_poison",))(
    lambda side: side.process.step_round()
)
