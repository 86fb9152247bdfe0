"""Tables of a broker in ``config/``: topics, consumer groups, and those that stay empty here."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from files.content import parse_json
from reference.broker.config_files import PrintedTable, config_json, load_or_backup, string_to_file
from reference.format.errors import NoSpaceLeftError
from reference.format.system_topics import CHECK_GROUP, HALF_TOPIC, OP_TOPIC

if TYPE_CHECKING:
    from reference.broker.broker_settings import BrokerSettings
    from reference.simulation.virtual_clock import VirtualClock
    from reference.store.disk import Disk
    from reference.versions.switches import ReleaseSwitches

_BUCKETS = 2048
"""``new ConcurrentHashMap<>(1024)``"""

_TOPIC_QUEUES: Final = 4
"""``defaultTopicQueueNums`` as a producer asks for it; the broker allows 8."""

_READ, _WRITE, _INHERIT = 4, 2, 1


class ConfigManager:
    """One table with its version (``ConfigManager``); an existing file is read and carried on."""

    def __init__(self, disk: Disk, switches: ReleaseSwitches, clock: VirtualClock, name: str, key: str) -> None:
        self.table: dict[str, dict[str, Any]] = {}
        """Entry by name."""
        self._disk = disk
        self._switches = switches
        self._clock = clock
        self._name = f"config/{name}"
        self._key = key
        self._others: dict[str, Any] = {"forbiddenTable": {}} if name == "subscriptionGroup.json" else {}
        self._counter = 0
        self._state_version = 0
        self._printed: PrintedTable | None = None
        load_or_backup(disk, self._name, self._take)

    def add(self, name: str, entry: dict[str, Any]) -> None:
        """Enter something new, count the version up and save the table, if there is room for it."""
        self.table[name] = entry
        if self._printed is not None:
            self._printed.put(name, entry)
        self._counter += 1
        self._persist()

    def delete(self, name: str) -> None:
        """Take something out, count the version up and save the table; nothing happens if it is not there."""
        if self.table.pop(name, None) is not None:
            self._printed = None
            self._counter += 1
            self._persist()

    def _take(self, raw: bytes) -> None:
        """Take over what the file holds."""
        content = parse_json(raw)
        self.table = dict(content[self._key])
        self._counter = int(content.get("dataVersion", {}).get("counter", 0))
        self._others = {k: v for k, v in content.items() if k not in ("dataVersion", self._key)}

    def _persist(self) -> None:
        version: dict[str, int] = {"counter": self._counter}
        if self._switches.versions_consumer_offsets:
            version["stateVersion"] = self._state_version
        version["timestamp"] = self._clock.now
        if self._printed is None:
            self._printed = PrintedTable(self._switches, _BUCKETS)
            for name, entry in self.table.items():
                self._printed.put(name, entry)
        before = {"dataVersion": version, **(self._others if self._switches.versions_consumer_offsets else {})}
        text = self._printed.file(before, self._key)
        with suppress(NoSpaceLeftError):
            string_to_file(self._disk, self._name, text, self._switches)


class TopicConfigManager(ConfigManager):
    """``config/topics.json``."""

    def __init__(self, disk: Disk, switches: ReleaseSwitches, clock: VirtualClock, settings: BrokerSettings) -> None:
        super().__init__(disk, switches, clock, "topics.json", "topicConfigTable")
        for name, (queues, permission) in _system_topics(switches, settings).items():
            self.table.setdefault(name, self._topic(name, queues, permission))

    def create(self, name: str, queues: int = _TOPIC_QUEUES) -> None:
        """Make a topic, if it is not there (``#createTopicInSendMessageMethod``)."""
        if name not in self.table:
            self.add(name, self._topic(name, queues, _READ | _WRITE))

    def update(self, name: str, queues: int) -> None:
        """Make a topic, or give it another number of queues (``#updateTopicConfig``)."""
        self.add(name, self._topic(name, queues, _READ | _WRITE))

    def read_queues(self, name: str) -> int:
        """How many queues of a topic consumers read, 0 if there is no such topic."""
        return int(self.table.get(name, {}).get("readQueueNums", 0))

    def _topic(self, name: str, queues: int, permission: int) -> dict[str, Any]:
        attributes: dict[str, Any] = {"attributes": {}} if self._switches.versions_consumer_offsets else {}
        return {
            **attributes,
            "order": False,
            "perm": permission,
            "readQueueNums": queues,
            "topicFilterType": "SINGLE_TAG",
            "topicName": name,
            "topicSysFlag": 0,
            "writeQueueNums": queues,
        }


def _system_topics(switches: ReleaseSwitches, settings: BrokerSettings) -> dict[str, tuple[int, int]]:
    """Queues and permission of each topic that a version makes at its start (``TopicConfigManager#init``)."""
    all_rights = _READ | _WRITE | _INHERIT
    topics = {
        "SELF_TEST_TOPIC": (1, _READ | _WRITE),
        "TBW102": (8, all_rights),
        "BenchmarkTest": (1024, _READ | _WRITE),
        settings.broker_cluster_name: (16, all_rights),
        settings.broker_name: (1, all_rights),
        "OFFSET_MOVED_EVENT": (1, _READ | _WRITE),
    }
    if switches.keeps_discarded:
        topics["SCHEDULE_TOPIC_XXXX"] = (18, _READ | _WRITE)
        topics[f"{settings.broker_cluster_name}_REPLY_TOPIC"] = (1, _READ | _WRITE)
    if switches.versions_consumer_offsets:
        topics[f"rmq_sys_REVIVE_LOG_{settings.broker_cluster_name}"] = (8, _READ | _WRITE)
        topics[f"rmq_sys_SYNC_BROKER_MEMBER_{settings.broker_name}"] = (1, _INHERIT)
        topics[HALF_TOPIC] = topics[OP_TOPIC] = (1, _READ | _WRITE)
    if switches.prints_each_item:
        for topic in ("RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC", "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC"):
            topics[topic] = (1, _READ | _WRITE)
    return topics


class SubscriptionGroupManager(ConfigManager):
    """``config/subscriptionGroup.json``, which is first saved when a consumer of a new group comes."""

    def __init__(self, disk: Disk, switches: ReleaseSwitches, clock: VirtualClock) -> None:
        super().__init__(disk, switches, clock, "subscriptionGroup.json", "subscriptionGroupTable")
        groups = [
            "TOOLS_CONSUMER", "FILTERSRV_CONSUMER", "SELF_TEST_C_GROUP", "CID_ONS-HTTP-PROXY", "CID_ONSAPI_PULL",
            "CID_ONSAPI_PERMISSION", "CID_ONSAPI_OWNER",
        ]  # fmt: skip
        if switches.versions_consumer_offsets:
            groups.append(CHECK_GROUP)
        for name in groups:
            self.table.setdefault(name, self._group(name))

    def create(self, name: str) -> None:
        """Make a group, if it is not there (``#findSubscriptionGroupConfig``)."""
        if name not in self.table:
            self.add(name, self._group(name))

    def _group(self, name: str) -> dict[str, Any]:
        group: dict[str, Any] = {
            "brokerId": 0,
            "consumeBroadcastEnable": True,
            "consumeEnable": True,
            "consumeFromMinEnable": True,
            "groupName": name,
            "notifyConsumerIdsChangedEnable": True,
            "retryMaxTimes": 16,
            "retryQueueNums": 1,
            "whichBrokerWhenConsumeSlowly": 1,
        }
        if self._switches.versions_consumer_offsets:
            group |= {
                "consumeMessageOrderly": False,
                "consumeTimeoutMinute": 15,
                "groupRetryPolicy": {"type": "CUSTOMIZED"},
                "groupSysFlag": 0,
            }
            if self._switches.refuses_late_end:
                group["attributes"] = {}
        return dict(sorted(group.items()))


def save_empty_tables(disk: Disk, switches: ReleaseSwitches, clock: VirtualClock) -> None:
    """Save the tables that nothing is entered into here, as a stopping broker does; what is there stays."""
    version: dict[str, Any] = {"dataVersion": {"counter": 0, "stateVersion": 0, "timestamp": clock.now}}
    level = {"orderedConsumptionLevel": "QUEUE"} if switches.prints_each_item else {}
    contents: dict[str, dict[str, Any]] = {
        "delayOffset.json": {**(version if switches.versions_consumer_offsets else {}), "offsetTable": {}},
        "consumerFilter.json": {"filterDataByTopic": {}},
    }
    if switches.versions_consumer_offsets:
        count = {"orderInfoCount": 0} if switches.counts_order_info else {}
        contents["consumerOrderInfo.json"] = {**count, **level, "table": {}}
    for name, content in contents.items():
        before = disk.read(f"config/{name}")
        text = config_json(content, switches).encode() if before is None else before
        with suppress(NoSpaceLeftError):
            string_to_file(disk, f"config/{name}", text, switches)
