"""A request as a handler sees it: its fields by type, who sent it, its JSON, and the answers that it may get.

RocketMQ's bodies have objects as keys, as fastjson writes them and no other JSON knows.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from files.content import parse_json
from wire.errors import BadRequestError
from wire.remoting.codes import ResponseCode, version_of
from wire.remoting.command import RESPONSE_FLAG, RemotingCommand, java_text

_NAMES_QUEUE_SINCE = version_of("5.3.2")
_LONGEST_NAME = 255
_LEGAL = re.compile(f"[%|a-zA-Z0-9_-]{{1,{_LONGEST_NAME}}}")

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wire.node.surroundings import ClientChannel


@dataclass(frozen=True, slots=True)
class Request:
    """One request of a connection; `version` is that of the answers.

    A field that is missing and has no default, or is not what it must be, is a `BadRequestError`.
    """

    command: RemotingCommand
    connection: ClientChannel
    version: int

    @property
    def body(self) -> bytes:
        """The body."""
        return self.command.body

    def text(self, name: str, default: str | None = None) -> str:
        """A field (``RemotingCommand#decodeCommandCustomHeader``)."""
        value = self.command.fields.get(name, default)
        if value is None:
            message = f"the custom field <{name}> is null"
            raise BadRequestError(message)
        return value

    def name(self, field: str, default: str | None = None) -> str:
        """A field that names a topic or a group; it may become the name of a folder."""
        return legal_name(self.text(field, default))

    def number(self, name: str, default: int | None = None) -> int:
        """A field that is a whole number."""
        text = self.text(name, None if default is None else str(default))
        try:
            return int(text)
        except ValueError:
            message = f'java.lang.NumberFormatException: For input string: "{text[:40]}" in {name}'
            raise BadRequestError(message) from None

    def flag(self, name: str) -> bool:
        """A field that is true or false; false if it is missing (``Boolean#parseBoolean``)."""
        return self.command.fields.get(name, "").lower() == "true"

    def refuse_queue(self, remark: str) -> RemotingCommand:
        """Say that there is no such queue (``AbstractSendMessageProcessor#msgCheck``, ``PullMessageProcessor``).

        Since #9027 that has a code of its own.
        """
        return self.answer(
            ResponseCode.INVALID_PARAMETER if self.version >= _NAMES_QUEUE_SINCE else ResponseCode.SYSTEM_ERROR, remark
        )

    def answer(
        self,
        code: int = ResponseCode.SUCCESS,
        remark: str | None = None,
        fields: Mapping[str, object] | None = None,
        body: bytes = b"",
    ) -> RemotingCommand:
        """An answer; fields that are None are left out, booleans are written as Java does.

        A real broker answers in JSON even where a request came with a binary header, as the type of its answers is set
        for the whole process (``RemotingCommand#serializeTypeConfigInThisServer``).
        """
        given = {} if fields is None else fields
        return RemotingCommand(
            code=int(code),
            fields={name: java_text(value) for name, value in given.items() if value is not None},
            body=body,
            opaque=self.command.opaque,
            flag=RESPONSE_FLAG,
            remark=remark,
            version=self.version,
        )


def legal_name(name: str) -> str:
    """The same name, or `BadRequestError` if no topic or group may have it (``TopicValidator#validateTopic``)."""
    if not _LEGAL.fullmatch(name):
        message = (
            f"The specified topic or group {name[:40]!r} contains illegal characters, "
            f"allowing only {_LEGAL.pattern} and at most {_LONGEST_NAME} of them"
        )
        raise BadRequestError(message)
    return name


def body_of(value: object) -> bytes:
    """The body of a value (``RemotingSerializable#encode``)."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def object_in(body: bytes, what: str) -> dict[str, Any]:
    """The object that a body holds; `BadRequestError` if it holds none."""
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
