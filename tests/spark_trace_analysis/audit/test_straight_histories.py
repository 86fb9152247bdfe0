"""What is judged from columns is told as the rules tell it, and what is only nearly straight is left to the rules."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from spark_trace_analysis.audit.columns.straight_histories import STATES, straight_histories
from spark_trace_analysis.audit.stages import group_stage
from tests.reference.format.store_writer import HALF, OP, StoreWriter
from tests.sampled import sampled
from tests.spark_trace_analysis.audit.both_audits import assert_both, in_stages

if TYPE_CHECKING:
    from pathlib import Path

    from spark_trace_analysis.audit.columns.straight_histories import Straight
    from tests.reference.format.store_writer import Half

STORES = 160
TRANSACTIONS = 12


@pytest.fixture
def straight(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many straight histories the audits of a test find, by state."""
    seen: Counter[str] = Counter()

    def counted(*arguments: Any) -> Straight:
        found = straight_histories(*arguments)
        seen.update(STATES[state].value for state in found.state)
        return found

    monkeypatch.setattr(group_stage, "straight_histories", counted)
    return seen


def test_what_checks_lead_to_is_told_from_columns(tmp_path: Path, straight: Counter[str]) -> None:
    writer = StoreWriter()
    for number in range(4):
        last = writer.half(f"K{number}", body=b"%d" % number)
        for _ in range(number):
            last = writer.put_back(last)
        writer.commit(last)
        writer.op(writer.put_back(writer.half(f"R{number}", body=b"r%d" % number)).offset)
        writer.discard(writer.put_back(writer.put_back(writer.half(f"P{number}", body=b"p%d" % number))))
    one = assert_both(writer.write(tmp_path / "s"), split_bytes=1_500, bucket_bytes=4_000)
    assert straight == {"delivered": 4, "rolled_back": 4, "parked": 4}
    assert {name: count for name, count in one.counts.items() if count} == straight


@pytest.mark.parametrize(
    ("saved", "pending", "from_columns"),
    [
        ({"half": 1}, 8, 8),
        ({"half": 4}, 7, 7),
        ({"half": 1, "op": 1}, 0, 0),
        ({"has_offsets": False}, 8, 8),
    ],
)
def test_what_the_next_round_finds_open_is_told_from_columns_if_saved_offsets_leave_no_doubt(
    tmp_path: Path, straight: Counter[str], saved: dict[str, Any], pending: int, from_columns: int
) -> None:
    writer = StoreWriter()
    halves = [writer.half(f"K{number}", body=b"%d" % number) for number in range(8)]
    for half in halves[:3]:
        writer.put_back(writer.put_back(half))
    one = assert_both(writer.write(tmp_path / "s", **saved), split_bytes=1_500, bucket_bytes=4_000)
    assert (one.counts["pending"], straight["pending"]) == (pending, from_columns)


def test_where_a_discard_leaves_no_record_used_up_checks_are_left_to_the_rules(
    tmp_path: Path, straight: Counter[str]
) -> None:
    writer = StoreWriter("4.5.1")
    halves = [writer.half(f"K{number}", body=b"%d" % number) for number in range(3)]
    writer.commit(writer.put_back(halves[0]))
    writer.commit(halves[1])
    used_up = writer.put_back(writer.put_back(halves[2]))
    writer.deliver(used_up, after_ms=130_000)
    writer.op(used_up.offset)
    rows = assert_both(writer.write(tmp_path / "s", conf="transactionCheckMax=2\n")).transactions
    assert [row.resembles for row in rows] == [(), (), ("A14",)]
    assert straight == {"delivered": 2}


def test_a_discard_of_an_immune_half_is_left_to_the_rules(tmp_path: Path, straight: Counter[str]) -> None:
    writer = StoreWriter()
    for key, immune in (("K0", True), ("K1", False)):
        half = writer.half(key, body=key.encode(), CHECK_IMMUNITY_TIME_IN_SECONDS="20")
        writer.discard(writer.put_back(writer.put_back(half, immune=immune), immune=immune))
    rows = assert_both(writer.write(tmp_path / "s", conf="transactionCheckMax=2\n")).transactions
    assert [(row.state, row.resembles) for row in rows] == [("parked", ("A09",)), ("parked", ())]
    assert straight.total() == 0


