"""Walk-through e: the storage flow of 4.x with the done list repaired, an op pull of 32, and the discard topic."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from reference.format.properties import CHECK_TIMES
from reference.format.system_topics import DISCARD_TOPIC
from reference.scenarios.scenario import rounds_ended
from reference.scenarios.walk_throughs import SETTLED, STORAGE_FLOW, STORAGE_TOPIC
from tests.seeds.played_store import SEEDS, PlayedStore, play

if TYPE_CHECKING:
    from pathlib import Path

AFTER_THE_FIRST_ROUND = replace(STORAGE_FLOW, is_over=lambda cluster: rounds_ended(cluster) >= 1)


def pulls_of_the_first_round(store: PlayedStore) -> list[int]:
    """The halves at which the first round read more op messages."""
    rows = store.run.cluster.recorder.rows
    end = next(i for i, row in enumerate(rows) if row["event"] == "round_ended")
    return [int(row["half"]) for row in rows[:end] if row["event"] == "ops_pulled"]


@pytest.mark.parametrize("seed", SEEDS)
def test_each_commit_and_each_rollback_has_an_op_message_of_its_own(seed: int, tmp_path: Path) -> None:
    store = play(STORAGE_FLOW, tmp_path, seed)
    assert sorted(int(op.body) for op in store.ops) == list(range(SETTLED))
    assert [op.queue_offset for op in store.ops] == list(range(SETTLED))
    assert {op.properties["TAGS"] for op in store.ops} == {"d"}
    delivered = sorted(int(record.body.decode().removeprefix("parcel ")) for record in store.of(STORAGE_TOPIC))
    assert delivered == [n for n in range(SETTLED) if n % 4 != 3]
    assert len(store.run.consumer.consumed) == len(delivered) == 30
    store.assert_accepted_without_a_fault()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_first_round_pulls_32_op_messages_and_the_others_when_it_meets_the_33rd_half(
    seed: int, tmp_path: Path
) -> None:
    store = play(AFTER_THE_FIRST_ROUND, tmp_path, seed)
    assert STORAGE_FLOW.settings.op_msg_pull_nums == 32 < SETTLED
    thirty_third = int(store.ops[32].body)
    assert pulls_of_the_first_round(store) == [thirty_third, SETTLED]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_done_list_is_complete_after_one_round_which_is_what_4_6_repaired(seed: int, tmp_path: Path) -> None:
    """The round ends at the copy that it has just stored; every op message's half was met by then."""
    store = play(AFTER_THE_FIRST_ROUND, tmp_path, seed)
    assert store.saved == (SETTLED + 1, SETTLED)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_stays_unknown_goes_to_the_discard_topic(seed: int, tmp_path: Path) -> None:
    store = play(STORAGE_FLOW, tmp_path, seed)
    (discarded,) = store.discarded
    assert discarded.topic == DISCARD_TOPIC
    assert discarded.body == f"parcel {SETTLED}".encode()
    assert discarded.properties[CHECK_TIMES] == "15"
    assert store.states()["parked"] == [f"parcel {SETTLED}"]
    assert store.saved == (SETTLED + 1 + 15, SETTLED)


def test_before_4_5_2_there_is_no_such_topic(tmp_path: Path) -> None:
    store = play(replace(STORAGE_FLOW, version="4.5.1"), tmp_path)
    assert store.discarded == []
    assert store.states().get("parked") is None
    store.assert_accepted_without_a_fault()
