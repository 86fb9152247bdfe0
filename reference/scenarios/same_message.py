"""Is it still the original message? One message, unknown for ever, through fifteen checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.broker.broker_settings import BrokerSettings
from reference.client.producer_messages import Message
from reference.cluster.push_consumer import PushConsumer
from reference.scenarios.scenario import Scenario
from reference.scenarios.scripted_application import COMMIT, UNKNOWN, ScriptedListener, send_all
from reference.simulation.scheduler import Sleep

if TYPE_CHECKING:
    from reference.client.producer import TransactionMQProducer
    from reference.client.producer_messages import LocalTransactionState
    from reference.cluster.cluster import Cluster
    from reference.simulation.scheduler import Steps

TOPIC, GROUP, BODY = "Test", "tran-test", b"test"
EARLIER = 82
CLUSTER_NAME = "DefaultCluster-padded-to-forty-bytes-xxx"
"""26 bytes longer than the default: what the author's set-up added to each record."""

_OPS_ARE_WRITTEN_MS = 8_000


def _sends(cluster: Cluster, producer: TransactionMQProducer) -> Steps[None]:
    earlier = [Message(TOPIC, f"earlier {n}".encode()) for n in range(EARLIER)]
    yield from send_all(cluster, producer, earlier, pause_ms=0)
    yield Sleep(_OPS_ARE_WRITTEN_MS)
    yield from send_all(cluster, producer, [Message(TOPIC, BODY)])


def _begin(cluster: Cluster) -> PushConsumer:
    def answer(body: str, _asked: int = 0) -> LocalTransactionState:
        return UNKNOWN if body == BODY.decode() else COMMIT

    producer = cluster.producer(GROUP, ScriptedListener(answer, answer, local_ms=0))
    cluster.run_program("test", _sends(cluster, producer))
    return PushConsumer(cluster, "test-consumers", TOPIC)


SAME_MESSAGE = Scenario(
    name="same-message",
    about="5.3.3: one message through fifteen checks, a new half each time, 394 and then 395 bytes apart",
    version="5.3.3",
    begin=_begin,
    settings=BrokerSettings(transaction_check_interval_ms=10_000, broker_cluster_name=CLUSTER_NAME),
)
