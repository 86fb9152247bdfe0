"""The service: POST /orders/ID places an order, GET /orders/ID says what became of it.

Called as ``python orders.py PROXY DATABASE buggy|mended``. Its producer is one of the topic ``Orders``, as every gRPC
client's is: the broker may ask it what became of an order of another service.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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

TOPIC = "Orders"
UNKNOWN = TransactionResolution.TRANSACTION_RESOLUTION_UNSPECIFIED


class Orders:
    """Orders that are placed, in one file."""

    def __init__(self, file: str) -> None:
        self._file = sqlite3.connect(file, check_same_thread=False)
        self._file.execute("create table if not exists orders (id text primary key)")
        self._lock = threading.Lock()

    def add(self, order: str) -> None:
        with self._lock, self._file:
            self._file.execute("insert into orders values (?)", (order,))

    def has(self, order: str) -> bool:
        with self._lock:
            return self._file.execute("select 1 from orders where id = ?", (order,)).fetchone() is not None


class RollsBackWhatIsNotHere(TransactionChecker):
    """Buggy: it takes what it has not placed for rolled back. The order may be another service's."""

    def __init__(self, orders: Orders) -> None:
        self.orders = orders
        self.checks: Counter[str] = Counter()

    def check(self, message: Any) -> Any:
        order = key_of(message)
        self.checks[order] += 1
        return TransactionResolution.COMMIT if self.orders.has(order) else self.of_no_order()

    def of_no_order(self) -> Any:
        return TransactionResolution.ROLLBACK


class LeavesWhatIsNotHere(RollsBackWhatIsNotHere):
    """Mended: it says that it does not know, and is asked again, or the other service is."""

    def of_no_order(self) -> Any:
        return UNKNOWN


class Warehouse(MessageListener):
    """Hears of orders."""

    def __init__(self) -> None:
        self.received: Counter[str] = Counter()

    def consume(self, message: Any) -> Any:
        self.received[key_of(message)] += 1
        return ConsumeResult.SUCCESS


def key_of(message: Any) -> str:
    return str(next(iter(message.keys)))


def place(producer: Any, orders: Orders, order: str) -> None:
    """The row and the message that tells the warehouse of it, both or neither."""
    message = Message()
    message.topic, message.body, message.keys, message.tag = TOPIC, order.encode(), order, "placed"
    transaction = producer.begin_transaction()
    producer.send(message, transaction)
    orders.add(order)
    transaction.commit()


def main(proxy: str, database: str, variant: str) -> None:
    orders, warehouse = Orders(database), Warehouse()
    checker = {"buggy": RollsBackWhatIsNotHere, "mended": LeavesWhatIsNotHere}[variant](orders)
    configuration = ClientConfiguration(proxy, Credentials(), request_timeout=15)
    producer = Producer(configuration, (TOPIC,), checker=checker)
    producer.startup()
    consumer = PushConsumer(configuration, "warehouse", warehouse, {TOPIC: FilterExpression()})
    consumer.startup()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            place(producer, orders, self.order)
            self.reply({"state": "COMMIT_MESSAGE"})

        def do_GET(self) -> None:
            order = self.order
            checks, received = checker.checks[order], warehouse.received[order]
            self.reply({"placed": orders.has(order), "checks": checks, "received": received})

        @property
        def order(self) -> str:
            return self.path.removeprefix("/orders/")

        def reply(self, value: dict[str, Any]) -> None:
            body = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
