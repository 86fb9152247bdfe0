"""How a real broker is led to defects that take a client of one's own, or what a power loss leaves."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from conformance.real.client import COMMIT, ROLLBACK, UNKNOWN, Message, Plan
from reference.format.properties import IMMUNITY_SECONDS, PREPARED_QUEUE_OFFSET
from reference.format.system_topics import CHECK_GROUP, HALF_TOPIC

if TYPE_CHECKING:
    from conformance.real.client import Client
    from conformance.real.real_broker import RealBroker

_UPDATE_CONSUMER_OFFSET: Final = 15
TIMEOUT_OF_ENTRIES_MS: Final = 60_000
"""``transactionTimeOut`` of `entries_come_back`: until then the broker knows the producer again that it has to ask."""
_ASKED: Final = Plan.of(UNKNOWN, COMMIT)


def foreign_original(broker: RealBroker) -> None:
    """B56: an immune half is sent with TRAN_PREPARED_QUEUE_OFFSET=1, and the half at 1 is committed before a round."""
    client = broker.client()
    client.producer("P", "original-group")
    own = {IMMUNITY_SECONDS: "25", PREPARED_QUEUE_OFFSET: "1"}
    client.send("P", Message("TopicOriginal", "sent-on", "TagO", "k0", properties=own), _ASKED)
    client.send("P", Message("TopicOriginal", "settled", "TagO", "k1"), Plan(COMMIT))
    client.send("P", Message("TopicOriginal", "open", "TagO", "k2"), _ASKED)
    time.sleep(3 * broker.check_interval_ms / 1_000)
    broker.settle(client, 30)
    client.leave("P", "TopicOriginal")


def check_offsets(broker: RealBroker) -> None:
    """B57: a producer sets the half offset, back to 0 behind three settled halves, then to 1000 before an open one."""
    client = broker.client()
    client.producer("P", "offsets-group")
    for number in range(3):
        client.send("P", Message("TopicOffsets", f"settled-{number}", "TagO", f"k{number}"), Plan(COMMIT))
    time.sleep(6 * broker.check_interval_ms / 1_000)
    _set_half_offset(client, 0)
    time.sleep(6 * broker.check_interval_ms / 1_000)
    client.send("P", Message("TopicOffsets", "open", "TagO", "k3"), _ASKED)
    _set_half_offset(client, 1_000)
    broker.settle(client, 60)
    client.leave("P", "TopicOffsets")


def _set_half_offset(client: Client, offset: int) -> None:
    header = {"consumerGroup": CHECK_GROUP, "topic": HALF_TOPIC, "queueId": "0", "commitOffset": str(offset)}
    client.request("P", _UPDATE_CONSUMER_OFFSET, "", header)


def entries_come_back(broker: RealBroker) -> None:
    """B58: a kill; the log loses its last two halves, their queue entries stay; a start, a commit, another start."""
    client = broker.client()
    client.producer("P", "entries-group")
    body = "plain"
    client.send_plain("P", Message("TopicEntries", body))
    first = client.send("P", Message("TopicEntries", "first"), Plan(ROLLBACK))
    time.sleep(2)
    gone = [client.send("P", Message("TopicEntries", f"gone-{number}"), Plan(UNKNOWN)) for number in range(2)]
    broker.kill_broker()
    broker.cut_log(gone[0].commit_log_offset)
    broker.start_broker()
    length = gone[1].commit_log_offset - gone[0].commit_log_offset
    padding = length - first.commit_log_offset
    client.send_plain("P", Message("TopicEntries", body + "x" * padding))
    client.send("P", Message("TopicEntries", "again"), Plan(COMMIT))
    time.sleep(2)
    broker.stop_broker()
    broker.start_broker()
    time.sleep(TIMEOUT_OF_ENTRIES_MS / 1_000)
    broker.settle(client, 60)
    client.leave("P", "TopicEntries")
