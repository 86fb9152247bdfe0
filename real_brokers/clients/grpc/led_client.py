"""rocketmq-python-client led over its standard input, a command a line: ``python led_client.py HOST:PORT``.

``producer NAME TOPIC…``, ``answer NAME RESOLUTION`` to all checks of that producer from then on, ``send NAME TOPIC
KEY``, ``commit KEY``, ``rollback KEY``, ``shutdown NAME``. Events are lines of a name, a key and more, with tabs.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from rocketmq import (
    ClientConfiguration,
    Credentials,
    Message,
    Producer,
    TransactionChecker,
    TransactionResolution,
)

ANSWERS = {
    "commit": TransactionResolution.COMMIT,
    "rollback": TransactionResolution.ROLLBACK,
    "unknown": TransactionResolution.TRANSACTION_RESOLUTION_UNSPECIFIED,
}

lock = threading.Lock()
producers: dict[str, Any] = {}
answers: dict[str, str] = {}
transactions: dict[str, Any] = {}


def say(name: str, key: str = "", more: str = "") -> None:
    """Print an event."""
    with lock:
        print(name, key, more.replace("\n", " ").replace("\t", " "), sep="\t", flush=True)


class LedChecker(TransactionChecker):  # type: ignore[misc]
    """Answers what was ordered for its producer; unknown if nothing was."""

    def __init__(self, name: str) -> None:
        self._name = name

    def check(self, message: Any) -> Any:
        """Say who is asked for what, and what it answers."""
        answer = answers.get(self._name, "unknown")
        say("checked", str(next(iter(message.keys))), f"{self._name} {answer}")
        return ANSWERS[answer]


def start(address: str, name: str, *topics: str) -> None:
    """Start a producer."""
    configuration = ClientConfiguration(address, Credentials(), request_timeout=5)
    producers[name] = Producer(configuration, topics, checker=LedChecker(name))
    producers[name].startup()


def send(name: str, topic: str, key: str) -> None:
    """Send a half, whose body is its key."""
    message = Message()
    message.topic, message.body, message.keys, message.tag = topic, key.encode(), key, "scenario"
    transaction = producers[name].begin_transaction()
    try:
        producers[name].send(message, transaction)
    except Exception as error:  # noqa: BLE001 - whatever the client makes of it is what is asked for
        say("sent", key, f"{type(error).__name__} {error}")
        return
    transactions[key] = transaction
    say("sent", key, "OK")


def end(key: str, how: str) -> None:
    """Commit or roll back."""
    try:
        getattr(transactions[key], how)()
    except Exception as error:  # noqa: BLE001 - as above
        say("ended", key, f"{type(error).__name__} {error}")
        return
    say("ended", key, "OK")


def main(address: str) -> None:
    """Carry out commands until there are no more."""
    say("ready")
    for line in sys.stdin:
        order, *words = line.split()
        if order == "producer":
            start(address, *words)
        elif order == "answer":
            answers[words[0]] = words[1]
        elif order == "send":
            send(*words)
        elif order == "shutdown":
            producers.pop(words[0]).shutdown()
        else:
            end(words[0], order)
        say("done", line.rstrip("\n"))


if __name__ == "__main__":
    main(sys.argv[1])
