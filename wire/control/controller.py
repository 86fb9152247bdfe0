"""A Python object that gives orders to a broker over its control port."""

from __future__ import annotations

import json
import shlex
from http.client import HTTPConnection
from typing import Any

from files.content import parse_json
from wire.control.orders import ORDERS, STOP, order_called
from wire.errors import BadOrderError, WireError
from wire.order_arguments import of_texts

_SECONDS = 60


class Controller:
    """The other side of a control port.

    Parameters
    ----------
    address, token
        As the broker printed them at its start.

    Examples
    --------
    ``Controller("127.0.0.1:4711", token).fault("double_end", key="order-7")``
    """

    def __init__(self, address: str, token: str) -> None:
        host, _, port = address.rpartition(":")
        if not host or not port.isdecimal():
            message = f"{address!r}: expected the control port's HOST:PORT, as the broker printed it"
            raise BadOrderError(message)
        self.host, self.port, self.token = host, int(port), token

    def order(self, name: str, /, **arguments: object) -> dict[str, Any]:
        """Give an order, and wait until it is carried out; gives what is answered.

        Raises
        ------
        BadOrderError
            The broker does not know it, or not so.
        WireError
            Nobody answers there, the token is wrong, or it can't be done now.
        """
        connection = HTTPConnection(self.host, self.port, timeout=_patience(name))
        try:
            headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
            connection.request("POST", f"/{name}", json.dumps(arguments), headers)
            response = connection.getresponse()
            answer = parse_json(response.read())
        except (OSError, ValueError) as error:
            message = f"{self.host}:{self.port}: no control port answers there: {error}"
            raise WireError(message) from None
        finally:
            connection.close()
        if response.status == 200:
            return dict(answer)
        kind = BadOrderError if response.status in (400, 404) else WireError
        raise kind(answer.get("error", f"HTTP {response.status}"))

    def status(self) -> dict[str, Any]:
        """The state of the broker."""
        return self.order("status")

    def push_clock(self, ms: int) -> None:
        """Let time pass at once, and all that is due in it happen."""
        self.order("push_clock", ms=ms)

    def step_clock(self, ms: int) -> None:
        """Set the broker's wall clock forward or back."""
        self.order("step_clock", ms=ms)

    def crash(self, at_write: int = 0) -> None:
        """Kill the process now, or at one of its next writes; it starts again by itself."""
        self.order("crash", at_write=at_write)

    def restart(self) -> None:
        """Shut the process down, and start the next one."""
        self.order("restart")

    def stop(self, *, settles: bool = False) -> dict[str, Any]:
        """Stop the broker as its release does; the verdict on its run, as ``--json`` prints it.

        Parameters
        ----------
        settles
            Whether time is let pass before until op messages that wait in memory are written.
        """
        return self.order(STOP, settles=settles)

    def transactions(self, key: str | None = None) -> list[dict[str, Any]]:
        """The transactions with a key or unique key, or all: states, checks, places, and when each is checked next."""
        return list(self.order("transactions", **({} if key is None else {"key": key}))["transactions"])

    def wait(self, *, timeout_ms: int = 60_000, **what: object) -> bool:
        """Wait in real time; whether it came.

        Parameters
        ----------
        what
            ``producer=GROUP``, ``rounds=N``, ``delivered=KEY``, or ``consumed=KEY, group=GROUP, times=N``.
        """
        return bool(self.order("wait", timeout_ms=timeout_ms, **what)["came"])

    def round(self) -> int:
        """Let a virtual clock go on until a whole check round has begun and ended; the milliseconds that passed."""
        return int(self.order("round")["passed_ms"])

    def topic(self, name: str, kind: str = "", queues: int = 4) -> None:
        """Make a topic for messages of one type, or of any (``MIXED``): the proxy lets no other be sent to it."""
        self.order("topic", name=name, queues=queues, **({"type": kind} if kind else {}))

    def group(self, name: str, **settings: object) -> None:
        """Make a consumer group, or change its ``retryMaxTimes`` and ``consumeMessageOrderly``."""
        self.order("group", name=name, **settings)

    def restart_proxy(self, proxy: int | None = None) -> None:
        """Stop a proxy with all that it knows, or all, and start it again; the broker behind it goes on."""
        self.order("restart_proxy", **({} if proxy is None else {"proxy": proxy}))

    def drop_transaction_data(self, proxy: int | None = None) -> None:
        """Let a proxy, or all, forget where halves lie, as it does by itself 30 s after the last word of them."""
        self.order("drop_transaction_data", **({} if proxy is None else {"proxy": proxy}))

    def role(self, role: str) -> None:
        """Let it become a slave, an acting master or the master."""
        self.order("role", role=role)

    def unreachable_producer(self, group: str, *, ends: bool = False) -> None:
        """Let no check reach a producer group, or let them reach it again."""
        self.order("unreachable_producer", group=group, ends=ends)

    def fault(self, fault: str, **settings: object) -> None:
        """Let a fault befall messages or requests; see :class:`wire.node.faults.Fault` for its settings."""
        self.order("fault", fault=fault, **settings)

    def clear(self) -> None:
        """End all faults."""
        self.order("clear")


def order_of_line(text: str) -> tuple[str, dict[str, Any]]:
    """An order in one text, with words as a shell has them; `BadOrderError` as of :func:`order_of_words`."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        message = f"order {text!r}: {str(error).lower()}; expected an order and NAME=VALUE for each that it takes"
        raise BadOrderError(message) from None
    return order_of_words(words)


def order_of_words(words: list[str]) -> tuple[str, dict[str, Any]]:
    """An order in words of a command line: its name, then ``NAME=VALUE`` each.

    Raises
    ------
    BadOrderError
        There is none, or a word is no ``NAME=VALUE``.

    Examples
    --------
    >>> order_of_words(["push-clock", "ms=60000"]), order_of_words(["role", "role=slave"])
    (('push_clock', {'ms': 60000}), ('role', {'role': 'slave'}))
    """
    if not words:
        message = f"an order is missing; there are {', '.join(sorted(ORDERS))}"
        raise BadOrderError(message)
    order = words[0].replace("-", "_")
    given: list[tuple[str, str]] = []
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if not equals or not name:
            message = f"{word!r}: expected NAME=VALUE, such as ms=60000"
            raise BadOrderError(message)
        given.append((name, value))
    return order, of_texts(order_called(order).takes, given)


def _patience(order: str) -> float | None:
    """For how many seconds an answer is waited for; None for as long as it takes."""
    return None if order in ORDERS and ORDERS[order].takes_long else _SECONDS
