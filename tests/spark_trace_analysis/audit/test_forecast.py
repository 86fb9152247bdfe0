"""What is foretold of pending halves is what rounds bring that walk the queue literally, entry by entry."""

from __future__ import annotations

import random
from typing import NamedTuple

import numpy as np
import pytest

from halfcheck.pending_transactions import HalfForecast
from spark_trace_analysis.audit.rules.forecast import CheckRounds, Forecasts, PendingHalves
from spark_trace_analysis.records.transaction_record import NOTHING

INTERVAL_MS, TIMEOUT_MS, CHECK_MAX = 30_000, 6_000, 4


class Entry(NamedTuple):
    name: int
    born: int
    stored: int
    checks: int
    immunity_ms: int | None


class Rounds:
    """``TransactionalMessageServiceImpl#check`` on a queue of entries, with what became of each name."""

    def __init__(self, queue: list[Entry], *, sees_its_copies: bool) -> None:
        self.queue = queue
        self.sees_its_copies = sees_its_copies
        self.asked: dict[int, list[int]] = {}
        self.discarded: dict[int, int] = {}

    def visit(self, began: int, moment: int, places: range, copies_from: int) -> int:
        """Walk some places of the queue, or up to where the round ends; gives that place."""
        for at in places:
            if at == len(self.queue) or (at >= copies_from and not self.sees_its_copies):
                return at
            one = self.queue[at]
            if one.checks >= CHECK_MAX:
                self.discarded[one.name] = moment
                continue
            age = moment - one.born
            if one.stored >= began or (one.immunity_ms is None and age < TIMEOUT_MS):
                return at
            self.queue.append(one._replace(stored=moment, checks=one.checks + 1))
            if one.immunity_ms is None or age >= one.immunity_ms:
                self.asked.setdefault(one.name, []).append(moment)
        return places.stop

    def go_on(self, began: int, moment: int, copies_from: int | None = None) -> None:
        """The rest of a round, at a moment; without the place of its own first copy, all of it."""
        size = len(self.queue)
        reached = self.visit(began, moment, range(2 * size + 1), size if copies_from is None else copies_from)
        self.queue = self.queue[reached:]


def drawn(chance: random.Random, one_at: int) -> list[Entry]:
    immunities = [None, None, None, 0, 20_000, 50_000, 100_000]
    return [
        Entry(number, born, born, chance.randrange(CHECK_MAX + 1) if born < one_at else 0, chance.choice(immunities))
        for number, born in enumerate(sorted(100 * chance.randrange(400, 1_100) for _ in range(chance.randint(1, 25))))
    ]


@pytest.mark.parametrize("seed", range(4))
def test_rounds_that_walk_the_queue_bring_what_was_foretold(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(200):
        now = 110_000
        rounds = CheckRounds(now - chance.randrange(1, INTERVAL_MS), INTERVAL_MS, is_seen=False)
        queue = drawn(chance, rounds.one_at)
        moments = [rounds.one_at + number * INTERVAL_MS for number in range(1, 20)]
        assert differing(foretold(queue, rounds, now), queue, moments) == []


@pytest.mark.parametrize("is_seen", [True, False])
def test_a_round_that_should_have_come_is_awaited_now_and_the_next_ones_go_by_it(*, is_seen: bool) -> None:
    chance = random.Random(5)
    for _ in range(200):
        now = 200_000
        rounds = CheckRounds(now - INTERVAL_MS - chance.randrange(1, 2_000), INTERVAL_MS, is_seen=is_seen)
        queue = drawn(chance, rounds.one_at)
        moments = [now + number * INTERVAL_MS for number in range(20)]
        assert differing(foretold(queue, rounds, now), queue, moments) == []


@pytest.mark.parametrize("seed", range(4))
def test_a_round_that_is_underway_goes_on_behind_what_it_has_put_back(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(200):
        began = 110_000
        now = began + chance.randrange(1, 100)
        before = Rounds([one for one in drawn(chance, began) if one.stored < began], sees_its_copies=False)
        entries = len(before.queue)
        reached = before.visit(began, began, range(chance.randrange(1, entries + 1)), entries)
        if len(before.queue) == entries:  # it has put nothing back so far, so that nobody sees it
            continue
        queue = before.queue[reached:]
        found = foretold(queue, CheckRounds(began, INTERVAL_MS), now)
        moments = [began + number * INTERVAL_MS for number in range(1, 20)]
        assert differing(found, queue, moments, underway=(began, now, entries - reached)) == []


def foretold(queue: list[Entry], rounds: CheckRounds, now: int) -> dict[int, HalfForecast]:
    """By name."""
    columns = [
        [place, one.born, one.stored, one.checks, NOTHING if one.immunity_ms is None else one.immunity_ms]
        for place, one in enumerate(queue)
    ]
    halves = PendingHalves(*(np.array(column, np.int64) for column in zip(*columns, strict=True)))
    found = Forecasts(halves, rounds, now=now, timeout_ms=TIMEOUT_MS, check_max=CHECK_MAX)
    forecast = found.of(slice(None))
    assert found.discarded_at.tolist() == forecast.discarded_at.tolist()
    return {
        one.name: HalfForecast(None if asked == NOTHING else asked, left, discarded)
        for one, asked, left, discarded in zip(queue, *(column.tolist() for column in forecast), strict=True)
    }


def differing(
    found: dict[int, HalfForecast],
    queue: list[Entry],
    moments: list[int],
    underway: tuple[int, int, int] | None = None,
) -> list[str]:
    """How what was foretold differs from rounds at some moments, be it that they see the copies that they write or not.

    Of a round that is underway it is given when it began, when it goes on, and the place of its first own copy.
    """
    differences = []
    for sees_its_copies in (False, True):
        played = Rounds([*queue], sees_its_copies=sees_its_copies)
        if underway is not None:
            played.go_on(*underway)
        for moment in moments:
            played.go_on(moment, moment)
        for name in found.keys() | played.discarded.keys():
            forecast, discarded, asked = found.get(name), played.discarded.get(name), played.asked.get(name, [])
            came = f"{name}: {forecast}, but asked at {asked}, discarded at {discarded}"
            if forecast is None or discarded is None:
                differences.append(came)
                continue
            last_copies = CHECK_MAX - next(one.checks for one in queue if one.name == name)
            slack = 0 if last_copies == 0 and underway is None else INTERVAL_MS // 2
            if (forecast.next_check_at, forecast.checks_left) != (min(asked, default=None), len(asked)) or abs(
                forecast.discarded_at - discarded
            ) > slack:
                differences.append(came)
    return differences
