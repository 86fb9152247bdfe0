"""A committed message whose consumption fails: sixteen more tries at growing distances, then the dead letter topic."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from reference.format.system_topics import SCHEDULE_TOPIC, dead_letter_topic, retry_topic
from reference.scenarios.walk_throughs import FAILED_CONSUMPTION, GOOD, POISON, RETRY_CONSUMERS, RETRY_TOPIC
from reference.store.delay_levels import DELAYS_MS
from tests.seeds.played_store import play

if TYPE_CHECKING:
    from pathlib import Path

LEVELS_3_TO_18_S = [10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1200, 1800, 3600, 7200]


def test_sixteen_tries_at_the_distances_of_the_delay_levels(tmp_path: Path) -> None:
    store = play(FAILED_CONSUMPTION, tmp_path)
    (poison,) = [record for record in store.of(RETRY_TOPIC) if record.body == POISON]
    tries = [c for c in store.run.consumer.consumed if c.unique_key == poison.properties["UNIQ_KEY"]]
    assert [c.reconsume_times for c in tries] == list(range(17))
    assert {c.topic for c in tries} == {RETRY_TOPIC}
    waits = [(after.time - before.time) // 1_000 for before, after in pairwise(tries)]
    assert waits == LEVELS_3_TO_18_S == [ms // 1_000 for ms in DELAYS_MS[2:]]


def test_its_records_wait_in_the_delay_levels_and_end_in_the_dead_letter_topic(tmp_path: Path) -> None:
    store = play(FAILED_CONSUMPTION, tmp_path)
    waiting, retried = store.of(SCHEDULE_TOPIC), store.of(retry_topic(RETRY_CONSUMERS))
    assert retry_topic(RETRY_CONSUMERS) == "%RETRY%retry-consumers"
    assert [record.queue_id for record in waiting] == list(range(2, 18))
    assert [record.reconsume_times for record in retried] == list(range(1, 17))
    (dead,) = store.of(dead_letter_topic(RETRY_CONSUMERS))
    assert (dead.topic, dead.body, dead.reconsume_times) == ("%DLQ%retry-consumers", POISON, 17)
    assert dead.properties["RETRY_TOPIC"] == RETRY_TOPIC


def test_a_retry_is_no_second_delivery(tmp_path: Path) -> None:
    store = play(FAILED_CONSUMPTION, tmp_path)
    assert store.states() == {"delivered": [POISON.decode(), GOOD.decode()]}
    assert [row.deliveries for row in store.audit.transactions] == [1, 1]
    assert [c.is_success for c in store.run.consumer.consumed].count(True) == 1
    store.assert_accepted_without_a_fault()
