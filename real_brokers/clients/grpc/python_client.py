"""The scenario's client with rocketmq-python-client: ``python python_client.py HOST:PORT [TOPIC…]``.

With topics it is a producer of these alone.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from typing import Any

import grpc
from rocketmq import (
    ClientConfiguration,
    ConsumeResult,
    Credentials,
    FilterExpression,
    Message,
    MessageListener,
    Producer,
    PushConsumer,
    TransactionChecker,
    TransactionResolution,
)
from rocketmq.v5.exception import ClientException

TOPICS = ("Orders", "Plain")
ANSWERS = {
    "commit": TransactionResolution.COMMIT,
    "rollback": TransactionResolution.ROLLBACK,
    "unknown": TransactionResolution.TRANSACTION_RESOLUTION_UNSPECIFIED,
}
KNOWN_AT = {"checked-twice": 2, "never-known": 1 << 30}
"""At which check a transaction is committed; at the first if nothing is said."""
BEHIND_THE_ANSWER_SECONDS = 0.5
"""How long a late commit waits, so that the check's answer comes first."""
FAILURES = (ClientException, grpc.RpcError, TimeoutError)

lock = threading.Lock()


def say(*words: object) -> None:
    """One event, a line."""
    with lock:
        print(*words, sep="\t", flush=True)


def key_of(message: Any) -> str:
    """The one key of a message."""
    return str(next(iter(message.keys)))


class ScenarioChecker(TransactionChecker):
    """Answers as the scenario wants it, or what was ordered."""

    def __init__(self) -> None:
        self.ordered = ""
        self.checks: Counter[str] = Counter()

    def check(self, message: Any) -> Any:
        """Count, and say commit in the end."""
        key = key_of(message)
        self.checks[key] += 1
        answer = self.ordered or ("commit" if self.checks[key] >= KNOWN_AT.get(key, 1) else "unknown")
        say("checked", key, answer)
        if key == "throws":
            message = "as ordered"
            raise RuntimeError(message)
        if key == "hangs":
            threading.Event().wait()
        return ANSWERS[answer]


class ScenarioListener(MessageListener):
    """Fails once, or always, as the scenario wants it."""

    def __init__(self) -> None:
        self._deliveries: Counter[str] = Counter()

    def consume(self, message: Any) -> Any:
        """Note the attempt."""
        key = key_of(message)
        self._deliveries[key] += 1
        say("consumed", key, message.delivery_attempt)
        fails = key == "poison" or (key == "failing" and self._deliveries[key] == 1)
        return ConsumeResult.FAILURE if fails else ConsumeResult.SUCCESS


class Clients:
    """A producer, the transactions that it has begun, and the scenario's consumer."""

    def __init__(self, address: str, topics: tuple[str, ...]) -> None:
        self._configuration = ClientConfiguration(address, Credentials(), request_timeout=5)
        self._topics = topics
        self._checker, self._listener = ScenarioChecker(), ScenarioListener()
        self._transactions: dict[str, Any] = {}
        self._start()

    def _start(self) -> None:
        self._started = [Producer(self._configuration, self._topics or TOPICS, checker=self._checker)]
        if not self._topics:
            everything = {topic: FilterExpression() for topic in TOPICS}
            self._started.append(PushConsumer(self._configuration, "readers", self._listener, everything))
        for each in self._started:
            each.startup()

    def shut_down(self) -> None:
        """End in order."""
        for each in reversed(self._started):
            each.shutdown()

    def carry_out(self, order: str, *words: str) -> None:
        """Do what a line says."""
        if order == "send":
            self._send(*words)
        elif order == "answer":
            (self._checker.ordered,) = words
        elif order == "renew":
            self.shut_down()
            self._start()
        else:
            self._end(order, *words)

    def _send(self, topic: str, key: str, end: str) -> None:
        """Send a message whose body is its key, plainly or in a transaction, and end that as is said."""
        producer = self._started[0]
        message = Message()
        message.topic, message.body, message.keys, message.tag = topic, key.encode(), key, "scenario"
        if end == "plain":
            producer.send(message)
            return
        self._transactions[key] = producer.begin_transaction()
        producer.send(message, self._transactions[key])
        if end == "late":
            while not self._checker.checks[key]:
                time.sleep(0.02)
            time.sleep(BEHIND_THE_ANSWER_SECONDS)
        if end != "leave":
            self._end("commit" if end == "late" else end, key)

    def _end(self, end: str, key: str) -> None:
        transaction = self._transactions[key]
        if end == "commit":
            transaction.commit()
        elif end == "rollback":
            transaction.rollback()
        else:
            message = f"{end}: no order, and no end of a transaction"
            raise ValueError(message)


def main(address: str, *topics: str) -> None:
    """Do what stdin says, a line each."""
    clients = Clients(address, topics)
    say("ready")
    for line in sys.stdin:
        order = line.strip()
        if order == "end":
            break
        try:
            clients.carry_out(*order.split())
        except FAILURES as error:
            say("failed", order, " ".join(f"{type(error).__name__} {error}".split()))
        else:
            say("done", order)
    clients.shut_down()
    say("done", "end")


if __name__ == "__main__":
    main(*sys.argv[1:])
