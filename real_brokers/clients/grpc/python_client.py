"""The scenario with rocketmq-python-client: ``python python_client.py HOST:PORT SECONDS``."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import defaultdict
from typing import Any

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

UNKNOWN = TransactionResolution.TRANSACTION_RESOLUTION_UNSPECIFIED
ANSWERS = {"checked-twice": 2, "never-known": 1 << 30}
"""At which check a transaction is committed; at the first if nothing is said."""

DELIVERED = {"committed", "checked", "checked-twice", "lost", "plain"}
CHECKS_OF_NEVER_KNOWN = 3

lock = threading.Lock()
checks: dict[str, int] = defaultdict(int)
deliveries: dict[str, list[int]] = defaultdict(list)


def key_of(message: Any) -> str:
    """The one key of a message."""
    return str(next(iter(message.keys)))


class ScenarioChecker(TransactionChecker):  # type: ignore[misc]
    """Answers as the scenario wants it."""

    def check(self, message: Any) -> Any:
        """Count, and say commit in the end."""
        with lock:
            checks[key_of(message)] += 1
            is_known = checks[key_of(message)] >= ANSWERS.get(key_of(message), 1)
        return TransactionResolution.COMMIT if is_known else UNKNOWN


class ScenarioListener(MessageListener):  # type: ignore[misc]
    """Fails once, or always, as the scenario wants it."""

    def consume(self, message: Any) -> Any:
        """Note the attempt."""
        key = key_of(message)
        with lock:
            deliveries[key].append(message.delivery_attempt)
            fails = key == "poison" or (key == "failing" and len(deliveries[key]) == 1)
        return ConsumeResult.FAILURE if fails else ConsumeResult.SUCCESS


def message_of(topic: str, key: str) -> Any:
    """A message whose body is its key."""
    message = Message()
    message.topic, message.body, message.keys, message.tag = topic, key.encode(), key, "scenario"
    return message


def is_done() -> bool:
    """Whether all has come that must."""
    with lock:
        return (
            deliveries.keys() >= DELIVERED
            and len(deliveries["failing"]) > 1
            and len(deliveries["poison"]) > 1
            and checks["never-known"] >= CHECKS_OF_NEVER_KNOWN
        )


def main(address: str, seconds: float) -> None:
    """Take the scenario, and print what came of it."""
    configuration = ClientConfiguration(address, Credentials(), request_timeout=5)
    producer = Producer(configuration, ("Orders", "Plain"), checker=ScenarioChecker())
    producer.startup()
    everything = {"Orders": FilterExpression(), "Plain": FilterExpression()}
    consumer = PushConsumer(configuration, "readers", ScenarioListener(), everything)
    consumer.startup()
    for key in ("committed", "rolled-back", "checked", "checked-twice", "never-known", "lost"):
        transaction = producer.begin_transaction()
        producer.send(message_of("Orders", key), transaction)
        if key in ("committed", "lost"):
            transaction.commit()
        if key == "rolled-back":
            transaction.rollback()
    for key in ("plain", "failing", "poison"):
        producer.send(message_of("Plain", key))
    end = time.monotonic() + seconds
    while time.monotonic() < end and not is_done():
        time.sleep(0.05)
    time.sleep(2)  # what comes too often has this long to come
    with lock:
        print(json.dumps({"checks": checks, "deliveries": deliveries}), flush=True)
    consumer.shutdown()
    producer.shutdown()


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
