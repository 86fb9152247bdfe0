"""What is read of a running broker is its store as of one moment."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from reference.format.commit_log import CommitLog
from reference.format.consumer_offsets import saved_offsets
from reference.format.store_paths import store_paths
from reference.format.system_topics import CHECK_GROUP, HALF_TOPIC, OP_TOPIC
from spark_trace_analysis.audit.audit_store import audit_store
from tests.wire.copying.test_partial_copies import judged
from tests.wire.copying.traffic import OTHER, traffic
from tests.wire.one_broker import broker
from tests.wire.one_producer import TOPIC, OneProducer
from wire.client.channel import Address, BrokerChannel
from wire.copying import broker_moment
from wire.copying.broker_moment import BrokerMoment, real_queue, real_topic
from wire.remoting.codes import RequestCode

if TYPE_CHECKING:
    from pathlib import Path

    from wire.broker_thread import BrokerThread


def copied(running: BrokerThread, folder: Path) -> Path:
    folder.mkdir()
    with BrokerChannel(Address.of(running.address)) as channel:
        BrokerMoment(channel).copy(folder)
    return folder


@pytest.mark.parametrize("profile", ["4.5.1", "4.9.7", "5.5.1"])
def test_a_copy_is_judged_as_the_store_of_that_moment(tmp_path: Path, profile: str) -> None:
    with broker(tmp_path, profile, mappedFileSizeCommitLog=1 << 16) as running, OneProducer(running.address) as one:
        running.controller.topic(TOPIC)
        running.controller.topic(OTHER)
        one.heartbeat()
        for moment, milliseconds in enumerate((61_000, 61_000, 1_200_000)):
            traffic(one, 60, 60 * moment)
            running.controller.push_clock(milliseconds)
            copy, store = (audit_store(one) for one in (copied(running, tmp_path / f"{moment}"), tmp_path / "store"))
            assert judged(copy) == judged(store)
            assert copy.records < store.records
            assert (copy.trace.accepted, copy.trace.faults) == (store.trace.accepted, store.trace.faults)


def test_a_copy_of_a_broker_that_writes_all_the_time_is_the_log_of_one_moment(tmp_path: Path) -> None:
    with broker(tmp_path, "5.5.1", mappedFileSizeCommitLog=1 << 16) as running, OneProducer(running.address) as one:
        running.controller.topic(TOPIC)
        running.controller.topic(OTHER)
        over = threading.Event()

        def go_on() -> None:
            number = 0
            while not over.is_set():
                traffic(one, 3, number)
                number += 3

        writer = threading.Thread(target=go_on)
        writer.start()
        try:
            folders = [copied(running, tmp_path / f"{number}") for number in range(5)]
        finally:
            over.set()
            writer.join()
        whole = {record.physical_offset: record for record in CommitLog.open(tmp_path / "store").records()}
    for folder in folders:
        log = CommitLog.open(folder)
        assert log.partial is not None
        wanted = [one for at, one in whole.items() if at < log.partial.end and one.topic in log.partial.topics]
        assert list(log.read()) == wanted
        assert wanted


def test_the_offsets_of_all_half_queues_are_read(tmp_path: Path) -> None:
    with broker(tmp_path) as running, OneProducer(running.address) as one:
        running.controller.topic(HALF_TOPIC, queues=3)
        running.controller.topic(TOPIC)
        one.half("open")
        running.controller.push_clock(61_000)
        for topic, offset in ((HALF_TOPIC, 7), (OP_TOPIC, 5)):
            fields = {"consumerGroup": CHECK_GROUP, "topic": topic, "queueId": 2, "commitOffset": offset}
            one.ask(RequestCode.UPDATE_CONSUMER_OFFSET, fields)
        saved = saved_offsets(store_paths(copied(running, tmp_path / "copy")))
    found = {topic: [saved.get(topic, queue_id) or 0 for queue_id in range(4)] for topic in (HALF_TOPIC, OP_TOPIC)}
    assert found == {HALF_TOPIC: [2, 0, 7, 0], OP_TOPIC: [0, 0, 5, 0]}


@pytest.mark.parametrize("left", ["no config of the topic", "one queue"])
def test_a_delivery_is_read_from_the_queue_that_its_half_names_though_the_broker_does_not_list_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: str
) -> None:
    with broker(tmp_path, "5.5.1") as running, OneProducer(running.address) as one:
        running.controller.topic(TOPIC)
        one.end(one.half("committed"), 8)
        running.controller.push_clock(61_000)
        if left == "one queue":
            running.controller.topic(TOPIC, queues=1)
        else:
            monkeypatch.setattr(broker_moment, "topic_queues", lambda _: {HALF_TOPIC: 1, OP_TOPIC: 1})
        copy, store = (audit_store(one) for one in (copied(running, tmp_path / "copy"), tmp_path / "store"))
    assert judged(copy) == judged(store)
    assert [row.state for row in copy.transactions] == ["delivered"]


def test_the_queue_of_a_half_is_a_number_that_a_topic_may_have() -> None:
    assert real_queue(b"REAL_QID\x0112\x02REAL_TOPIC\x01Orders\x02") == 12
    garbage = ("", "-1", "x", "1.0", "99999999999", "\u0663")
    assert [real_queue(f"REAL_QID\x01{text}\x02".encode()) for text in garbage] == [None] * len(garbage)
    assert real_queue(b"x\x01y") is None


def test_the_topic_of_a_half_is_found_in_its_bytes() -> None:
    assert real_topic(b"REAL_QID\x010\x02REAL_TOPIC\x01Orders\x02x\x01y") == "Orders"
    assert real_topic(b"REAL_TOPIC\x01Orders") == "Orders"
    assert real_topic(b"x\x01y") == ""
