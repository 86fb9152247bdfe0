"""The control port: HTTP, an order a POST, JSON in and out, and a token without which nothing is done.

It speaks as much of HTTP/1.1 as a client of the standard library needs, and closes the connection behind each answer.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from files.content import parse_json
from reference.errors import BrokerError
from reference.format.errors import StoreError
from wire.connections import LOOPBACK, reachable_host
from wire.control.openapi import DESCRIPTION, HEALTH, openapi
from wire.control.orders import ORDERS, STOP, carry_out
from wire.errors import BadOrderError, WireError
from wire.order_arguments import of_texts

if TYPE_CHECKING:
    from wire.node.broker_node import BrokerNode

_MOST_BODY: Final = 1 << 16
_MOST_HEADERS: Final = 64
_MOST_DIGITS: Final = 18
_PATIENCE_SECONDS: Final = 10.0
_REASONS: Final = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    405: "Method Not Allowed",
    409: "Conflict",
    413: "Content Too Large",
    503: "Service Unavailable",
}


class ControlPort:
    """The port; a request must show its token, which is drawn if not given, as ``Authorization: Bearer TOKEN``.

    Whether clients reach the broker, it says without one.
    """

    def __init__(self, node: BrokerNode, host: str = LOOPBACK, port: int = 0, token: str | None = None) -> None:
        self.token = secrets.token_urlsafe(24) if token is None else token
        self.address = ""
        """``127.0.0.1:PORT``, once it listens."""
        self.waiting: set[asyncio.Task[None] | None] = set()
        """Who has given the order to stop, and is answered behind that."""
        self._node = node
        self._host = host
        self._port = port
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None] | None] = set()

    async def listen(self) -> None:
        """Begin to listen; `WireError` if the port is taken, or the address is none of this machine."""
        try:
            self._server = await asyncio.start_server(self._serve, self._host, self._port, limit=_MOST_BODY)
        except OSError as error:
            message = f"{self._host}:{self._port}: the control port can't listen there: {error.strerror}"
            raise WireError(message) from None
        self.address = f"{reachable_host(self._host)}:{self._server.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        """Listen no more, and end what is under way, but for who waits for the verdict."""
        if self._server is not None:
            self._server.close()
        for task in [task for task in self._open - self.waiting if task is not None]:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def answered(self) -> None:
        """Wait until whoever waits for the verdict has it."""
        if waiting := {task for task in self.waiting if task is not None}:
            await asyncio.wait(waiting, timeout=_PATIENCE_SECONDS)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self._open.add(task)
        try:
            with suppress(asyncio.CancelledError):  # the broker stops; streams of 3.11 log a task that was cancelled
                await self._serve_one(reader, writer)
        finally:
            self._open.discard(task)
            self.waiting.discard(task)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
            code, answer = await self._answer(reader)
            body = json.dumps(answer).encode() + b"\n"
            head = f"HTTP/1.1 {code} {_REASONS[code]}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
            writer.write(head.encode() + b"\r\nConnection: close\r\n\r\n" + body)
            await writer.drain()

    async def _answer(self, reader: asyncio.StreamReader) -> tuple[int, object]:
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                words = (await reader.readline()).decode("latin-1").split()
                headers = await _headers(reader)
            length = _length(headers.get("content-length", "0"))
        except ValueError as error:
            return 400, {"error": f"not a request of HTTP/1.1: {error}"}
        if words[:2] == ["GET", f"/{HEALTH}"]:
            return (200 if self._node.serves else 503), {"is_up": self._node.serves}
        if not hmac.compare_digest(headers.get("authorization", "").encode(), f"Bearer {self.token}".encode()):
            return 401, {"error": "Authorization: Bearer TOKEN is missing or wrong; the token is printed at the start"}
        if not 0 <= length <= _MOST_BODY:
            return 413, {"error": f"a body of {length} bytes; at most {_MOST_BODY} were expected"}
        if len(words) != 3 or words[0] not in ("GET", "POST"):
            return 400, {"error": "expected POST /ORDER with a JSON object, or GET /status"}
        async with asyncio.timeout(_PATIENCE_SECONDS):
            body = await reader.readexactly(length)
        path, _, query = words[1].partition("?")
        name = path.strip("/") or "status"
        if words[0] == "GET":
            return await self._read(name, query)
        try:
            arguments: Any = parse_json(body) if body else {}
        except (ValueError, RecursionError) as error:
            return 400, {"error": f"the body is no JSON: {error}"}
        if not isinstance(arguments, dict):
            return 400, {"error": f"the body is a {type(arguments).__name__}; an object was expected"}
        return await self._carry_out(name, arguments)

    async def _read(self, name: str, query: str) -> tuple[int, object]:
        if name == DESCRIPTION:
            return 200, openapi()
        order = ORDERS.get(name)
        if order is not None and not order.reads:
            return 405, {"error": f"GET /{name}: it changes something; POST it"}
        given = parse_qsl(query, keep_blank_values=True)
        return await self._carry_out(name, of_texts({} if order is None else order.takes, given))

    async def _carry_out(self, name: str, arguments: dict[str, Any]) -> tuple[int, object]:
        if name == STOP:
            self.waiting.add(asyncio.current_task())
        try:
            return 200, await carry_out(self._node, name, arguments)
        except BadOrderError as error:
            return 404 if "order '" in str(error) else 400, {"error": str(error)}
        except (BrokerError, StoreError, WireError) as error:
            return 409, {"error": str(error)}
        except asyncio.CancelledError:
            return 409, {"error": f"{name}: the broker was told to stop before this was done"}


def _length(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > _MOST_DIGITS:
        message = f"Content-Length is {text[:40]!r}; a number of bytes was expected"
        raise ValueError(message)
    return int(text)


async def _headers(reader: asyncio.StreamReader) -> dict[str, str]:
    headers: dict[str, str] = {}
    for _ in range(_MOST_HEADERS):
        line = (await reader.readline()).decode("latin-1").strip()
        if not line:
            return headers
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    message = f"more than {_MOST_HEADERS} headers"
    raise ValueError(message)
