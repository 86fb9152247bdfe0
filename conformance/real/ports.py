"""Free ports of this machine, and the one question that tells whether the name server knows the broker."""

from __future__ import annotations

import json
import socket
import struct
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from files.content import parse_json

LOOPBACK: Final = "127.0.0.1"
_GET_ROUTE: Final = 105
_DEFAULT_TOPIC: Final = "TBW102"
_ENCODING: Final = {"serializeTypeCurrentRPC": "JSON"}
"""Java's name servers do without it; that of rocketmq-rust closes the connection."""
_FAST_BEFORE: Final = 2
_TRIES: Final = 100


@dataclass(frozen=True, slots=True)
class Ports:
    """Where a run listens; the broker takes the port two before its own, too (``fastListenPort``)."""

    name_server: int
    broker: int
    high_availability: int

    @property
    def name_server_address(self) -> str:
        """Host and port."""
        return f"{LOOPBACK}:{self.name_server}"

    @property
    def broker_address(self) -> str:
        """Host and port."""
        return f"{LOOPBACK}:{self.broker}"


def free_ports() -> Ports:
    """Ports of loopback that nobody listens on at this moment.

    Raises
    ------
    OSError
        There are none.
    """
    for _ in range(_TRIES):
        with ExitStack() as held:

            def bound(port: int, held: ExitStack = held) -> int:
                one = held.enter_context(socket.socket())
                one.bind((LOOPBACK, port))
                return int(one.getsockname()[1])

            broker = bound(0)
            try:
                bound(broker - _FAST_BEFORE)
            except OSError:
                continue
            return Ports(bound(0), broker, bound(0))
    message = f"no two free ports with one between them after {_TRIES} tries"
    raise OSError(message)


def is_broker_known(ports: Ports) -> bool:
    """Whether the name server has a route for the topic that a broker brings along.

    A broker of 5.3.3 or 5.4.0 that has booted is often registered only ten seconds later.
    """
    header = {"code": _GET_ROUTE, "language": "JAVA", "version": 0, "opaque": 1, "flag": 0, **_ENCODING}
    request = json.dumps({**header, "extFields": {"topic": _DEFAULT_TOPIC}}).encode()
    try:
        with socket.create_connection((LOOPBACK, ports.name_server), timeout=3) as connection:
            connection.sendall(struct.pack(">ii", 4 + len(request), len(request)) + request)
            with connection.makefile("rb") as answer:
                _, header_length = struct.unpack(">ii", answer.read(8))
                told = parse_json(answer.read(header_length & 0xFFFFFF))
    except (OSError, ValueError, struct.error):
        return False
    return bool(told.get("code") == 0)
