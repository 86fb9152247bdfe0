"""A watch tells each thing once, also of transactions that were settled long ago, and begins anew where it must."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from files.errors import BadContentError, UnwritableFileError
from halfcheck.watching import watch as watching
from halfcheck.watching.memory import WatchMemory, half_place
from halfcheck.watching.news import NewsKind
from halfcheck.watching.sources import BrokerSource
from halfcheck.watching.tally import LookTally
from tests.halfcheck.watching.watched import SETTINGS, Looking, told
from tests.wire.copying.traffic import COMMIT, ROLLBACK
from tests.wire.one_broker import broker
from tests.wire.one_producer import TOPIC, OneProducer, unique_key
from wire.client.channel import Address

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from halfcheck.watching.sources import Reading
    from wire.copying.moment import Put, ReadSoFar, StoreMoment


def test_a_settled_transaction_comes_back_with_a_second_commit_or_half(tmp_path: Path) -> None:
    with broker(tmp_path, "5.5.1", conf=SETTINGS) as running, OneProducer(running.address) as one:
        running.controller.topic(TOPIC)
        looking = Looking(tmp_path / "memory", BrokerSource(Address.of(running.address), 1e9), hanging_ms=60_000)
        halves = {key: one.half(key) for key in ("twice", "again", "once", "open")}
        for key in ("twice", "again", "once"):
            one.end(halves[key], COMMIT)
        running.controller.push_clock(45_000)
        first = looking.look()
        running.controller.push_clock(20_000)
        second = looking.look()
        assert (first.remembered, second.remembered) == (3, 3)
        assert {**first.counts, "delivered": 3, "pending": 1} == first.counts
        assert (told(first), told(second)) == ([], [(unique_key("open"), "hanging")])
        one.end(halves["twice"], COMMIT)
        one.end(one.half("again"), COMMIT)
        running.controller.push_clock(5_000)
        third, fourth = looking.look(), looking.look()
        assert {**third.counts, "doubled": 2, "delivered": 1, "pending": 1} == third.counts == fourth.counts
        doubled = sorted((unique_key(key), "doubled") for key in ("twice", "again"))
        assert (told(third), told(fourth)) == (doubled, [])
        assert third.counters.findings == fourth.counters.findings
        (news,) = (news for news in third.news if news.row is not None and news.row.unique_key == unique_key("twice"))
        assert news.row is not None
        assert [event.event for event in news.row.history].count("delivered") == news.row.deliveries == 2
        assert news.row.half_at == halves["twice"].commit_log_offset


def test_a_lost_transaction_comes_back_with_an_op_message_alone(tmp_path: Path) -> None:
    with broker(tmp_path, "4.5.1", conf=SETTINGS) as running, OneProducer(running.address) as one:
        running.controller.topic(TOPIC)
        looking = Looking(tmp_path / "memory", BrokerSource(Address.of(running.address), 1e9))
        half = one.half("late")
        running.controller.push_clock(150_000)
        assert (looking.look().counts["lost"], looking.look().remembered) == (1, 1)
        one.end(half, ROLLBACK)
        look = looking.look()
        assert (look.counts["lost"], look.counts["rolled_back"]) == (0, 1)


def test_a_message_of_a_forgotten_transaction_is_not_called_its_only_one(tmp_path: Path) -> None:
    with broker(tmp_path, "5.3.3", conf=SETTINGS) as running, OneProducer(running.address) as one:
        running.controller.topic(TOPIC)
        looking = Looking(tmp_path / "memory", BrokerSource(Address.of(running.address), 1e9), remembered=1)
        halves = [one.half(f"k{number}") for number in range(3)]
        for half in halves:
            one.end(half, COMMIT)
        running.controller.push_clock(61_000)
        assert looking.look().remembered == 1
        one.end(halves[0], COMMIT)
        running.controller.push_clock(5_000)
        assert told(looking.look()) == [(unique_key("k0"), NewsKind.UNREMEMBERED)]


@dataclass(frozen=True, slots=True)
class WithoutRounds(BrokerSource):
    """The same broker as if its clock had gone on, and its check service had not."""

    later_ms: int = 0

    @contextmanager
    def look(self) -> Iterator[Reading]:
        # A class with slots is made anew, so that super() without arguments does not find it.
        with BrokerSource.look(self) as reading:
            yield _Later(reading, self.later_ms)


@dataclass(frozen=True, slots=True)
class _Later:
    reading: Reading
    later_ms: int

    def moment(self, since: ReadSoFar, put: Put) -> StoreMoment:
        found = self.reading.moment(since, put)
        return replace(found, read_at_ms=found.read_at_ms + self.later_ms)

    def record_at(self, at: int) -> bytes | None:
        return self.reading.record_at(at)

    def producers(self, group: str) -> tuple[str, ...] | None:
        return self.reading.producers(group)


def test_rounds_that_stop_are_told_once_and_that_they_go_on(tmp_path: Path) -> None:
    with broker(tmp_path, "5.3.3", conf=SETTINGS) as running, OneProducer(running.address) as one:
        running.controller.topic(TOPIC)
        one.half("open")
        running.controller.push_clock(30_000)
        found = []
        for later_ms in (0, 90_000, 91_000, 0, 0):
            source = WithoutRounds(Address.of(running.address), 1e9, later_ms)
            look = Looking(tmp_path / "memory", source).look()
            found.append((look.overdue, told(look)))
        assert found == [(0, []), (1, [("", "stuck")]), (1, []), (0, [("", "goes_on")]), (0, [])]


def test_another_log_is_read_from_its_beginning_and_nothing_is_told_twice(tmp_path: Path) -> None:
    sources: list[tuple[list[tuple[str, str]], int, int]] = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with broker(tmp_path / name, "5.3.3", conf=SETTINGS) as running, OneProducer(running.address) as one:
            running.controller.topic(TOPIC)
            for key in ("same", name, *(f"{name}{number}" for number in range(5 * len(sources)))):
                half = one.half(key)
                one.end(half, COMMIT)
                one.end(half, COMMIT)
            running.controller.push_clock(61_000)
            source = BrokerSource(Address.of(running.address), 1e9)
            with WatchMemory(tmp_path / "memory", "x") as memory:
                look = watching.BrokerWatch(source, memory, 10**9).look()
            sources.append((told(look), look.counts["doubled"], look.remembered))
    assert sources[0] == (sorted((unique_key(key), "doubled") for key in ("same", "one")), 2, 2)
    others = ["two", *(f"two{number}" for number in range(5))]
    assert sources[1] == ([("", "begun_anew"), *sorted((unique_key(key), "doubled") for key in others)], 7, 7)


def test_a_look_that_fails_leaves_the_memory_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with broker(tmp_path, "5.3.3", conf=SETTINGS) as running, OneProducer(running.address) as one:
        running.controller.topic(TOPIC)
        looking = Looking(tmp_path / "memory", BrokerSource(Address.of(running.address), 1e9))
        looking.look()
        half = one.half("twice")
        one.end(half, COMMIT)
        one.end(half, COMMIT)
        running.controller.push_clock(61_000)
        with monkeypatch.context() as patched:
            patched.setattr(LookTally, "finish", lambda _: 1 // 0)
            with pytest.raises(ZeroDivisionError):
                looking.look()
        assert told(looking.look()) == [(unique_key("twice"), "doubled")]


def test_a_file_that_is_none_of_this_watch_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "memory"
    with WatchMemory(path, "one"), pytest.raises(UnwritableFileError, match="another watch"):
        WatchMemory(path, "one")
    with pytest.raises(BadContentError, match="a watch of one, format 1"):
        WatchMemory(path, "other")
    (tmp_path / "text").write_text("no database" * 100, encoding="utf-8")
    with pytest.raises(BadContentError, match="no file of a watch"):
        WatchMemory(tmp_path / "text", "one")


def test_the_oldest_settled_transactions_are_forgotten(tmp_path: Path) -> None:
    with WatchMemory(tmp_path / "memory", "x", remembered=2) as memory:
        with memory.look():
            memory.settle((key, "delivered", [10 * key, 10 * key + 1], [half_place(0, key)]) for key in range(5))
        assert (memory.settled, memory.get("forgets")) == (2, True)
        with memory.look():
            assert memory.come_back([1, 4], [half_place(0, 2), half_place(1, 3)]) == (["delivered"], [40, 41])
            assert memory.come_back([], [half_place(0, 3)]) == (["delivered"], [30, 31])
        assert memory.settled == 0
