"""What keeps an instance small: how often something may go wrong in it. RocketMQ knows nothing of these bounds."""

from __future__ import annotations

from spec.constants import Constants
from spec.language import NONE, within
from spec.state import State


def room_for_a_mishap(s: State, c: Constants) -> None:
    """What goes wrong in the broker, but for its process dying, goes wrong so often at most."""
    within(s.mishaps < c.mishaps, "the instance has mishaps left")


def room_for_a_crash(s: State, c: Constants) -> None:
    """The broker's process dies so often at most, where that is counted."""
    within(c.crashes == NONE or s.crashes < c.crashes, "the instance has crashes left")


def within_reach(c: Constants, place: int, offset: int) -> None:
    """A fault finds what stands at a place below an offset, and is over."""
    within(c.reach == NONE or place + c.reach >= offset, "the instance lets faults reach so far back")


def room_for_a_stray_end(s: State, c: Constants) -> None:
    """So many END_TRANSACTIONs at most come that no outcome and no check accounts for."""
    within(s.stray_ends < c.stray_ends, "the instance has stray END_TRANSACTIONs left")
