"""The broker's workloads do what they measure, and leave no memory behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.broker.workloads import check_round, store_and_settle
from reference.format.system_topics import HALF_TOPIC, OP_TOPIC
from reference.simulation.virtual_clock import VirtualClock
from reference.store.disk import DirectoryDisk
from reference.store.message_store import MessageStore
from reference.versions.versions import VERSIONS
from tests.sampled import sampled

if TYPE_CHECKING:
    from pathlib import Path

    from reference.format.record import LogRecord


@pytest.mark.parametrize("version", sampled(["4.5.1", "4.9.7", "5.3.3", "5.4.0"], 2))
def test_each_transaction_is_stored_and_settled_and_leaves_no_memory(version: str, tmp_path: Path) -> None:
    measured = store_and_settle(version, tmp_path, 2_000, watches_memory=True)
    assert measured.heap_bytes is not None
    assert measured.heap_bytes < 100 * 1024
    records = records_of(version, tmp_path)
    assert sum(record.topic == HALF_TOPIC for record in records) == 2_000
    assert sum(record.topic == "TopicTest" for record in records) == 1_500
    named = [text for record in records if record.topic == OP_TOPIC for text in record.body.decode().split(",") if text]
    assert sorted(map(int, named)) == list(range(2_000))


def test_the_round_asks_for_every_half(tmp_path: Path) -> None:
    measured = check_round("5.3.3", tmp_path, 300)
    assert measured.count == 300
    assert [record.topic for record in records_of("5.3.3", tmp_path)] == [HALF_TOPIC] * 600


def records_of(version: str, folder: Path) -> tuple[LogRecord, ...]:
    """What a new process finds there."""
    return MessageStore(VERSIONS[version], VirtualClock(), DirectoryDisk(folder)).records()
