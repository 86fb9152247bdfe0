"""How a real broker is led to defects that take a client of one's own, or what a power loss or retention leaves."""

from __future__ import annotations

import time
from os import utime
from typing import TYPE_CHECKING, Final

from real_brokers.rocketmq.archive import archive_before_deletion
from real_brokers.rocketmq.client import COMMIT, ROLLBACK, UNKNOWN, ClientMessage, ClientPlan
from reference.format.properties import IMMUNITY_SECONDS, PREPARED_QUEUE_OFFSET
from reference.format.system_topics import CHECK_GROUP, HALF_TOPIC
from wire.remoting.codes import RequestCode

if TYPE_CHECKING:
    from real_brokers.rocketmq.broker import RealBroker
    from real_brokers.rocketmq.client import Client

TIMEOUT_OF_ENTRIES_MS: Final = 60_000
"""``transactionTimeOut`` of `entries_come_back`: until then the broker knows the producer again that it has to ask."""
_ASKED: Final = ClientPlan.of(UNKNOWN, COMMIT)
_FOREVER: Final = ClientPlan.of(UNKNOWN, UNKNOWN)
_SECONDS_TO_FIRST_CLEANING: Final = 62
_UNCOMPRESSED: Final = 3_900
_BEFORE_THE_HALF_TOPIC: Final = "TopicLoad"
"""In the hash map of the store's queues, of 64 places."""


def foreign_original(broker: RealBroker) -> None:
    """B56: an immune half is sent with TRAN_PREPARED_QUEUE_OFFSET=1, and the half at 1 is committed before a round."""
    client = broker.client("original-group")
    own = {IMMUNITY_SECONDS: "25", PREPARED_QUEUE_OFFSET: "1"}
    client.send("P", ClientMessage("TopicOriginal", "sent-on", "TagO", "k0", properties=own), _ASKED)
    client.send("P", ClientMessage("TopicOriginal", "settled", "TagO", "k1"), ClientPlan(COMMIT))
    client.send("P", ClientMessage("TopicOriginal", "open", "TagO", "k2"), _ASKED)
    time.sleep(3 * broker.check_interval_ms / 1_000)
    broker.settle(client, 30)
    client.leave("P", "TopicOriginal")


def check_offsets(broker: RealBroker) -> None:
    """B57: a producer sets the half offset, back to 0 behind three settled halves, then to 1000 before an open one."""
    client = broker.client("offsets-group")
    for number in range(3):
        client.send("P", ClientMessage("TopicOffsets", f"settled-{number}", "TagO", f"k{number}"), ClientPlan(COMMIT))
    time.sleep(6 * broker.check_interval_ms / 1_000)
    _set_half_offset(client, 0)
    time.sleep(6 * broker.check_interval_ms / 1_000)
    client.send("P", ClientMessage("TopicOffsets", "open", "TagO", "k3"), _ASKED)
    _set_half_offset(client, 1_000)
    broker.settle(client, 60)
    client.leave("P", "TopicOffsets")


def _set_half_offset(client: Client, offset: int) -> None:
    header = {"consumerGroup": CHECK_GROUP, "topic": HALF_TOPIC, "queueId": "0", "commitOffset": str(offset)}
    client.request("P", RequestCode.UPDATE_CONSUMER_OFFSET, "", header)


def entries_come_back(broker: RealBroker) -> None:
    """B58: a kill; the log loses its last two halves, their queue entries stay; a start, a commit, another start."""
    client = broker.client("entries-group")
    body = "plain"
    client.send_plain("P", ClientMessage("TopicEntries", body))
    first = client.send("P", ClientMessage("TopicEntries", "first"), ClientPlan(ROLLBACK))
    time.sleep(2)
    gone = [
        client.send("P", ClientMessage("TopicEntries", f"gone-{number}"), ClientPlan(UNKNOWN)) for number in range(2)
    ]
    broker.kill_broker()
    broker.cut_log(gone[0].commit_log_offset)
    broker.start_broker()
    length = gone[1].commit_log_offset - gone[0].commit_log_offset
    padding = length - first.commit_log_offset
    client.send_plain("P", ClientMessage("TopicEntries", body + "x" * padding))
    client.send("P", ClientMessage("TopicEntries", "again"), ClientPlan(COMMIT))
    time.sleep(2)
    broker.stop_broker()
    broker.start_broker()
    time.sleep(TIMEOUT_OF_ENTRIES_MS / 1_000)
    broker.settle(client, 60)
    client.leave("P", "TopicEntries")


def dropped_checks(broker: RealBroker) -> None:
    """B52: between two rounds a broker is stopped and started three times while a half waits for its check.

    From 5.4.0 on each stop lets one more round run, whose put-back counts a check that a closed pool drops.
    """
    client = broker.client("dropped-group")
    client.send("P", ClientMessage("TopicDropped", "waits", "TagD", "k0"), _ASKED)
    for _ in range(3):
        time.sleep(2 * int(broker.settings["transactionTimeOut"]) / 1_000)
        broker.stop_broker()
        broker.start_broker()
    broker.settle(client, 120)
    client.leave("P", "TopicDropped")


def gone_half(broker: RealBroker) -> None:
    """B50: the file with two halves that wait is deleted; the committed one behind them is checked for each of them.

    A store begins to look for old files a minute after its start; the first file is made old by its time of change.
    Behind the deletion the store corrects the lower ends of its queues, one after the other in the order of Java's hash
    map, and sleeps (``deleteConsumeQueueFilesInterval``) after a queue that has lost a file, too: that of a topic which
    comes before the half topic. Until it goes on, rounds ask for halves that are gone. The half before them, which is
    settled, gives the half offset a place: a queue without one is read from its lower end.
    """
    client = broker.client("gone-group")
    client.send("P", ClientMessage("TopicGone", "gone-0", "TagG", "k0"), ClientPlan(COMMIT))
    for number in range(4 * (1 + int(broker.settings["mappedFileSizeConsumeQueue"]) // 20)):
        client.send_plain("P", ClientMessage(_BEFORE_THE_HALF_TOPIC, f"before-{number}"))
    time.sleep(_SECONDS_TO_FIRST_CLEANING)
    for number in range(1, 3):
        client.send("P", ClientMessage("TopicGone", f"gone-{number}", "TagG", f"k{number}"), _FOREVER)
    _fill_a_file(broker, client)
    client.send("P", ClientMessage("TopicGone", "gone-3", "TagG", "k3"), ClientPlan(COMMIT))
    _fill_a_file(broker, client)
    time.sleep(1)
    first = broker.run / "store" / "commitlog" / f"{0:020d}"
    archive_before_deletion(broker.run)
    utime(first, (0, 0))
    broker.note("the first file of the commit log made old")
    time.sleep(int(broker.settings["deleteConsumeQueueFilesInterval"]) / 1_000)
    broker.note("waited", is_there=first.exists())
    client.leave("P", "TopicGone")


def _fill_a_file(broker: RealBroker, client: Client) -> None:
    """Send as many plain messages as a file of the commit log holds, each too short to be compressed."""
    for _ in range(int(broker.settings["mappedFileSizeCommitLog"]) // _UNCOMPRESSED):
        client.send_plain("P", ClientMessage("TopicPlain", f"fills|{'x' * _UNCOMPRESSED}"))
