"""The storage flow of 4.x: an op message for each END_TRANSACTION, read by 32, and a topic for what is given up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.broker.broker_settings import BrokerSettings
from reference.client.producer_messages import Message
from reference.cluster.push_consumer import PushConsumer
from reference.scenarios.scenario import Scenario
from reference.scenarios.scripted_application import COMMIT, ROLLBACK, UNKNOWN, ScriptedListener, send_all

if TYPE_CHECKING:
    from reference.client.producer_messages import LocalTransactionState
    from reference.cluster.cluster import Cluster

TOPIC, GROUP = "TopicStorage", "storage-group"
SETTLED = 40
"""More op messages than one pull reads."""


def _outcome(body: str, _asked: int = 0) -> LocalTransactionState:
    number = int(body.removeprefix("parcel "))
    return UNKNOWN if number == SETTLED else ROLLBACK if number % 4 == 3 else COMMIT


def _begin(cluster: Cluster) -> PushConsumer:
    producer = cluster.producer(GROUP, ScriptedListener(_outcome, _outcome))
    parcels = [Message(TOPIC, f"parcel {n}".encode(), "TagP", f"P{n}") for n in range(SETTLED + 1)]
    cluster.run_program("parcels", send_all(cluster, producer, parcels))
    return PushConsumer(cluster, "storage-consumers", TOPIC)


STORAGE_FLOW = Scenario(
    name="storage-flow",
    about="4.9.7: op messages pulled by 32 and done when their halves are met; a half given up is kept in a topic",
    version="4.9.7",
    begin=_begin,
    settings=BrokerSettings(transaction_check_interval_ms=20_000),
)
