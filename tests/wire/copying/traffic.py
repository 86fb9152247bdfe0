"""Halves, their ends, and messages that are of no transaction between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wire.remoting.codes import RequestCode, ResponseCode
from wire.remoting.messages import properties_text

if TYPE_CHECKING:
    from tests.wire.one_producer import OneProducer

COMMIT, ROLLBACK = 8, 12
OTHER = "Others"


def ordinary(producer: OneProducer, number: int) -> None:
    """A message that is of no transaction, in a topic that no half names."""
    fields = {
        "a": "others", "b": OTHER, "c": "TBW102", "d": 4, "e": number % 4, "f": 0, "g": 0, "h": 0,
        "i": properties_text({"KEYS": str(number), "WAIT": "true"}), "j": 0, "k": False, "m": False,
    }  # fmt: skip
    assert producer.ask(RequestCode.SEND_MESSAGE_V2, fields, bytes(500)).code == ResponseCode.SUCCESS


def traffic(producer: OneProducer, count: int, first: int = 0) -> None:
    """Halves that are committed, rolled back, committed twice, or left, and ordinary messages between them."""
    for number in range(first, first + count):
        half = producer.half(f"k{number}")
        ordinary(producer, number)
        if number % 3 < 2:
            producer.end(half, ROLLBACK if number % 3 else COMMIT)
        if number % 10 == 0:
            producer.end(half, COMMIT)
