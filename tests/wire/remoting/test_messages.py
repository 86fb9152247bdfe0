"""Messages as they travel are the records of the store, byte for byte; batches are read as they were written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from conformance.golden_stores import golden_path
from reference.format.properties import properties_map
from reference.simulation.virtual_clock import VirtualClock
from reference.store.disk import DirectoryDisk
from reference.store.message_store import MessageStore
from reference.store.message_store_config import MessageStoreConfig
from reference.versions.versions import VERSIONS
from tests.wire.batches import encode_batch
from tests.wire.remoting.golden_frames import golden_frames
from wire.errors import MalformedFrameError
from wire.remoting.codes import RequestCode
from wire.remoting.command import decode
from wire.remoting.messages import (
    BatchedMessage,
    decode_batch,
    decode_records,
    encode_record,
    properties_text,
)

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A machine that has other things to do is no failure."""

BATCHES = some.lists(
    some.builds(
        BatchedMessage,
        flag=some.integers(-(1 << 31), (1 << 31) - 1),
        body=some.binary(max_size=20),
        properties_text=some.text(some.characters(codec="utf-8"), max_size=20),
    ),
    max_size=4,
)


def test_the_messages_that_a_real_broker_gave_are_read_and_written_byte_by_byte() -> None:
    (pulled,) = (each for each in golden_frames() if each.request == RequestCode.PULL_MESSAGE and each.answer == 0)
    body = decode(pulled.frame).body
    records = decode_records(body)
    assert [record.topic for record in records] == ["Orders"] * len(records)
    assert b"".join(map(encode_record, records)) == body


def test_the_check_of_a_real_broker_holds_the_message_of_the_half() -> None:
    (check,) = (each for each in golden_frames() if each.request == RequestCode.CHECK_TRANSACTION_STATE)
    command = decode(check.frame)
    (record,) = decode_records(command.body)
    assert (record.topic, record.body) == ("Orders", b"checked|an order")
    assert record.properties["UNIQ_KEY"] == command.fields["transactionId"]
    assert int(command.fields["commitLogOffset"]) == record.physical_offset
    assert int(command.fields["offsetMsgId"][16:], 16) == record.physical_offset


@pytest.mark.parametrize("store", ["4.5.1/ten", "4.9.7/ten", "5.3.3/ten", "5.5.0/five"])
def test_every_record_of_a_real_store_is_written_as_it_stands_there(store: str, tmp_path: Path) -> None:
    golden = golden_path(Path("conformance/golden") / store)
    log = next(iter(sorted((golden / "commitlog").iterdir())))
    content = log.read_bytes()
    copy = tmp_path / "commitlog" / log.name
    copy.parent.mkdir()
    copy.write_bytes(content)
    config = MessageStoreConfig(len(content), 20_000)
    switches = VERSIONS[store.partition("/")[0]]
    records = MessageStore(switches, VirtualClock(1 << 41), DirectoryDisk(tmp_path), config).records()
    assert len(records) > 20
    for record in records:
        at = record.physical_offset
        assert encode_record(record) == content[at : at + record.total_size]


@UNHURRIED
@given(BATCHES)
def test_a_batch_is_read_as_it_was_written(batch: list[BatchedMessage]) -> None:
    assert list(decode_batch(encode_batch(batch))) == batch


@UNHURRIED
@given(BATCHES.filter(bool), some.data())
def test_a_batch_that_was_cut_is_refused_or_shorter(batch: list[BatchedMessage], data: some.DataObject) -> None:
    body = encode_batch(batch)
    cut = body[: data.draw(some.integers(1, len(body) - 1))]
    try:
        found = list(decode_batch(cut))
    except MalformedFrameError:
        return
    assert found == batch[: len(found)]


@UNHURRIED
@given(some.binary(min_size=1, max_size=120))
def test_whatever_a_pull_brings_is_records_or_refused(body: bytes) -> None:
    with pytest.raises(MalformedFrameError, match="message 1 at byte 0 of a body: "):
        decode_records(body)


@UNHURRIED
@given(some.dictionaries(some.text("abcXYZ_", min_size=1), some.text("abc |"), max_size=5))
def test_properties_are_read_as_they_were_written(properties: dict[str, str]) -> None:
    assert properties_map(properties_text(properties)) == properties
