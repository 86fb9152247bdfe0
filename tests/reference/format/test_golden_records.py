"""Every record and every consume queue entry of every golden store is read as another program read it."""

from __future__ import annotations

import zlib

import pytest

from conformance.golden_stores import GoldenStore, golden_stores
from reference.format.commit_log import CommitLog
from reference.format.consume_queue import open_consume_queues
from reference.format.frame import Frame
from reference.format.properties import LARGE_CAPACITY, SMALL_CAPACITY, is_in_hash_map_order
from reference.format.record import LogRecord
from tests.conformance.decoded_store import consume_queue_entries, decoded_records

STORES = [*golden_stores(), *golden_stores(in_rocksdb=True)]


@pytest.fixture(params=STORES, ids=lambda store: store.name)
def golden(request: pytest.FixtureRequest) -> GoldenStore:
    store = request.param
    assert isinstance(store, GoldenStore)
    return store


def test_every_field_of_every_record_agrees_with_the_independent_decoding(golden: GoldenStore) -> None:
    expected = [line for line in decoded_records(golden) if not line.get("blank")]
    entries = list(CommitLog.open(golden.path).read())
    assert len(entries) == len(expected)
    for record, line in zip(entries, expected, strict=True):
        assert isinstance(record, LogRecord), record
        assert [
            record.total_size, f"{record.magic:08X}", record.body_crc, record.queue_id, record.flag,
            record.queue_offset, record.physical_offset, record.sys_flag, record.transaction_type >> 2,
            record.born_timestamp, record.born_host, record.store_timestamp, record.store_host, record.reconsume_times,
            record.prepared_transaction_offset, len(record.body), record.topic,
        ] == [
            line["total"], line["magic"], line["bodyCRC"], line["queueId"], line["flag"],
            line["queueOffset"], line["physicalOffset"], line["sysFlag"], line["txType"],
            line["bornTimestamp"], line["bornHost"], line["storeTimestamp"], line["storeHost"], line["reconsumeTimes"],
            line["preparedTransactionOffset"], line["bodyLen"], line["topic"],
        ]  # fmt: skip
        assert record.body == (bytes.fromhex(line["bodyHex"]) if line["body"] is None else line["body"].encode())
        assert record.has_sound_body is line["bodyCRC_ok"] is (zlib.crc32(record.body) & 0x7FFFFFFF == record.body_crc)
        assert [list(pair) for pair in record.pairs] == line["properties"]
        assert len(record.properties_text.encode()) == line["propLen"]
        assert record.properties == dict(line["properties"])
        text = "\x02".join(f"{key}\x01{value}" for key, value in record.pairs)
        assert text + "\x02" * (text != "" and line["propTrailingSep"]) == record.properties_text


def test_a_frame_says_the_same_as_the_record(golden: GoldenStore) -> None:
    log = CommitLog.open(golden.path)
    frames = list(log.read(lambda _: False))
    records = list(log.records())
    assert len(frames) == len(records)
    for frame, record in zip(frames, records, strict=True):
        assert isinstance(frame, Frame)
        assert frame == Frame(
            record.physical_offset,
            record.total_size,
            record.topic.encode(),
            record.queue_id,
            record.queue_offset,
            record.sys_flag,
            record.store_timestamp,
            record.prepared_transaction_offset,
            is_body_sound=True,
        )


def test_every_consume_queue_entry_agrees_with_the_independent_decoding(golden: GoldenStore) -> None:
    queues = open_consume_queues(golden.path)
    read = sorted(
        (topic, queue_id, offset, *entry)
        for (topic, queue_id), queue in queues.items()
        for offset, entry in queue.entries()
    )
    assert read == sorted(
        (line["topic"], line["queueId"], line["index"], line["phy"], line["size"], line["tagsCode"])
        for line in consume_queue_entries(golden)
    )


def test_properties_are_stored_in_the_order_of_a_java_hash_map(golden: GoldenStore) -> None:
    is_old = golden.version < "5.1"
    for record in CommitLog.open(golden.path).records():
        is_small = is_old or record.topic.endswith("_TRANS_OP_HALF_TOPIC")
        capacity = SMALL_CAPACITY if is_small else LARGE_CAPACITY
        assert is_in_hash_map_order([key for key, _ in record.pairs], capacity), record
