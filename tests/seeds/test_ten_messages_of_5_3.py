"""Walk-through b: the demonstration of ten messages on 5.3, op batching, and a late commit that is refused."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.golden_stores import golden_store
from reference.broker.response import ILLEGAL_OPERATION
from reference.format.commit_log import CommitLog
from reference.format.properties import CHECK_TIMES
from reference.scenarios.walk_throughs import (
    DEMO_GROUP,
    DEMO_TOPIC,
    LATE_COMMIT,
    LATE_IMMUNITY_SECONDS,
    LATE_LOCAL_MS,
    TEN_MESSAGES,
)
from tests.seeds.played_store import SEEDS, play

if TYPE_CHECKING:
    from pathlib import Path

COMMITTED, LEFT_UNKNOWN, ROLLED_BACK = [1, 4, 7], [0, 3, 6, 9], [2, 5, 8]


def hello(numbers: list[int]) -> list[str]:
    return [f"Hello RocketMQ {number}" for number in numbers]


@pytest.mark.parametrize("seed", SEEDS)
def test_three_are_committed_four_left_unknown_and_three_rolled_back(seed: int, tmp_path: Path) -> None:
    store = play(TEN_MESSAGES, tmp_path, seed)
    assert store.states() == {
        "delivered": hello(COMMITTED),
        "pending": hello(LEFT_UNKNOWN),
        "rolled_back": hello(ROLLED_BACK),
    }
    assert sorted(record.body.decode() for record in store.of(DEMO_TOPIC)) == hello(COMMITTED)
    delivered = {record.properties["UNIQ_KEY"] for record in store.of(DEMO_TOPIC)}
    assert sorted(consumed.unique_key for consumed in store.run.consumer.consumed) == sorted(delivered)
    store.assert_accepted_without_a_fault()


def test_a_broker_whose_op_batch_thread_spins_makes_the_same_of_them(tmp_path: Path) -> None:
    store = play(replace(TEN_MESSAGES, version="5.5.1"), tmp_path)
    assert store.states()["delivered"] == hello(COMMITTED)
    assert store.states()["rolled_back"] == hello(ROLLED_BACK)


def test_the_messages_are_those_of_the_demonstration(tmp_path: Path) -> None:
    store = play(TEN_MESSAGES, tmp_path)
    halves = store.halves[:10]
    assert [half.body.decode() for half in halves] == hello(list(range(10)))
    assert [half.properties["TAGS"] for half in halves] == [f"Tag{'ABCDE'[i % 5]}" for i in range(10)]
    assert [half.properties["KEYS"] for half in halves] == [f"KEY{i}" for i in range(10)]
    assert {half.properties["REAL_TOPIC"] for half in halves} == {"TopicTest1234"} == {DEMO_TOPIC}
    assert {half.properties["PGROUP"] for half in halves} == {"please_rename_unique_group_name"} == {DEMO_GROUP}
    assert sorted({int(half.properties["REAL_QID"]) for half in halves}) == [0, 1, 2, 3]


def test_all_are_unknown_at_first_and_answered_at_the_first_check_by_i_mod_3(tmp_path: Path) -> None:
    store = play(TEN_MESSAGES, tmp_path)
    ends = [act["header"] for act in store.run.cluster.producers[DEMO_GROUP].log if act["ev"] == "rpc.req"]
    direct = [end for end in ends if end["fromTransactionCheck"] == "false"]
    assert [end["commitOrRollback"] for end in direct] == ["0"] * 10
    first_copies = {
        int(half.queue_offset): half.body.decode() for half in store.halves if half.properties.get(CHECK_TIMES) == "1"
    }
    answers = {
        first_copies[int(end["tranStateTableOffset"])]: end["commitOrRollback"]
        for end in ends
        if end["fromTransactionCheck"] == "true" and int(end["tranStateTableOffset"]) in first_copies
    }
    assert answers == {f"Hello RocketMQ {i}": ("0", "8", "12")[i % 3] for i in range(10)}


def test_the_delivered_record_of_number_4(tmp_path: Path) -> None:
    (record,) = [record for record in play(TEN_MESSAGES, tmp_path).of(DEMO_TOPIC) if record.body == b"Hello RocketMQ 4"]
    assert record.total_size == 420
    assert record.body_crc == 601994070 == zlib.crc32(record.body) & 0x7FFFFFFF
    assert record.properties["REAL_TOPIC"] == DEMO_TOPIC
    assert record.properties["TRAN_MSG"] == "true"
    assert record.properties["TAGS"] == "TagE"
    golden = CommitLog.open(golden_store("5.3.3", "ten").path).records()
    assert {r.body_crc for r in golden if r.body == record.body} == {601994070}


def test_one_op_message_names_what_one_interval_settled(tmp_path: Path) -> None:
    store = play(TEN_MESSAGES, tmp_path)
    settled = {
        half.queue_offset for half in store.halves[10:20] if half.body.decode() in hello(COMMITTED + ROLLED_BACK)
    }
    (op,) = store.ops
    assert op.body.endswith(b",")
    assert {int(text) for text in op.body.decode().split(",")[:-1]} == settled
    first = min(record.store_timestamp for record in store.of(DEMO_TOPIC))
    assert op.store_timestamp >= first
    per_end = play(replace(TEN_MESSAGES, version="4.9.7"), tmp_path / "4.9.7")
    assert sorted(int(op.body) for op in per_end.ops) == sorted(settled)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_late_commit_is_refused_with_illegal_operation(seed: int, tmp_path: Path) -> None:
    assert max(LATE_IMMUNITY_SECONDS * 1_000, LATE_COMMIT.settings.transaction_timeout_ms) < LATE_LOCAL_MS
    store = play(LATE_COMMIT, tmp_path, seed)
    ((code, _remark, request),) = store.run.cluster.refused
    assert code == ILLEGAL_OPERATION == 604
    assert not request.from_transaction_check
    (delivered,) = store.of(DEMO_TOPIC)
    assert delivered.prepared_transaction_offset == store.halves[-1].physical_offset != request.commit_log_offset
    store.assert_accepted_without_a_fault()


def test_before_5_1_1_the_late_commit_is_carried_out(tmp_path: Path) -> None:
    store = play(replace(LATE_COMMIT, version="4.9.7"), tmp_path)
    assert store.run.cluster.refused == []
    assert [record.prepared_transaction_offset for record in store.of(DEMO_TOPIC)] == [0]
