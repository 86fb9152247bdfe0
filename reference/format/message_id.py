"""Offset message ids: where a record lies, as text (``MessageDecoder#createMessageId``)."""

from __future__ import annotations

from reference.format.offsets import CommitLogOffset
from reference.format.stored_message import host_bytes


def create_message_id(store_host: str, commit_log_offset: CommitLogOffset) -> str:
    """The id of a record: address, port and commit log offset in hexadecimal digits.

    Examples
    --------
    >>> create_message_id("127.0.0.1:40745", CommitLogOffset(349))
    '7F00000100009F29000000000000015D'
    """
    return f"{host_bytes(store_host).hex()}{commit_log_offset:016x}".upper()


def decode_message_id(message_id: str) -> CommitLogOffset:
    """The commit log offset in an offset message id (``MessageDecoder#decodeMessageId``).

    Raises
    ------
    ValueError
        Its last 16 characters are not hexadecimal digits.

    Examples
    --------
    >>> decode_message_id("7F00000100009F29000000000000015D")
    349
    """
    return CommitLogOffset(int(message_id[-16:], 16))
