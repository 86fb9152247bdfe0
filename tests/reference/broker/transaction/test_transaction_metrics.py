"""The counts of open halves, and the file that the broker keeps them in."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.broker_schedule import KillAct, read_schedule
from conformance.golden import schedule_path
from conformance.golden_stores import GoldenStore, golden_stores
from conformance.scheduled_run import ScheduledRun
from reference.broker.broker_controller import BrokerController
from reference.broker.broker_settings import BrokerSettings
from reference.broker.transaction.transaction_metrics import FILE, TransactionMetrics
from reference.format.errors import DiskHasStoppedError
from reference.simulation.virtual_clock import VirtualClock
from reference.store.disk import DELETION, RENAME, DirectoryDisk
from reference.store.memory_disk import MemoryDisk
from reference.store.message_store import MessageStore
from reference.versions.versions import STORE_VERSIONS
from tests.reference.one_broker import GROUP, OneBroker

if TYPE_CHECKING:
    from pathlib import Path

BACKUP = f"{FILE}.bak"
COUNTING = ("5.2.0", "5.3.3", "5.4.0")


def loads_in_log(golden: GoldenStore) -> int:
    """How often the real broker has read a file of counts at a start."""
    with gzip.open(golden.path / "broker.grep.log.gz", "rt", encoding="utf-8") as lines:
        return sum("config/transactionMetrics OK" in line for line in lines)


def counts(content: bytes | None) -> tuple[int, list[tuple[str, int]]]:
    """How often a count was changed, and the counts in their order."""
    assert content is not None
    table = json.loads(content)
    return table["dataVersion"]["counter"], [(topic, of["count"]) for topic, of in table["transactionCount"].items()]


def with_empty_store(golden: GoldenStore) -> bool:
    """Whether the run began without counts; that of 5.3.3/late read those of a run before it."""
    kills = sum(isinstance(act, KillAct) for act in read_schedule(schedule_path(golden)).acts)
    return loads_in_log(golden) <= kills


COUNTED = {golden.name: golden for golden in golden_stores() if (golden.path / FILE).exists()}


@pytest.mark.parametrize("name", [name for name, golden in COUNTED.items() if with_empty_store(golden)])
def test_the_counts_are_those_of_the_real_broker(name: str) -> None:
    golden = COUNTED[name]
    disk = ScheduledRun(read_schedule(schedule_path(golden))).run().disk
    for file in (FILE, BACKUP):
        assert counts(disk.read(file)) == counts((golden.path / file).read_bytes())


def test_only_one_real_store_is_left_out() -> None:
    assert [name for name, golden in COUNTED.items() if not with_empty_store(golden)] == ["5.3.3/late"]


def metrics(disk: MemoryDisk | DirectoryDisk, version: str = "5.3.3") -> TransactionMetrics:
    return TransactionMetrics(disk, STORE_VERSIONS[version], VirtualClock(7))


@pytest.mark.parametrize("version", COUNTING)
def test_a_file_of_a_real_broker_is_read_and_written_as_it_was(version: str) -> None:
    golden = next(golden for golden in COUNTED.values() if golden.version == version)
    content = (golden.path / FILE).read_bytes()
    disk = MemoryDisk()
    disk.write(FILE, content)
    metrics(disk, version).persist()
    assert (disk.read(FILE), disk.read(BACKUP)) == (content, content)


@pytest.mark.parametrize("version", ["4.5.1", "4.9.7"])
def test_older_versions_count_nothing(version: str) -> None:
    one = OneBroker(version)
    one.commit(one.half())
    one.broker.shutdown()
    assert one.broker.message_store.disk.read(FILE) is None


def test_a_half_counts_until_it_is_committed_rolled_back_or_given_up() -> None:
    one = OneBroker("5.3.3", BrokerSettings(transaction_check_max=1))
    counted = one.broker.transaction_metrics.transaction_counts
    first, second, _ = one.half(), one.half(), one.half()
    assert counted["T"].count == 3
    one.commit(first)
    assert counted["T"].count == 2
    one.roll_back(second)
    assert counted["T"].count == 1
    one.flush_ops()
    one.round()
    assert counted["T"].count == 0


def test_a_refused_half_and_a_refused_commit_count_nothing() -> None:
    one = OneBroker("5.3.3", replace(OneBroker("5.3.3").settings, reject_transaction_message=True))
    half = OneBroker("5.3.3").half()
    one.commit(half)
    assert one.broker.transaction_metrics.transaction_counts == {}


@pytest.mark.parametrize(("version", "interval"), [("5.3.3", 3_000), ("5.4.0", 10_000)])
def test_the_counts_are_saved_when_the_interval_is_over(version: str, interval: int) -> None:
    one = OneBroker(version, BrokerSettings(transaction_metric_flush_interval_ms=interval))
    one.half()
    one.clock.advance(interval)
    assert not one.broker.persist_transaction_metrics()
    one.clock.advance(1)
    assert one.broker.persist_transaction_metrics()
    assert not one.broker.persist_transaction_metrics()
    assert counts(one.broker.message_store.disk.read(FILE)) == (1, [("T", 1)])


def test_from_5_5_1_on_the_counts_are_saved_in_the_millisecond_in_which_the_interval_is_over() -> None:
    one = OneBroker("5.5.1", BrokerSettings(transaction_metric_flush_interval_ms=10_000))
    one.half()
    one.clock.advance(9_999)
    assert not one.broker.persist_transaction_metrics()
    one.clock.advance(1)
    assert one.broker.persist_transaction_metrics()


@pytest.mark.parametrize("version", ["5.3.3", "5.4.0"])
def test_a_killed_process_goes_on_from_the_counts_that_were_saved(version: str) -> None:
    one = OneBroker(version)
    one.half()
    one.clock.advance(60_000)
    assert one.broker.persist_transaction_metrics()
    one.half()
    one.broker.crash()
    following = one.broker.restart()
    assert following.transaction_metrics.transaction_counts["T"].count == 1


@pytest.mark.parametrize("version", COUNTING)
def test_a_crash_at_any_write_of_the_file_leaves_counts_that_were_saved(version: str) -> None:
    disk = MemoryDisk()
    subject = metrics(disk, version)
    for _ in range(2):
        subject.add_and_get("T", 1)
        subject.persist()
    whole = disk.copy()
    last = metrics(whole, version)
    last.add_and_get("T", 1)
    last.persist()
    steps = whole.write_count
    assert steps == (2 if version == "5.4.0" else 4)
    for step in range(steps):
        for torn in (0, 5):
            dying = disk.copy()
            last = metrics(dying, version)
            last.add_and_get("T", 1)
            dying.stops_after, dying.torn_bytes = step, torn
            with pytest.raises(DiskHasStoppedError):
                last.persist()
            dying.resume()
            assert metrics(dying, version).transaction_counts["T"].count in (1, 2)


def test_before_5_4_the_file_is_missing_for_a_moment() -> None:
    disk = MemoryDisk()
    subject = metrics(disk)
    subject.persist()
    subject.persist()
    assert disk.writes[DELETION] == 1
    assert disk.writes[RENAME] == 2


@pytest.mark.parametrize(("version", "left"), [("5.3.3", {}), ("5.4.0", {"T": 2})])
def test_a_loss_of_power_takes_what_was_not_forced(version: str, left: dict[str, int]) -> None:
    disk = MemoryDisk(loses_power=True)
    subject = metrics(disk, version)
    for _ in range(2):
        subject.add_and_get("T", 1)
        subject.persist()
    disk.lose_power()
    after = metrics(disk, version).transaction_counts
    assert {topic: metric.count for topic, metric in after.items()} == left


@pytest.mark.parametrize("version", COUNTING)
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"transactionCount":{"T":{}}}'])
def test_a_file_that_cannot_be_understood_is_passed_over_for_its_backup(version: str, content: bytes) -> None:
    disk = MemoryDisk()
    subject = metrics(disk, version)
    subject.add_and_get("T", 5)
    subject.persist()
    good = disk.read(FILE)
    assert good is not None
    disk.write(BACKUP, good)
    disk.write(FILE, content)
    assert metrics(disk, version).transaction_counts["T"].count == 5
    assert (disk.read(FILE) is None) is (version == "5.4.0")


def test_a_file_and_a_backup_that_cannot_be_understood_count_as_nothing() -> None:
    disk = MemoryDisk()
    disk.write(FILE, b"{")
    disk.write(BACKUP, b"}")
    assert metrics(disk).transaction_counts == {}


@pytest.mark.parametrize("version", ["5.2.0", "5.3.3"])
def test_without_room_for_the_file_what_was_saved_stays(version: str) -> None:
    disk = MemoryDisk()
    subject = metrics(disk, version)
    subject.add_and_get("T", 1)
    subject.persist()
    disk.space_left = 0
    subject.add_and_get("T", 1)
    subject.persist()
    assert metrics(disk, version).transaction_counts["T"].count == 1


def test_in_a_directory_the_file_is_forced_and_read_again(tmp_path: Path) -> None:
    for _ in range(3):
        subject = metrics(DirectoryDisk(tmp_path), "5.4.0")
        subject.add_and_get("T", 1)
        subject.persist()
    assert counts((tmp_path / FILE).read_bytes()) == (3, [("T", 3)])
    assert counts((tmp_path / BACKUP).read_bytes()) == (2, [("T", 2)])


def test_a_stopping_broker_saves_its_counts(tmp_path: Path) -> None:
    clock, switches = VirtualClock(1_000_000), STORE_VERSIONS["5.3.3"]
    store = MessageStore(switches, clock, DirectoryDisk(tmp_path))
    one = OneBroker("5.3.3")
    one.broker = BrokerController(switches, BrokerSettings(), clock, store)
    one.clock = clock
    one.half(PGROUP=GROUP)
    one.broker.shutdown()
    assert counts((tmp_path / FILE).read_bytes()) == (1, [("T", 1)])
