"""How a real broker is asked about one known defect, from its start to the end of its clients."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from conformance.real.client import COMMIT, ROLLBACK, UNKNOWN, Message, Plan, SendRefusedError

if TYPE_CHECKING:
    from conformance.real.run import RealBroker


def foreign_op(broker: RealBroker) -> None:
    """B09: X's half waits in the timer topic and is rolled back; Y's half has the same offset in the half queue."""
    client = broker.client()
    client.producer("P", "foreign-group")
    x = Message("TopicForeign", "foreign-x", "TagF", "kx", properties={"TIMER_DELAY_SEC": "3600"})
    client.send("P", x, Plan(ROLLBACK))
    client.send("P", Message("TopicForeign", "foreign-y", "TagF", "ky"), Plan.of(UNKNOWN, COMMIT))
    broker.settle(client, 60)
    client.leave("P", "TopicForeign")


def delayed(broker: RealBroker) -> None:
    """A23: a half that is to be delivered in two seconds is committed at once; another one has no delay."""
    client = broker.client()
    client.producer("P", "delayed-group")
    message = Message("TopicDelayed", "delayed-1", "TagD", "k1", properties={"TIMER_DELAY_SEC": "2"})
    try:
        client.send("P", message, Plan(COMMIT))
    except SendRefusedError as refusal:
        client.note("refused", err=str(refusal))
    client.send("P", Message("TopicDelayed", "delayed-2", "TagD", "k2"), Plan(COMMIT))
    time.sleep(10)
    broker.settle(client, 60)
    client.leave("P", "TopicDelayed")


def synchronous(broker: RealBroker) -> None:
    """B40: with ``asyncSendEnable`` off, a plain message, one with a delay level, and a half that stays open."""
    client = broker.client()
    client.producer("P", "synchronous-group")
    client.send_plain("P", Message("TopicSync", "plain-1", "TagS", "k1"))
    client.send_plain("P", Message("TopicSync", "plain-2", "TagS", "k2", properties={"DELAY": "1"}))
    client.send("P", Message("TopicSync", "sync-3", "TagS", "k3"), Plan(COMMIT))
    time.sleep(5)
    broker.settle(client, 60)
    client.leave("P", "TopicSync")


def steady(broker: RealBroker) -> None:
    """A16: a commit each 0.7 s for half a minute, so that the op messages tell how long they waited."""
    client = broker.client()
    client.producer("P", "steady-group")
    for number in range(45):
        client.send("P", Message("TopicSteady", f"steady-{number}", "TagS", f"k{number}"), Plan(COMMIT))
        time.sleep(0.7)
    broker.settle(client, 60)
    client.leave("P", "TopicSteady")
