"""Walk-through d: one message through fifteen checks is sixteen records, and still the same message."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from conformance.golden_stores import golden_store
from reference.format.commit_log import CommitLog
from reference.format.properties import CHECK_TIMES
from reference.format.system_topics import HALF_TOPIC
from reference.scenarios.walk_throughs import SAME_BODY, SAME_GROUP, SAME_MESSAGE, SAME_TOPIC
from tests.seeds.played_store import SEEDS, PlayedStore, play

if TYPE_CHECKING:
    from pathlib import Path

    from reference.format.record import LogRecord


def chain(store: PlayedStore) -> list[LogRecord]:
    """The halves of the one message."""
    return [half for half in store.halves if half.body == SAME_BODY]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_queue_offset_goes_from_82_to_97(seed: int, tmp_path: Path) -> None:
    store = play(SAME_MESSAGE, tmp_path, seed)
    assert [half.queue_offset for half in chain(store)] == list(range(82, 98))
    assert [half.properties.get(CHECK_TIMES) for half in chain(store)] == [None, *map(str, range(1, 16))]
    assert store.states()["parked"] == ["test"]
    store.assert_accepted_without_a_fault()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_commit_log_offset_grows_by_394_bytes_a_check_and_395_with_two_digits(seed: int, tmp_path: Path) -> None:
    copies = chain(play(SAME_MESSAGE, tmp_path, seed))[1:]
    growth = [after.physical_offset - before.physical_offset for before, after in pairwise(copies)]
    assert growth == [394] * 9 + [395] * 5
    assert [copy.total_size for copy in copies] == [394] * 9 + [395] * 6


def test_the_records_have_the_sizes_that_a_real_broker_gave_them(tmp_path: Path) -> None:
    store = play(SAME_MESSAGE, tmp_path)
    golden = list(CommitLog.open(golden_store("5.3.3", "seed394").path).records())
    real = [record.total_size for record in golden if record.topic == HALF_TOPIC]
    assert [half.total_size for half in chain(store)] == real
    assert store.discarded[0].total_size == golden[-1].total_size == 397
    pairs = [(record.topic, [key for key, _ in record.pairs]) for record in golden]
    assert [(half.topic, [key for key, _ in half.pairs]) for half in [*chain(store), *store.discarded]] == pairs


def test_what_stays_and_what_changes(tmp_path: Path) -> None:
    copies = chain(play(SAME_MESSAGE, tmp_path))
    stays = {
        (half.body, half.body_crc, half.born_timestamp, half.born_host, half.properties["UNIQ_KEY"]) for half in copies
    }
    assert len(stays) == 1
    for names in (
        {half.queue_offset for half in copies},
        {half.physical_offset for half in copies},
        {half.store_timestamp for half in copies},
    ):
        assert len(names) == 16


def test_each_check_names_the_new_record(tmp_path: Path) -> None:
    store = play(SAME_MESSAGE, tmp_path)
    asked = [act["msg"]["queueOffset"] for act in store.run.cluster.producers[SAME_GROUP].log if act["ev"] == "check"]
    assert asked == list(range(83, 98))
    assert len(store.of(SAME_TOPIC)) == 82
