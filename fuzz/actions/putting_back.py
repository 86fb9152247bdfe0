"""Putting a half back: the copy, with a check or without."""

from __future__ import annotations

from fuzz.actions.check_round import branch
from reference.broker.transaction.check_outcome import CheckBranch

put_back_immune_half = branch(CheckBranch.PUT_BACK_FOR_IMMUNITY)
put_back_and_check = branch(CheckBranch.PUT_BACK_FOR_CHECK)
put_back_unasked = branch(CheckBranch.PUT_BACK_UNASKED, needs=("offline_producer", "restarted_producer"))
