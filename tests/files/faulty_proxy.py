"""A server in front of an HTTP server: it hands on what comes, or answers by an error, or holds it back for a while."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

_ERROR = "<?xml version='1.0'?><Error><Code>{code}</Code><Message>{message}</Message></Error>"


@dataclass
class Faults:
    """What goes wrong from now on: so many requests of a method fail by a status, or get no answer; all are slow."""

    status: int = 503
    hangs_up: bool = False
    code: str = "SlowDown"
    count: int = 0
    method: str = ""
    delay_seconds: float = 0.0
    ignores_conditions: bool = False
    seen: list[str] = field(default_factory=list)

    def next_fails(self, method: str) -> bool:
        """Whether this request is to fail."""
        if self.count and self.method in ("", method):
            self.count -= 1
            return True
        return False


@contextmanager
def faulty_proxy(endpoint: str) -> Iterator[tuple[str, Faults]]:
    """Give the address of a proxy, and its faults; requests keep their headers, and so their signature."""
    faults, behind = Faults(), urlsplit(endpoint)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_arguments: object) -> None:
            pass

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            faults.seen.append(f"{self.command} {self.path}")
            time.sleep(faults.delay_seconds)
            if faults.next_fails(self.command):
                if faults.hangs_up:
                    self.close_connection = True
                    return
                self._send(faults.status, {}, _ERROR.format(code=faults.code, message="by order of a test").encode())
                return
            if faults.ignores_conditions and self.headers.get(
                "If-None-Match"
            ):  # which is signed, and can't be left out
                self._send(200, {"ETag": '"1"'}, b"")
                return
            connection = HTTPConnection(behind.hostname or "", behind.port)
            try:
                connection.request(self.command, self.path, body, dict(self.headers))
                answer = connection.getresponse()
                self._send(answer.status, dict(answer.getheaders()), answer.read())
            except OSError:
                self.close_connection = True
            finally:
                connection.close()

        def _send(self, status: int, headers: dict[str, str], content: bytes) -> None:
            self.send_response_only(status)
            for name, value in headers.items():
                if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                    self.send_header(name, value)
            length = headers.get("Content-Length", str(len(content))) if self.command == "HEAD" else str(len(content))
            self.send_header("Content-Length", length)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _answer  # noqa: N815 (as http.server asks for them)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", faults
    finally:
        server.shutdown()
        server.server_close()
