"""A request as a handler sees it: its fields by type, who sent it, and the answers that it may get."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wire.errors import BadRequestError
from wire.remoting.codes import ResponseCode
from wire.remoting.command import RESPONSE_FLAG, RemotingCommand, java_text
from wire.remoting.versions import version_of

_NAMES_QUEUE_SINCE = version_of("5.3.2")
_LONGEST_NAME = 255
_LEGAL = re.compile(f"[%|a-zA-Z0-9_-]{{1,{_LONGEST_NAME}}}")

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wire.connections.connection import Connection


@dataclass(frozen=True, slots=True)
class Request:
    """One request of a connection; `version` is that of the answers."""

    command: RemotingCommand
    connection: Connection
    version: int

    @property
    def body(self) -> bytes:
        """The body."""
        return self.command.body

    def text(self, name: str, default: str | None = None) -> str:
        """A field.

        Raises
        ------
        BadRequestError
            It is missing, and there is no default (``RemotingCommand#decodeCommandCustomHeader``).
        """
        value = self.command.fields.get(name, default)
        if value is None:
            message = f"the custom field <{name}> is null"
            raise BadRequestError(message)
        return value

    def name(self, field: str, default: str | None = None) -> str:
        """A field that names a topic or a group; it may become the name of a folder.

        Raises
        ------
        BadRequestError
            It is missing, or has characters that RocketMQ refuses.
        """
        return legal_name(self.text(field, default))

    def number(self, name: str, default: int | None = None) -> int:
        """A field that is a whole number.

        Raises
        ------
        BadRequestError
            It is missing without a default, or none.
        """
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
    """The same name, if a topic or a group may have it (``TopicValidator#validateTopic``).

    Raises
    ------
    BadRequestError
        It may not.
    """
    if not _LEGAL.fullmatch(name):
        message = (
            f"The specified topic or group {name[:40]!r} contains illegal characters, "
            f"allowing only {_LEGAL.pattern} and at most {_LONGEST_NAME} of them"
        )
        raise BadRequestError(message)
    return name
