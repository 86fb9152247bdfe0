"""What the lockstep leaves out because the reference broker, or its driver, cannot do it: each with the reason.

Every fault is driven, and every action of the specification is driven or stands here, so that none is passed over.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fuzz.search.workloads import KINDS
from model_check.errors import ModelCheckError
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spec.constants import Constants
    from spec.language import Machine

_REPAIR: Final = "a repair that is in no version"
_WRONG_REPAIR: Final = "a repair that was proposed and is in no version"

LEFT_OUT_ACTIONS: Final = {
    "ignore_repeated_end": _REPAIR,
    "pass_half_of_settled_transaction": _REPAIR,
    "pass_half_of_waiting_op": _REPAIR,
    "pass_over_long_immunity": _WRONG_REPAIR,
    "discard_instead_of_check": _REPAIR,
    "discard_what_cannot_be_copied": _REPAIR,
    "pull_more_ops_before_escape": _REPAIR,
}
"""Actions that the broker is spared; none of them is possible in a version."""

_ACTING: Final = ("acting_slave", "escapes")
_SLAVE: Final = (("role_change",), _ACTING)
_UNREADABLE: Final = (("undecodable_half",),)
_MISSED: Final = (("null_half",), ("undecodable_half", "-undecodable_throws"))
_BATCH: Final = (("batches_ops",),)

NEEDS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "write_op_batch": _BATCH,
    "fail_to_write_op_batch": (("batches_ops", "op_write_failure"), ("batches_ops", "role_change")),
    "fail_to_write_op": (("-batches_ops", "op_write_failure"), ("-batches_ops", "role_change")),
    "refuse_end_as_slave": _SLAVE,
    "refuse_unreadable": _UNREADABLE,
    "commit_what_is_gone": (("power_loss",),),
    "commit_another_half": (("power_loss",),),
    "connect_again": (("offline_producer",),),
    "put_back_unasked": (("offline_producer",), ("restarted_producer",)),
    "jump_to_queue_end": (("power_loss",),),
    "jump_over_half": _MISSED,
    "end_round_at_missed_half": _MISSED,
    "abort_at_undecodable_half": (("undecodable_half", "undecodable_throws"),),
    "fail_to_begin_round": (("undecodable_op", "undecodable_throws"),),
    "abort_at_next_ops": (("undecodable_op", "undecodable_throws"),),
    "abort_at_unreadable_pull": (("undecodable_op", "-undecodable_throws"),),
    "spin_at_failed_check": (("put_failure",),),
    "spin_at_failed_immunity": (("put_failure",),),
    "become_master": (("role_change",),),
    "resume_discarded": (("resume_discarded", "keeps_discarded"),),
    "let_half_escape": (_ACTING,),
    "let_half_escape_unclearly": (_ACTING,),
    "give_half_up": (_ACTING,),
    "deliver_escaped": (_ACTING,),
    "roll_back_escaped": (_ACTING,),
    "bring_master_back": (_ACTING,),
    "bring_master_back_with_its_own_offsets": (_ACTING,),
}
"""What an action needs to be possible in some state, of switches and faults, where its guard alone does not say so.

Each alternative is a tuple of names that must be on, or off where a `-` stands before it.
"""


def may_happen(action: str, constants: Constants) -> bool:
    """Whether profile and environment have what an action needs."""
    return action not in NEEDS or any(
        all(getattr(constants, name.lstrip("-")) != name.startswith("-") for name in needed) for needed in NEEDS[action]
    )


LEFT_OUT_RULES: Final = {
    "the instance has stray END_TRANSACTIONs left": "the instance has as many as an example has steps",
    "the instance has mishaps left": "the instance has as many as an example has steps",
}
"""Rules of guards that are never broken in the lockstep, each with the reason: they are not counted as open."""


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
            msg = f"the lockstep does not know the action {action.name}: drive it, or say why it is left out"
            raise ModelCheckError(msg)
    return replace(machine, actions=tuple(a for a in machine.actions if a.name not in LEFT_OUT_ACTIONS))


DRIVEN: Final = driven(TRANSACTIONAL_MESSAGES)
"""The specification, as far as the lockstep drives it."""
