"""The walk through the code of 4.5.1: half, local transaction, END_TRANSACTION, check loop.

Two messages are settled before the first check round, a third comes behind it and is settled by a check. So the first
round finds all its halves in the removeMap, and shows what 4.5.1 forgets: the op messages are not done for it (A03).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.broker.broker_settings import BrokerSettings
from reference.client.producer_messages import Message
from reference.cluster.push_consumer import PushConsumer
from reference.format.broker_conf import BrokerConf
from reference.scenarios.scenario import Scenario
from reference.scenarios.scripted_application import COMMIT, ROLLBACK, UNKNOWN, ScriptedListener, send_all
from reference.simulation.scheduler import Sleep

if TYPE_CHECKING:
    from reference.client.producer import TransactionMQProducer
    from reference.cluster.cluster import Cluster
    from reference.simulation.scheduler import Steps

TOPIC, GROUP = "TopicWalk", "walk-group"
BEHIND_THE_FIRST_ROUND_MS = 70_000
_LOCAL = {"order 0": COMMIT, "order 1": ROLLBACK}


def _sends(cluster: Cluster, producer: TransactionMQProducer) -> Steps[None]:
    orders = [Message(TOPIC, f"order {n}".encode(), "TagA", f"KEY{n}") for n in range(3)]
    yield from send_all(cluster, producer, orders[:2])
    yield Sleep(BEHIND_THE_FIRST_ROUND_MS)
    yield from send_all(cluster, producer, orders[2:])


def _begin(cluster: Cluster) -> PushConsumer:
    listener = ScriptedListener(lambda body: _LOCAL.get(body, UNKNOWN), lambda body, _asked: _LOCAL.get(body, COMMIT))
    cluster.run_program("orders", _sends(cluster, cluster.producer(GROUP, listener)))
    return PushConsumer(cluster, "walk-consumers", TOPIC)


CODE_WALK = Scenario(
    name="code-walk",
    about="4.5.1: half, local transaction, END_TRANSACTION, and a check loop that forgets which op messages are done",
    version="4.5.1",
    begin=_begin,
    settings=BrokerSettings.of_broker_conf(BrokerConf(), "4.5.1"),
)
