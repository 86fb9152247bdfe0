"""Five messages, and the five things that can become of one: commit, rollback, never known, known when asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.broker.broker_settings import BrokerSettings
from reference.client.producer_messages import Message
from reference.cluster.push_consumer import PushConsumer
from reference.scenarios.scenario import Scenario
from reference.scenarios.scripted_application import COMMIT, ROLLBACK, UNKNOWN, ScriptedListener, send_all

if TYPE_CHECKING:
    from reference.cluster.cluster import Cluster

TOPIC, GROUP = "TopicFive", "five-group"
_LOCAL = {"message 1": COMMIT, "message 2": ROLLBACK}
_CHECKED = {"message 1": COMMIT, "message 2": ROLLBACK, "message 4": COMMIT, "message 5": ROLLBACK}


def _begin(cluster: Cluster) -> PushConsumer:
    listener = ScriptedListener(
        lambda body: _LOCAL.get(body, UNKNOWN), lambda body, _asked: _CHECKED.get(body, UNKNOWN)
    )
    producer = cluster.producer(GROUP, listener)
    messages = [Message(TOPIC, f"message {n}".encode(), keys=f"k{n}") for n in range(1, 6)]
    cluster.run_program("five", send_all(cluster, producer, messages))
    return PushConsumer(cluster, "five-consumers", TOPIC)


FIVE_OUTCOMES = Scenario(
    name="five-outcomes",
    about="one commit, one rollback, one unknown for ever, one commit on check, one rollback on check",
    version="5.3.3",
    begin=_begin,
    settings=BrokerSettings(transaction_check_interval_ms=10_000),
)
