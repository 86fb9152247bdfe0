"""Texts with one 64-bit hash are told apart wherever the audit by Spark, or the data source, goes by a hash first."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from pyspark.sql.datasource import EqualTo, In
from pyspark.sql.types import StructType

from reference.format.stored_message import host_bytes
from spark_trace_analysis.audit.rules.grouping import birth_of
from spark_trace_analysis.audit.stages import judging_rounds
from spark_trace_analysis.ingest.rocketmq_store import RocketmqStore
from spark_trace_analysis.records.bytes_kernels import hash_bytes
from spark_trace_analysis.records.property_kernels import _HASHES, _WORDS, _known
from tests.reference.format.store_writer import PRODUCER, StoreWriter
from tests.spark_trace_analysis.audit.both_audits import FEW, assert_both

if TYPE_CHECKING:
    from pathlib import Path

    from reference.format.record import LogRecord

A, B = "C0000202FFFF4E0E2F2A6er3pYmWu0RA", "C0000202FFFF4E0E2F2A6ejqplztsNNL"
BODIES = b"order-3985819", b"order-4420602"


def test_the_texts_of_these_tests_collide() -> None:
    assert hash_bytes(A.encode()) == hash_bytes(B.encode())
    assert len({zlib.crc32(body) & 0x7FFFFFFF for body in BODIES}) == 1


def two_transactions(writer: StoreWriter, one: dict[str, Any], other: dict[str, Any]) -> int:
    """The first is delivered, the second lost, as a round has passed it; gives the half offset to save."""
    first = writer.half(**one)
    writer.now -= 1
    writer.half(**other)
    writer.commit(first)
    checked = writer.half("checked")
    writer.put_back(checked)
    return checked.offset + 1


@pytest.mark.parametrize("version", ["4.9.7", "5.3.3"])
def test_two_transactions_whose_keys_collide_are_two(tmp_path: Path, version: str) -> None:
    writer = StoreWriter(version)
    end = two_transactions(writer, {"key": A}, {"key": B})
    counts = assert_both(writer.write(tmp_path / "s", half=end), **FEW).counts
    assert (counts["lost"], counts["delivered"]) == (1, 1)


def test_two_groups_that_collide_are_two(tmp_path: Path) -> None:
    writer = StoreWriter()
    end = two_transactions(writer, {"key": "K", "group": A}, {"key": "K", "group": B})
    one = assert_both(writer.write(tmp_path / "s", half=end), **FEW)
    assert [row.deliveries for row in one.transactions if row.unique_key == "K"] == [1, 0]
    assert f"its group is {B!r}" in str(one.corrupt[0])


def test_two_bodies_with_one_checksum_are_two_transactions_where_no_key_tells_them_apart(tmp_path: Path) -> None:
    writer = StoreWriter()
    end = two_transactions(writer, {"key": "", "body": BODIES[0]}, {"key": "", "body": BODIES[1]})
    counts = assert_both(writer.write(tmp_path / "s", half=end), **FEW).counts
    assert (counts["lost"], counts["delivered"]) == (1, 1)


@pytest.mark.parametrize(
    ("half", "message"),
    [
        ({"KEYS": A}, {"KEYS": B}),
        ({A: "x"}, {B: "x"}),
        ({"REAL_TOPIC": A}, {"REAL_TOPIC": B}),
        ({}, {"__transactionId__": B}),
    ],
    ids=["value", "name", "real topic", "transaction id"],
)
def test_properties_that_collide_contradict_each_other(
    tmp_path: Path, half: dict[str, str], message: dict[str, str]
) -> None:
    writer = StoreWriter()
    sent = writer.half(A, **half)  # type: ignore[arg-type]
    shared = {name: value for name, value in sent.properties.items() if name not in half}
    topic = message.get("REAL_TOPIC", "T")
    writer.put(
        topic, sent.body, shared | message, prepared=sent.physical, sys_flag=8, born=sent.born, born_host=PRODUCER
    )
    writer.op(sent.offset)
    assert len(assert_both(writer.write(tmp_path / "s"), **FEW).corrupt) > 0


@pytest.mark.parametrize("has_queues", [True, False])
def test_two_topics_that_collide_have_two_queues(tmp_path: Path, has_queues: bool) -> None:
    writer = StoreWriter()
    for topic in (A, B, A, B, A):
        writer.put(topic, b"body", {"WAIT": "true"})
    writer.commit(writer.half())
    assert not assert_both(writer.write(tmp_path / "s", has_queues=has_queues)).corrupt


def test_two_births_that_collide_are_no_twins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []

    def seen(record: LogRecord) -> tuple[int, str, int]:
        birth = birth_of(record)
        looked_at.append(birth[0])
        return birth

    monkeypatch.setattr(judging_rounds, "birth_of", seen)
    writer = StoreWriter()
    half = writer.half("K1")
    writer.commit(half)
    hosts = (hash_bytes(host_bytes(host)) for host in ("192.0.2.7:4242", "192.0.2.8:4242"))
    properties = {**half.properties, "UNIQ_KEY": "K2", "__transactionId__": "K2"}
    twin = half.born ^ next(hosts) ^ next(hosts)
    writer.put(
        "T", half.body, properties, prepared=half.physical, sys_flag=8, born=twin, born_host=bytes([192, 0, 2, 8])
    )
    reasons = [region.reason for region in assert_both(writer.write(tmp_path / "s")).corrupt]
    assert sorted(set(looked_at)) == sorted({half.born, twin})
    assert not any("no half in the log has it" in reason for reason in reasons)


def test_a_name_is_known_by_its_bytes() -> None:
    data = np.frombuffer(b"UNIQ_KEY", np.uint8)
    assert int(_known(data, 0, 8, hash_bytes(b"UNIQ_KEY"), _WORDS, _HASHES)) == 8
    for which, other in enumerate(_HASHES):
        assert int(_known(data, 0, 8, int(other), _WORDS, _HASHES)) == (8 if which == 8 else -1)


def test_a_condition_on_a_topic_compares_the_topic(tmp_path: Path) -> None:
    writer = StoreWriter()
    for topic in (A, B, "T", B):
        writer.put(topic, b"body", {"WAIT": "true"})
    store = writer.write(tmp_path / "s")
    for condition, wanted in ((EqualTo(("topic",), A), [A]), (In(("topic",), ("T", B)), [B, "T", B])):
        reader = RocketmqStore({"path": str(store)}).reader(StructType().add("topic", "string"))
        assert list(reader.pushFilters([condition])) == []
        found = [row for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist()]  # type: ignore[union-attr]
        assert [row["topic"] for row in found] == wanted
    unclear = EqualTo(("topic",), "T\ufffd")
    assert list(reader.pushFilters([unclear])) == [unclear]