@pytest.mark.parametrize("limit", [0, 1, 5, 100])
def test_the_gravest_rows_are_listed_wherever_they_lie(tmp_path: Path, limit: int) -> None:
    writer = StoreWriter()
    for number in range(30):
        half = writer.half(f"K{number}", body=b"%d" % number)
        if number % 3 == 0:
            writer.discard(writer.put_back(half))
        elif number % 7 == 0:
            writer.deliver(half)
            writer.commit(half)
        elif number % 5:
            writer.commit(half)
    store = writer.write(tmp_path / "s")
    staged = in_stages(store, everything=False, limit=limit, split_bytes=2_000, bucket_bytes=3_000)
    one = assert_both(store)
    assert list(staged.transactions) == list(one.listed(everything=False, limit=limit))
    assert staged.to_json(limit=limit)["omitted"] == max(17 - limit, 0)


class _Life:
    """A random life of one transaction; most of its steps go on from the last copy, and few are what no broker does."""

    def __init__(self, writer: StoreWriter, choose: random.Random, number: int) -> None:
        self.writer = writer
        self.choose = choose
        self.is_immune = choose.random() < 0.15
        immunity = {"CHECK_IMMUNITY_TIME_IN_SECONDS": choose.choice(["20", "20", "x"])} if self.is_immune else {}
        key = f"K{number}" if choose.random() < 0.95 else "K0"
        group = f"g{number}" if key == "K0" else "g"
        flag = choose.choice([0, 0, 0, 5])
        self.copies = [writer.half(key, group=group, body=b"body %d" % number, flag=flag, **immunity)]

    def copy(self) -> Half:
        return self.copies[-1] if self.choose.random() < 0.9 else self.choose.choice(self.copies)

    def is_rare(self) -> bool:
        return self.choose.random() < 0.06

    def put_back(self, copy: Half) -> None:
        if self.is_rare():
            copy.properties["KEYS"] = "other"
        if self.is_rare():
            self.writer.ends[HALF, 0] -= 1
        self.copies.append(self.writer.put_back(copy, immune=self.is_immune and self.choose.random() < 0.8))

    def deliver(self, copy: Half) -> None:
        if self.is_rare():
            copy.physical += 1
        if self.is_rare():
            copy.flag = self.choose.choice([0, 5])
        if self.is_rare():
            copy.properties["TRANSACTION_CHECK_TIMES"] = "2"
        self.writer.deliver(copy, after_ms=self.choose.choice([0, 0, 0, 130_000]))

    def step(self) -> None:
        copy, deed = self.copy(), self.choose.random()
        if deed < 0.55:
            self.put_back(copy)
        elif deed < 0.7:
            self.deliver(copy)
        elif deed < 0.9:
            self.writer.op(copy.offset)
        else:
            self.writer.discard(copy)

    def end(self) -> None:
        copy, deed = self.copy(), self.choose.random()
        if deed < 0.5:
            self.deliver(copy)
            self.writer.op(copy.offset)
        elif deed < 0.6:
            self.writer.op(copy.offset)
        elif deed < 0.7:
            self.writer.op(copy.offset)
            self.deliver(copy)
        elif deed < 0.9:
            self.writer.discard(copy)


@pytest.mark.untraced
@pytest.mark.parametrize("version", sampled(["4.5.1", "4.9.7", "5.3.3", "5.4.0"], 2))
def test_random_lives_are_told_as_the_rules_tell_them(tmp_path: Path, straight: Counter[str], version: str) -> None:
    total = 0
    for seed in range(STORES // 4):
        choose = random.Random(f"lives {version} {seed}")
        writer = StoreWriter(version)
        lives = [_Life(writer, choose, number) for number in range(TRANSACTIONS)]
        for life in lives:
            for _ in range(choose.choice([0, 0, 1, 1, 2, 3])):
                choose.choice([life, life, life, choose.choice(lives)]).step()
            life.end()
        half, op = (writer.ends.get((topic, 0), 0) for topic in (HALF, OP))
        store = writer.write(
            tmp_path / str(seed),
            half=choose.choice([half, half, choose.randint(0, half)]),
            op=choose.choice([op, op, choose.randint(0, op)]),
            conf=choose.choice([None, "transactionCheckMax=2\n", "transactionCheckMax=1\n"]),
            has_queues=False,
        )
        total += assert_both(store, bucket_bytes=20_000).total
    assert min(straight[state] for state in ("delivered", "rolled_back", "parked", "pending")) > 0
    assert total // 5 < straight.total() < total
