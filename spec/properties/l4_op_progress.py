"""L4, op progress: if halves get settled, the op offset reaches the end of the op queue.

As a safety property: a round that has read all op messages and passed all halves leaves no op message behind.
"""

from __future__ import annotations

from spec.constants import Constants
from spec.language import always, sometimes
from spec.state import State


def stands_at_an_undecodable_op(s: State, c: Constants) -> bool:
    """The op offset is that of an op message that cannot be decoded."""
    return any(o == s.offsets.op and s.op[o].undecodable for o in range(c.op_slots))


@always("L4", clause="left_behind", resembles=("A03", "A10", "B44", "B48", "B49"))
def a_full_round_leaves_no_op_behind(s: State, c: Constants) -> bool:
    """A round that has read all op messages and passed all halves moves the op offset to the end."""
    return not s.op_left_behind or stands_at_an_undecodable_op(s, c)


@always("L4", clause="undecodable_op", resembles=("B17",), needs=("undecodable_op",))
def an_undecodable_op_does_not_hold_the_offset(s: State, c: Constants) -> bool:
    """The op offset does not stay at an op message that cannot be decoded, when a round has met all halves."""
    return not (s.op_left_behind and stands_at_an_undecodable_op(s, c))


@sometimes("L4")
def the_op_offset_reaches_the_end(s: State, c: Constants) -> bool:
    """The op offset stands at the end of a queue that has messages."""
    return s.op_length > 0 and s.offsets.op == s.op_length
