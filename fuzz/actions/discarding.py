"""Giving a half up after its checks, with or without a record of it."""

from __future__ import annotations

from fuzz.actions.check_round import branch, fail_all_puts, uncertain_branch
from reference.broker.transaction.check_outcome import CheckBranch

discard_half = branch(CheckBranch.DISCARDED)
discard_half_unrecorded = uncertain_branch(CheckBranch.DISCARDED, "bad put", after="spin_at_failed_immunity")(
    fail_all_puts
)
discard_instead_of_check = branch(CheckBranch.DISCARDED, repairs=("discards_instead_of_checking",))
discard_what_cannot_be_copied = uncertain_branch(CheckBranch.DISCARDED, "round", repairs=("parks_poison",))(
    lambda side: side.process.step_round()
)
