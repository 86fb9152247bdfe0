"""The master dies, a slave acts for it and lets unresolved halves escape to another master; then the master is back."""

from __future__ import annotations

from dataclasses import replace

from reference.broker.broker_settings import BrokerRole, BrokerSettings
from reference.client.producer_messages import LocalTransactionState, Message
from reference.cluster.cluster import Cluster
from reference.cluster.push_consumer import PushConsumer
from reference.scenarios.scenario import FILE_SIZES, Scenario
from reference.scenarios.scripted_application import COMMIT, ROLLBACK, UNKNOWN, ScriptedListener, send_all
from reference.simulation.scheduler import Sleep, Steps

TOPIC, GROUP = "TopicEscape", "escape-group"
SETTLED, COMMITTED_LATER, ROLLED_BACK_LATER, SLOW = "settled", "committed later", "rolled back later", "slow"
MASTER_DIES_MS, MASTER_IS_BACK_MS = 15_000, 60_000
SLOW_LOCAL_MS = 25_000
_SETTINGS = BrokerSettings()


def _local(body: str) -> LocalTransactionState:
    return COMMIT if body in (SETTLED, SLOW) else UNKNOWN


def _checked(body: str, _asked: int) -> LocalTransactionState:
    return ROLLBACK if body == ROLLED_BACK_LATER else COMMIT


def _operate(cluster: Cluster, *, adopts_slave_offsets: bool) -> Steps[None]:
    """Master, acting slave, master; the slave has the same messages, and the offsets that were saved.

    The master that is back takes the slave's offsets if it does not think its own ones newer (B23).
    """
    yield Sleep(MASTER_DIES_MS)
    broker = yield from cluster.connected()
    own = broker.consumer_offset_manager.saved
    cluster.role = BrokerRole.ACTING_MASTER
    cluster.crash()
    yield Sleep(MASTER_IS_BACK_MS)
    broker = yield from cluster.connected()
    if adopts_slave_offsets:
        broker.save_consumer_offsets()
    else:
        broker.consumer_offset_manager.save(own)
    cluster.role = BrokerRole.MASTER
    cluster.crash()


def _begin(cluster: Cluster, *, adopts_slave_offsets: bool) -> PushConsumer:
    settings = replace(_SETTINGS, broker_name="broker-b", store_host="127.0.0.1:20911")
    other = Cluster(0, cluster.version, settings, FILE_SIZES, beside=cluster)
    cluster.other_master = other
    listener = ScriptedListener(_local, _checked, slow={SLOW: SLOW_LOCAL_MS})
    producer = cluster.producer(GROUP, listener)
    other.producer(GROUP, listener)
    quick = [Message(TOPIC, body.encode(), keys=body) for body in (SETTLED, COMMITTED_LATER, ROLLED_BACK_LATER)]
    cluster.run_program("orders", send_all(cluster, producer, [*quick, Message(TOPIC, SLOW.encode())]))
    cluster.run_program("operator", _operate(cluster, adopts_slave_offsets=adopts_slave_offsets))
    return PushConsumer(other, "escape-consumers", TOPIC)


ACTING_SLAVE = Scenario(
    name="acting-slave",
    about="5.3.3: a slave acts for its dead master, unresolved halves escape; the master that is back passes them",
    version="5.3.3",
    begin=lambda cluster: _begin(cluster, adopts_slave_offsets=True),
    settings=_SETTINGS,
)

OWN_OFFSETS = Scenario(
    name="acting-slave-own-offsets",
    about="5.3.3: the same, and the master that is back thinks its own offsets newer and checks the halves, too",
    version="5.3.3",
    begin=lambda cluster: _begin(cluster, adopts_slave_offsets=False),
    settings=_SETTINGS,
)
