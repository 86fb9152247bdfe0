"""What the lockstep leaves out because the reference broker, or its driver, cannot do it: each with the reason.

Every fault and every action of the specification is driven or stands here, so that a new one is not passed over.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fuzz.moves import KINDS
from model_check.errors import ModelCheckError
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spec.language import Machine

_ONE_END: Final = "the driver has one END_TRANSACTION of a half under way at a time"
_ALWAYS_CONNECTED: Final = "the broker's producers are always connected"
_SENDS_ONCE: Final = "the driver sends each message once, and is always answered SEND_OK"
_STORES_ALL: Final = "the broker's store takes whatever it is given"
_READS_ALL: Final = "the broker's store gives whatever it holds, and all of it can be decoded"
_ONE_CLOCK: Final = "broker and producers have one clock, which only goes on"
_KEEPS_ALL: Final = "the broker's disk keeps what was written"
_NO_STOP: Final = "a shutdown of the broker first writes a batch that is due, which the specification does step by step"
_NO_REGRESSION: Final = "nothing but the broker itself writes its offsets"
_MASTER: Final = "the broker is a master for ever"
_NO_ADMIN: Final = "the broker has no admin requests"
_REPAIR: Final = "a repair that is in no version"
_WRONG_REPAIR: Final = "a repair that was proposed and is in no version"

LEFT_OUT_FAULTS: Final = {
    "reorder": _ONE_END,
    "offline_producer": _ALWAYS_CONNECTED,
    "restarted_producer": _ALWAYS_CONNECTED,
    "bad_store_status": _SENDS_ONCE,
    "twin_send": _SENDS_ONCE,
    "put_failure": _STORES_ALL,
    "op_write_failure": _STORES_ALL,
    "null_half": _READS_ALL,
    "undecodable_half": _READS_ALL,
    "undecodable_op": _READS_ALL,
    "clock_skew": _ONE_CLOCK,
    "clock_step": _ONE_CLOCK,
    "power_loss": _KEEPS_ALL,
    "graceful_stop": _NO_STOP,
    "offset_regression": _NO_REGRESSION,
    "role_change": _MASTER,
    "acting_slave": _MASTER,
    "resume_discarded": _NO_ADMIN,
}
"""Faults that the broker is spared."""

LEFT_OUT_ACTIONS: Final = {
    "send_half_by_another_clock": _ONE_CLOCK,
    "send_half_with_checks": "the driver's messages carry no TRANSACTION_CHECK_TIMES",
    "send_poison_half": _STORES_ALL,
    "send_undecodable_half": _READS_ALL,
    "send_half_again": _SENDS_ONCE,
    "roll_back_unrun": _SENDS_ONCE,
    "commit_what_is_gone": _KEEPS_ALL,
    "commit_another_half": _KEEPS_ALL,
    "fail_to_write_op": _STORES_ALL,
    "fail_to_write_op_batch": _STORES_ALL,
    "refuse_end_as_slave": _MASTER,
    "refuse_unreadable": _READS_ALL,
    "refuse_commit_unstored": _STORES_ALL,
    "ignore_repeated_end": _REPAIR,
    "pass_half_of_settled_transaction": _REPAIR,
    "pass_half_of_waiting_op": _REPAIR,
    "pass_over_long_immunity": _WRONG_REPAIR,
    "discard_half_unrecorded": _STORES_ALL,
    "discard_instead_of_check": _REPAIR,
    "discard_what_cannot_be_copied": _REPAIR,
    "put_back_unasked": _ALWAYS_CONNECTED,
    "jump_to_queue_end": _KEEPS_ALL,
    "jump_over_half": _READS_ALL,
    "end_round_at_missed_half": _READS_ALL,
    "abort_at_null_result": _READS_ALL,
    "abort_at_undecodable_half": _READS_ALL,
    "fail_to_begin_round": _READS_ALL,
    "abort_at_next_ops": _READS_ALL,
    "abort_at_unreadable_pull": _READS_ALL,
    "spin_at_failed_check": _STORES_ALL,
    "spin_at_failed_immunity": _STORES_ALL,
    "corrupt_op": _READS_ALL,
    "flush_log": _KEEPS_ALL,
    "lose_power": _KEEPS_ALL,
    "double_end": _ONE_END,
    "overtake": _ONE_END,
    "lose_all_producers": _ALWAYS_CONNECTED,
    "restart_producers": _ALWAYS_CONNECTED,
    "connect_again": _ALWAYS_CONNECTED,
    "become_slave": _MASTER,
    "become_master": _MASTER,
    "act_for_dead_master": _MASTER,
    "let_half_escape": _MASTER,
    "let_half_escape_unclearly": _MASTER,
    "give_half_up": _MASTER,
    "pull_more_ops_before_escape": _REPAIR,
    "deliver_escaped": _MASTER,
    "roll_back_escaped": _MASTER,
    "bring_master_back": _MASTER,
    "bring_master_back_with_its_own_offsets": _MASTER,
    "set_half_offset_back": _NO_REGRESSION,
    "set_op_offset_back": _NO_REGRESSION,
    "resume_discarded": _NO_ADMIN,
    "stop": _NO_STOP,
    "step_clock_back": _ONE_CLOCK,
}
"""Actions that the broker is spared. With all of the faults above away, none of them is possible in a version."""

LEFT_OUT_RULES: Final = {
    "a producer is connected": _ALWAYS_CONNECTED,
    "a producer of its group is connected": _ALWAYS_CONNECTED,
    "the half that the send stored is there": _KEEPS_ALL,
    "it is not beyond the end, or has jumped before": _KEEPS_ALL,
    "the broker is the master": _MASTER,
    "the broker is the master or acts for it": _MASTER,
    "the broker is the master, so that its store takes messages": _MASTER,
    "the broker is not dead": _MASTER,
    "it can be decoded": _READS_ALL,
    "the half can be decoded": _READS_ALL,
    "the first op messages can be decoded, or left out": _READS_ALL,
    "the next op messages can be decoded, or left out": _READS_ALL,
    "the last pull gave a message that can be decoded, or none": _READS_ALL,
    "a copy of it can be stored": _STORES_ALL,
    "it was not born in the future": _ONE_CLOCK,
    "the instance has stray END_TRANSACTIONs left": "the instance has as many as an example has steps",
}
"""Rules of guards that are never broken in the lockstep, each with the reason: they are not counted as open."""

DRIVEN_FAULTS: Final = (
    "slow_local",
    "lose_end",
    "lose_check",
    "duplicate_end",
    "wrong_end",
    "late_end",
    "slow_round",
    "slow_dispatch",
    "crash",
)
"""The faults that the lockstep can do to the broker: all that it is run with when none are named."""


def driven(machine: Machine) -> Machine:
    """The machine without the actions that are left out.

    Raises
    ------
    ModelCheckError
        An action is neither driven nor left out.
    """
    moved = {name for names in KINDS.values() for name in names}
    for action in machine.actions:
        if action.name not in moved and action.name not in LEFT_OUT_ACTIONS:
            msg = (
                f"the lockstep does not know the action {action.name}: drive it (fuzz.moves), or say why it is left out"
            )
            raise ModelCheckError(msg)
    return replace(machine, actions=tuple(a for a in machine.actions if a.name not in LEFT_OUT_ACTIONS))


def require_driven(faults: Iterable[str]) -> None:
    """Raise `ModelCheckError` for a fault that the broker is spared, with the reason."""
    for fault in faults:
        if fault in LEFT_OUT_FAULTS:
            msg = f"no lockstep with {fault}: {LEFT_OUT_FAULTS[fault]}; there are {', '.join(DRIVEN_FAULTS)}"
            raise ModelCheckError(msg)


DRIVEN: Final = driven(TRANSACTIONAL_MESSAGES)
"""The specification, as far as the lockstep drives it."""
