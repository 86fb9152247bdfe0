"""Walk-through c: 1 commit, 2 rollback, 3 unknown for ever, 4 commit on check, 5 rollback on check."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reference.format.properties import CHECK_TIMES
from reference.format.system_topics import DISCARD_TOPIC
from reference.scenarios.walk_throughs import FIVE_OUTCOMES, FIVE_TOPIC
from tests.seeds.played_store import SEEDS, PlayedStore, play

if TYPE_CHECKING:
    from pathlib import Path


def check_counts(store: PlayedStore, body: bytes) -> list[int]:
    """TRANSACTION_CHECK_TIMES of each half of a message; 0 for the first."""
    return [int(half.properties.get(CHECK_TIMES, "0")) for half in store.halves if half.body == body]


def named_by(store: PlayedStore) -> list[int]:
    """The half offsets in all op messages."""
    return [int(text) for op in store.ops for text in op.body.decode().split(",")[:-1]]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_becomes_of_the_five(seed: int, tmp_path: Path) -> None:
    store = play(FIVE_OUTCOMES, tmp_path, seed)
    assert store.states() == {
        "delivered": ["message 1", "message 4"],
        "rolled_back": ["message 2", "message 5"],
        "parked": ["message 3"],
    }
    assert [record.body for record in store.of(FIVE_TOPIC)] == [b"message 1", b"message 4"]
    store.assert_accepted_without_a_fault()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_third_is_checked_fifteen_times_and_then_discarded_into_its_topic(seed: int, tmp_path: Path) -> None:
    store = play(FIVE_OUTCOMES, tmp_path, seed)
    assert check_counts(store, b"message 3") == list(range(16))
    (discarded,) = store.discarded
    last = [half for half in store.halves if half.body == b"message 3"][-1]
    assert (discarded.topic, discarded.body, discarded.queue_id) == (DISCARD_TOPIC, b"message 3", 0)
    assert discarded.topic == "TRANS_CHECK_MAX_TIME_TOPIC"
    assert discarded.properties == last.properties
    assert discarded.properties[CHECK_TIMES] == "15"
    asked = [act for act in store.run.cluster.producers["five-group"].log if act["ev"] == "check"]
    key = last.properties["UNIQ_KEY"]
    assert sum(act["id"] == key for act in asked) == 15


def test_the_fourth_and_fifth_are_settled_by_their_first_check(tmp_path: Path) -> None:
    store = play(FIVE_OUTCOMES, tmp_path)
    for body in (b"message 1", b"message 2"):
        assert check_counts(store, body) == [0]
    for body in (b"message 4", b"message 5"):
        assert check_counts(store, body) == [0, 1]
    settled = [*store.halves[:2], *(half for half in store.halves[2:] if half.body in (b"message 4", b"message 5"))]
    last = {half.body: half.queue_offset for half in settled}
    assert sorted(named_by(store)) == sorted(last.values())


def test_at_the_end_both_offsets_stand_at_the_ends_of_their_queues(tmp_path: Path) -> None:
    store = play(FIVE_OUTCOMES, tmp_path)
    assert store.saved == (len(store.halves), len(store.ops)) == (22, 2)
