"""What tables print of each entry once is the text that printing all of them gives, in the order of Java's map."""

from __future__ import annotations

from random import Random

import pytest

from reference.broker.broker_settings import BrokerSettings
from reference.broker.config_files import config_json
from reference.broker.config_manager import TopicConfigManager
from reference.java import HashMapKeys, hash_map_order
from reference.simulation.virtual_clock import VirtualClock
from reference.store.memory_disk import MemoryDisk
from reference.versions.versions import switches_of


@pytest.mark.parametrize("profile", ["4.5.1", "5.4.0"])
def test_topics_print_as_all_of_them_at_once(profile: str) -> None:
    disk, switches, random = MemoryDisk(), switches_of(profile), Random(11)
    topics = TopicConfigManager(disk, switches, VirtualClock(7), BrokerSettings())
    for number in range(1_700):
        topics.create(f"topic-{number}", random.randrange(1, 9))
        if number % 100 == 0:
            topics.update(f"topic-{random.randrange(number + 1)}", 3)
            topics.delete(f"topic-{random.randrange(number + 1)}")
            assert_prints_all(disk, topics)
    assert_prints_all(disk, topics)


def assert_prints_all(disk: MemoryDisk, topics: TopicConfigManager) -> None:
    printed = disk.read("config/topics.json")
    assert printed is not None
    table = {name: topics.table[name] for name in hash_map_order(tuple(topics.table), 2048)}
    expected = config_json({"topicConfigTable": table}, topics._switches)
    assert printed.decode().endswith(expected.removeprefix("{"))


def test_keys_come_in_the_order_of_the_map_that_grows_with_them() -> None:
    keys = HashMapKeys(64)
    put: list[str] = []
    for number in range(400):
        key = f"{number % 390}-key"
        keys.put(key)
        put = [*put, *([] if key in put else [key])]
        assert keys.in_order == list(hash_map_order(tuple(put), 64))
