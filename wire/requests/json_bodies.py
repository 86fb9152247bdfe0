"""JSON as RocketMQ's bodies have it: fastjson writes objects as keys, which no other JSON knows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from files.content import parse_json
from wire.errors import BadRequestError

if TYPE_CHECKING:
    from collections.abc import Iterable


def body_of(value: object) -> bytes:
    """The body of a value (``RemotingSerializable#encode``)."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def object_in(body: bytes, what: str) -> dict[str, Any]:
    """The object that a body holds.

    Raises
    ------
    BadRequestError
        It holds none.
    """
    try:
        value = parse_json(body)
    except (ValueError, RecursionError) as error:
        message = f"the body of {what} is no JSON: {error}"
        raise BadRequestError(message) from None
    if not isinstance(value, dict):
        message = f"the body of {what} is a {type(value).__name__}; an object was expected"
        raise BadRequestError(message)
    return value


def table_by_queue(name: str, rows: Iterable[tuple[dict[str, Any], dict[str, Any]]], **more: object) -> bytes:
    """A table whose keys are queues, with further fields behind it.

    Examples
    --------
    >>> table_by_queue("offsetTable", [({"topic": "T"}, {"maxOffset": 3})], consumeTps=0.0)
    b'{"consumeTps":0.0,"offsetTable":{{"topic":"T"}:{"maxOffset":3}}}'
    """
    entries = b",".join(body_of(key) + b":" + body_of(value) for key, value in rows)
    begin = b"".join(body_of(key) + b":" + body_of(value) + b"," for key, value in more.items())
    return b"{" + begin + body_of(name) + b":{" + entries + b"}}"


def queue_key(broker_name: str, topic: str, queue_id: int) -> dict[str, Any]:
    """``MessageQueue``."""
    return {"brokerName": broker_name, "queueId": queue_id, "topic": topic}
