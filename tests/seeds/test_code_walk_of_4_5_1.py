"""Walk-through a, 4.5.1: half, local transaction, END_TRANSACTION, check loop, and its done-list quirk (A03)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from reference.format.properties import CHECK_TIMES
from reference.format.record import TRANSACTION_COMMIT, LogRecord
from reference.format.system_topics import HALF_TOPIC, OP_TOPIC
from reference.scenarios.scenario import rounds_ended
from reference.scenarios.walk_throughs import CODE_WALK, WALK_GROUP, WALK_TOPIC
from tests.seeds.played_store import SEEDS, play

if TYPE_CHECKING:
    from pathlib import Path


def kind(record: LogRecord) -> tuple[str, str]:
    """A record's topic and body."""
    return record.topic, record.body.decode()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_records_of_the_walk(seed: int, tmp_path: Path) -> None:
    store = play(CODE_WALK, tmp_path, seed)
    assert [kind(record) for record in store.records] == [
        (HALF_TOPIC, "order 0"),
        (WALK_TOPIC, "order 0"),
        (OP_TOPIC, "0"),
        (HALF_TOPIC, "order 1"),
        (OP_TOPIC, "1"),
        (HALF_TOPIC, "order 2"),
        (HALF_TOPIC, "order 2"),
        (WALK_TOPIC, "order 2"),
        (OP_TOPIC, "3"),
    ]
    assert store.states() == {"delivered": ["order 0", "order 2"], "rolled_back": ["order 1"]}
    assert [consumed.is_success for consumed in store.run.consumer.consumed] == [True, True]
    store.assert_accepted_without_a_fault()


def test_the_half_hides_its_topic_and_the_delivered_message_has_it_back(tmp_path: Path) -> None:
    store = play(CODE_WALK, tmp_path)
    half, delivered = store.halves[0], store.of(WALK_TOPIC)[0]
    assert (half.queue_id, half.sys_flag, half.prepared_transaction_offset) == (0, 0, 0)
    assert half.properties["REAL_TOPIC"] == WALK_TOPIC
    assert half.properties["PGROUP"] == WALK_GROUP
    assert delivered.queue_id == int(half.properties["REAL_QID"])
    assert delivered.sys_flag == TRANSACTION_COMMIT
    assert delivered.prepared_transaction_offset == half.physical_offset
    assert (delivered.body, delivered.born_timestamp) == (half.body, half.born_timestamp)
    assert delivered.properties == half.properties
    assert {op.properties["TAGS"] for op in store.ops} == {"d"}


def test_the_check_asks_for_a_copy_and_the_answer_names_it(tmp_path: Path) -> None:
    store = play(CODE_WALK, tmp_path)
    copy, delivered = store.halves[3], store.of(WALK_TOPIC)[1]
    assert copy.properties == store.halves[2].properties | {CHECK_TIMES: "1"}
    assert delivered.prepared_transaction_offset == copy.physical_offset
    producer_log = store.run.cluster.producers[WALK_GROUP].log
    checked = [act["msg"]["queueOffset"] for act in producer_log if act["ev"] == "check"]
    assert checked == [copy.queue_offset] == [3]
    ends = [act["header"] for act in producer_log if act["ev"] == "rpc.req"]
    assert [end["commitOrRollback"] for end in ends] == ["8", "12", "0", "8"]
    assert [end["fromTransactionCheck"] for end in ends] == ["false", "false", "false", "true"]


OFFSETS_AFTER_EACH_ROUND = {
    "4.5.1": [(2, 0), (3, 2), (4, 2), (4, 3)],
    "4.9.7": [(2, 2), (3, 2), (4, 3), (4, 3)],
}
"""(half, op). In 4.5.1 a round takes the halves that it meets out of the removeMap and forgets their op messages: the
op offset stands where it was until a later round finds them below the half offset. Its second round moves the op offset
because it reads to the op queue's very end (A02)."""


@pytest.mark.parametrize("version", OFFSETS_AFTER_EACH_ROUND)
def test_the_op_offset_is_a_round_late_in_4_5_1_and_not_where_that_is_repaired(version: str, tmp_path: Path) -> None:
    seen = []
    for number in range(1, 5):
        after = replace(
            CODE_WALK,
            version=version,
            is_over=lambda cluster, number=number: rounds_ended(cluster) >= number,  # type: ignore[misc]
        )
        seen.append(play(after, tmp_path / str(number)).saved)
    assert seen == OFFSETS_AFTER_EACH_ROUND[version]
