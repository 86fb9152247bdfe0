"""The protocol without its symmetry reduction: transactions are numbered in any order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from spec.half_queue import append_half, room_for_a_half
from spec.language import action, among, declared_action, each, require
from spec.state import Local, State
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from spec.constants import Constants


@action(event="half_stored", t=each("transactions"), immunity=among("immunities"))
def send_half(s: State, c: Constants, t: int, immunity: int) -> None:
    """What `spec.producer.send_half` is, but for the order."""
    require(s.transaction[t].local == Local.NOT_SENT, "the transaction was not sent yet")
    room_for_a_half(s, c)
    s.transaction[t].local = Local.EXECUTING
    s.transaction[t].immunity = immunity
    s.transaction[t].first_half = s.half_length
    append_half(s, t, s.now)


IN_ORDER = replace(TRANSACTIONAL_MESSAGES, symmetric="transaction")
ANY_ORDER = replace(
    TRANSACTIONAL_MESSAGES,
    actions=tuple(declared_action(send_half) if a.name == "send_half" else a for a in TRANSACTIONAL_MESSAGES.actions),
)
