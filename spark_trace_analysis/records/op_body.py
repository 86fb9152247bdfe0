"""The body of an op message: which half queue offsets it resolves."""

from __future__ import annotations

from reference.format.record import QueueOffset

SEPARATOR = ","
"""``TransactionalMessageUtil.OFFSET_SEPARATOR``, 5.1.0 and later."""


def parse_op_body(body: bytes) -> list[QueueOffset] | None:
    """The half queue offsets in an op body, in their order and with repeats; None if it can't be understood.

    Up to 5.0 it is one decimal number (``TransactionalMessageBridge#addRemoveTagInTransactionOp``), from 5.1 on a list
    in which each offset is followed by a comma (``TransactionalOpBatchService``).

    Examples
    --------
    >>> parse_op_body(b"7"), parse_op_body(b"7,6,6,"), parse_op_body(b"x")
    ([7], [7, 6, 6], None)
    """
    try:
        items = body.decode("ascii").split(SEPARATOR)
    except UnicodeDecodeError:
        return None
    if items[-1] == "":
        items.pop()
    if not items or not all(item.isdecimal() for item in items):
        return None
    return [QueueOffset(int(item)) for item in items]


def is_batched(body: bytes) -> bool:
    """Whether the body is of the kind that 5.1 and later write."""
    return b"," in body
