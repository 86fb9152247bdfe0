"""The demonstration of ten messages on 5.3: all unknown at first, answered at the first check by i mod 3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.broker.broker_settings import BrokerSettings
from reference.client.producer_messages import Message
from reference.cluster.push_consumer import PushConsumer
from reference.format.properties import IMMUNITY_SECONDS
from reference.scenarios.scenario import Scenario, rounds_ended
from reference.scenarios.scripted_application import COMMIT, ROLLBACK, UNKNOWN, ScriptedListener, send_all

if TYPE_CHECKING:
    from reference.client.producer_messages import LocalTransactionState
    from reference.cluster.cluster import Cluster

TOPIC, GROUP = "TopicTest1234", "please_rename_unique_group_name"
TAGS = ("TagA", "TagB", "TagC", "TagD", "TagE")
ROUNDS = 3

LATE_IMMUNITY_SECONDS = 10
LATE_LOCAL_MS = 15_000


def _answer(body: str, _asked: int) -> LocalTransactionState:
    return (UNKNOWN, COMMIT, ROLLBACK)[int(body.removeprefix("Hello RocketMQ ")) % 3]


def _begin(cluster: Cluster) -> PushConsumer:
    producer = cluster.producer(GROUP, ScriptedListener(lambda _body: UNKNOWN, _answer))
    messages = [Message(TOPIC, f"Hello RocketMQ {i}".encode(), TAGS[i % 5], f"KEY{i}") for i in range(10)]
    cluster.run_program("demonstration", send_all(cluster, producer, messages))
    return PushConsumer(cluster, "please_rename_unique_group_name_4", TOPIC)


TEN_MESSAGES = Scenario(
    name="ten-messages",
    about="5.3.3: ten messages, of which three are committed, three rolled back and four left unknown",
    version="5.3.3",
    begin=_begin,
    is_told=lambda cluster: cluster.is_idle and rounds_ended(cluster) >= ROUNDS,
)


def _begin_late(cluster: Cluster) -> PushConsumer:
    listener = ScriptedListener(lambda _body: COMMIT, lambda _body, _asked: COMMIT, LATE_LOCAL_MS)
    immunity = {IMMUNITY_SECONDS: str(LATE_IMMUNITY_SECONDS)}
    message = Message(TOPIC, b"Hello RocketMQ, late", "TagA", "KEY", properties=immunity)
    cluster.run_program("late", send_all(cluster, cluster.producer(GROUP, listener), [message]))
    return PushConsumer(cluster, "please_rename_unique_group_name_4", TOPIC)


LATE_COMMIT = Scenario(
    name="late-commit",
    about="5.3.3: a commit that comes later than its half's immunity allows is refused with ILLEGAL_OPERATION",
    version="5.3.3",
    begin=_begin_late,
    settings=BrokerSettings(),
)
