"""Errors of connections, and of orders to a broker on the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wire.remoting.foreign_protocols import ForeignProtocol


class WireError(Exception):
    """The root of this family; the message is one line that names the value and what was expected."""

    exit_code: int = 150


class MalformedFrameError(WireError):
    """Bytes on a connection that are no remoting command: the connection is closed, and nothing else disturbed."""


class ForeignProtocolError(MalformedFrameError):
    """Another protocol than remoting is spoken, the message says, by a client; `protocol` says it of a server, too."""

    def __init__(self, protocol: ForeignProtocol) -> None:
        super().__init__(protocol.described(protocol.client))
        self.protocol = protocol


class BadRequestError(WireError):
    """A request lacks a field or has one that is no number; the broker answers SYSTEM_ERROR, as RocketMQ does."""


class BadOrderError(WireError):
    """The control port was asked for something that it does not know or that can't be done now."""

    exit_code: int = 151
