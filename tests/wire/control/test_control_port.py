"""The control port does nothing without its token, listens on loopback alone, and refuses what it does not know."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING

import pytest

from tests.wire.one_broker import broker
from wire.control.controller import Controller, order_of_words
from wire.control.orders import ORDERS
from wire.errors import BadOrderError, WireError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wire.broker_thread import BrokerThread


@pytest.fixture
def running(tmp_path: Path) -> Iterator[BrokerThread]:
    with broker(tmp_path, host="0.0.0.0") as one:  # noqa: S104 - it is the control port that must not follow
        yield one


def ask(running: BrokerThread, request: bytes) -> tuple[int, dict[str, object]]:
    with socket.create_connection((running.controller.host, running.controller.port), 10) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while data := connection.recv(1 << 16):
            answer += data
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def request(running: BrokerThread, name: str, body: bytes, token: str | None = None) -> bytes:
    token = running.controller.token if token is None else token
    head = f"POST /{name} HTTP/1.1\r\nAuthorization: Bearer {token}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def test_it_listens_on_loopback_whatever_the_broker_listens_on(running: BrokerThread) -> None:
    assert running.address.startswith("127.0.0.1:")
    assert running.controller.host == "127.0.0.1"


@pytest.mark.parametrize("token", ["", "wrong", "Bearer"])
def test_without_its_token_nothing_is_done(running: BrokerThread, token: str) -> None:
    code, answer = ask(running, request(running, "crash", b"{}", token))
    assert code == 401
    assert "the token is printed at the start" in str(answer["error"])
    stranger = Controller(f"{running.controller.host}:{running.controller.port}", token)
    with pytest.raises(WireError, match="missing or wrong"):
        stranger.crash()
    assert running.controller.status()["died"] == 0


@pytest.mark.parametrize(
    ("name", "body", "code"),
    [
        ("nonsense", b"{}", 404),
        ("push_clock", b"[]", 400),
        ("push_clock", b"{", 400),
        ("push_clock", b'{"ms": true}', 400),
        ("push_clock", b'{"ms": -5}', 400),
        ("push_clock", b'{"seconds": 5}', 400),
        ("role", b'{"role": "king"}', 400),
        ("crash", b'{"at_write": -1}', 400),
        ("fault", b'{"fault": "__import__(\'os\')"}', 400),
    ],
)
def test_an_order_that_is_none_is_refused_in_one_line(running: BrokerThread, name: str, body: bytes, code: int) -> None:
    found, answer = ask(running, request(running, name, body))
    assert found == code
    assert "\n" not in str(answer["error"])
    assert running.controller.status()["died"] == 0


def get(running: BrokerThread, target: str) -> tuple[int, dict[str, object]]:
    head = f"GET /{target} HTTP/1.1\r\nAuthorization: Bearer {running.controller.token}\r\n\r\n"
    return ask(running, head.encode())


def test_a_get_reads_and_changes_nothing(running: BrokerThread) -> None:
    assert get(running, "status")[1]["is_up"] is True
    assert get(running, "transactions?key=4711")[1]["transactions"] == []
    assert get(running, "wait?producer=nobody&timeout_ms=0")[1]["came"] is False
    code, answer = get(running, "wait?producer=nobody&timeout_ms=soon")
    assert (code, answer["error"]) == (
        400,
        "wait: timeout_ms is 'soon', expected a whole number: for how long at most, in real milliseconds",
    )
    assert get(running, "crash")[0] == 405
    assert get(running, "nonsense")[0] == 404
    assert running.controller.status()["died"] == 0


def test_an_order_that_lacks_what_it_takes_is_refused(running: BrokerThread) -> None:
    with pytest.raises(BadOrderError, match="unreachable_producer: group is missing, expected a text: the producer"):
        running.controller.order("unreachable_producer")
    with pytest.raises(BadOrderError, match="push_clock: ms is missing, expected 1 to"):
        running.controller.order("push_clock")


def test_a_value_in_words_is_what_the_order_takes() -> None:
    assert order_of_words(["fault", "fault=lose_end", "key=4711", "times=null"]) == (
        "fault",
        {"fault": "lose_end", "key": "4711", "times": None},
    )


def test_what_is_no_http_and_what_is_too_long_is_refused(running: BrokerThread) -> None:
    assert ask(running, b"\0\0\0\5hello\r\n\r\n")[0] == 401
    authorization = f"Authorization: Bearer {running.controller.token}\r\n".encode()
    assert ask(running, b"PUT /status HTTP/1.1\r\n" + authorization + b"\r\n")[0] == 400
    assert ask(running, b"POST /status HTTP/1.1\r\n" + authorization + b"Content-Length: 99999999\r\n\r\n")[0] == 413
    assert ask(running, b"POST /status HTTP/1.1\r\n" + authorization + b"Content-Length: ten\r\n\r\n")[0] == 400
    assert running.controller.status()["is_up"]


def test_what_cannot_be_done_while_the_process_is_gone_is_said(tmp_path: Path) -> None:
    with broker(tmp_path, restart_ms=60_000) as running:
        running.controller.crash()
        assert running.controller.status()["is_up"] is False
        with pytest.raises(WireError, match="the broker's process is gone"):
            running.controller.role("slave")


def test_whether_clients_reach_it_is_said_without_a_token(tmp_path: Path) -> None:
    asks = b"GET /health HTTP/1.1\r\n\r\n"
    with broker(tmp_path, restart_ms=60_000) as running:
        assert ask(running, asks) == (200, {"is_up": True})
        assert ask(running, asks.replace(b"GET", b"POST"))[0] == 401
        running.controller.crash()
        assert ask(running, asks) == (503, {"is_up": False})


@pytest.mark.parametrize("words", [[], ["push_clock", "60000"], ["push_clock", "=1"]])
def test_words_that_are_no_order_are_refused(words: list[str]) -> None:
    with pytest.raises(BadOrderError, match=r"an order is missing|expected NAME=VALUE"):
        order_of_words(words)


def test_every_order_is_on_its_page() -> None:
    from pathlib import Path

    page = (Path(__file__).parents[3] / "docs" / "broker.md").read_text(encoding="utf-8")
    assert [name for name in ORDERS if f"| `{name}` |" not in page] == []
