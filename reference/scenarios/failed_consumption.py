"""What follows when a delivered message can't be consumed: sixteen more tries, then the dead letter topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.client.producer_messages import Message
from reference.cluster.push_consumer import PushConsumer
from reference.format.system_topics import dead_letter_topic
from reference.scenarios.scenario import Scenario
from reference.scenarios.scripted_application import COMMIT, ScriptedListener, send_all

if TYPE_CHECKING:
    from reference.cluster.cluster import Cluster

TOPIC, GROUP, CONSUMERS = "TopicRetry", "retry-group", "retry-consumers"
POISON, GOOD = b"never", b"at once"


def _begin(cluster: Cluster) -> PushConsumer:
    producer = cluster.producer(GROUP, ScriptedListener(lambda _body: COMMIT, lambda _body, _asked: COMMIT))
    messages = [Message(TOPIC, POISON, keys="poison"), Message(TOPIC, GOOD, keys="good")]
    cluster.run_program("orders", send_all(cluster, producer, messages))
    return PushConsumer(cluster, CONSUMERS, TOPIC, lambda message: message.record.body != POISON)


FAILED_CONSUMPTION = Scenario(
    name="failed-consumption",
    about="5.3.3: a committed message that its consumer gives back sixteen times and that ends as a dead letter",
    version="5.3.3",
    begin=_begin,
    is_told=lambda cluster: (
        cluster.is_idle
        and cluster.broker is not None
        and cluster.broker.message_store.get_max_offset_in_queue(dead_letter_topic(CONSUMERS), 0) > 0
    ),
)
