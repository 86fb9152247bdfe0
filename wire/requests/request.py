"""A request as a handler sees it: its fields by type, who sent it, and the answers that it may get."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wire.errors import BadRequestError
from wire.remoting.codes import ResponseCode
from wire.remoting.command import RESPONSE_FLAG, RemotingCommand

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wire.connections.connection import Connection


@dataclass(frozen=True, slots=True)
class Request:
    """One request of a connection; `version` is what the broker calls itself in answers."""

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
        told = {} if fields is None else fields
        return RemotingCommand(
            code=int(code),
            fields={name: _java_text(value) for name, value in told.items() if value is not None},
            body=body,
            opaque=self.command.opaque,
            flag=RESPONSE_FLAG,
            remark=remark,
            version=self.version,
        )


def _java_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
