"""Recognition of other protocols by the first bytes of a connection, with a remedy for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

_PREFIX: Final = 4
_HTTP_2_HEADER: Final = 9
_HTTP_2_FIRST_FRAMES: Final = (4, 7)
"""SETTINGS, with which a server begins, and GOAWAY."""


class Peer(NamedTuple):
    """A speaker of a foreign protocol: who that may be, and the remedy."""

    to_do: str
    who: str = ""


@dataclass(frozen=True, slots=True)
class ForeignProtocol:
    """A protocol that is not RocketMQ's remoting."""

    name: str
    """As one says what somebody speaks."""
    client: Peer
    server: Peer
    """One that speaks it to a broker, and a port that is taken for a broker's."""

    def described(self, peer: Peer, expected: str = "RocketMQ's remoting protocol") -> str:
        """One line: who speaks the protocol, and the remedy."""
        who = f" ({peer.who}?)" if peer.who else ""
        return f"it speaks {self.name}{who}, and {expected} was expected; {peer.to_do}"


_BROKER: Final = "give the address of a broker's listenPort, such as 10.0.0.5:10911"
HTTP_2: Final = ForeignProtocol(
    "HTTP/2",
    Peer(
        "gRPC SDKs (rocketmq-clients) connect to the port of --grpc-port, as they do to a proxy's, never to this one",
        "a gRPC client",
    ),
    Peer(_BROKER, "a gRPC proxy"),
)
HTTP: Final = ForeignProtocol(
    "HTTP", Peer("this port is for RocketMQ clients; orders over HTTP go to the control port"), Peer(_BROKER)
)
TLS: Final = ForeignProtocol(
    "TLS",
    Peer("connections are plain here; set tls.enable=false in the client"),
    Peer("give a port that takes plain connections (tls.server.mode=permissive or disabled), or --tls"),
)
PROXY: Final = ForeignProtocol("the PROXY protocol of a load balancer", Peer("connect without one"), Peer(_BROKER))

_REMOTING: Final = "RocketMQ's remoting protocol"
_AT_A_PROXY: Final = {
    HTTP.name: Peer("this port is for gRPC clients; orders over HTTP go to the control port"),
    TLS.name: Peer("connections are plain here; set enableSsl(false), or what the SDK has for it"),
    PROXY.name: PROXY.client,
    _REMOTING: Peer(
        "rocketmq-client 4.x and 5.x and client-go v2 connect to the broker's own port, that of --port",
        "a client that wants a broker or a name server",
    ),
}
HTTP_2_PREFACE: Final = b"PRI "
"""The first bytes of every gRPC client."""

LEAST_BYTES: Final = 5
"""So many bytes tell protocols apart: of remoting a length, and how its header is written."""

_BY_PREFIX: Final = {
    b"PRI ": HTTP_2,
    b"PROX": PROXY,
    b"HTTP": HTTP,
    **dict.fromkeys((b"GET ", b"POST", b"PUT ", b"HEAD", b"OPTI", b"DELE", b"CONN", b"PATC", b"TRAC"), HTTP),
}
_TLS_RECORDS: Final = (0x15, 0x16)
"""An alert, and a handshake; behind it stand a version of 3 and a number."""


def foreign_protocol(start: bytes | bytearray) -> ForeignProtocol | None:
    r"""The protocol with these first bytes, four at least; None for frames of remoting, and for what is not known.

    Examples
    --------
    >>> foreign_protocol(b"\x16\x03\x01\x02\0\1").name, foreign_protocol(b"\0\0\0\x80\0\0\0\x70{")
    ('TLS', None)
    """
    if start[0] in _TLS_RECORDS and start[1] == 3:
        return TLS
    if may_be_http_2(start) and len(start) >= _HTTP_2_HEADER:
        return HTTP_2
    return _BY_PREFIX.get(bytes(start[:_PREFIX]))


def line_of_no_grpc(start: bytes | bytearray) -> str:
    r"""What to say of a connection to a gRPC port with these first bytes, five at least, that are no gRPC client's.

    Examples
    --------
    >>> line_of_no_grpc(b"\0\0\0\x80\0\0\0\x70{").partition(",")[0]
    "it speaks RocketMQ's remoting protocol (a client that wants a broker or a name server?)"
    """
    known = foreign_protocol(start)
    is_remoting = start[0] <= 1 and start[4] <= 1 and start[:4] != bytes(4)
    protocol = ForeignProtocol(_REMOTING, *2 * (_AT_A_PROXY[_REMOTING],)) if is_remoting else known
    if protocol is None or protocol.name not in _AT_A_PROXY:
        return f"it begins with the bytes {bytes(start[:LEAST_BYTES]).hex(' ')}, and gRPC (HTTP/2) was expected"
    return protocol.described(_AT_A_PROXY[protocol.name], "gRPC (HTTP/2)")


def may_be_http_2(start: bytes | bytearray) -> bool:
    """Whether these can be the first bytes of an HTTP/2 server: a small first frame on stream 0.

    As a frame of remoting they would have an empty header, which no command has.
    """
    return start[:2] == b"\0\0" and start[3] in _HTTP_2_FIRST_FRAMES and not any(start[4:_HTTP_2_HEADER])


def shown_text(start: bytes | bytearray) -> str:
    """The first bytes, if they are text, such as a greeting; else ''."""
    text = bytes(start[:_PREFIX]).decode("latin-1")
    return f" (it begins with the text {text!r})" if text.isascii() and text.isprintable() else ""
