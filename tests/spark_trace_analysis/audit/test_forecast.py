"""What is foretold of pending halves is what rounds bring that walk the queue literally, entry by entry."""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest

from spark_trace_analysis.audit.rules.forecast import CheckRounds, HalfForecast, PendingHalf, forecasts

INTERVAL_MS, TIMEOUT_MS, CHECK_MAX = 30_000, 6_000, 4
SEES_ITS_COPIES = 8
"""A round that puts back more halves than these finds the queue entries of its own copies."""


class Entry(NamedTuple):
    name: int
    born: int
    stored: int
    checks: int
    immunity_ms: int | None


class Rounds:
    """``TransactionalMessageServiceImpl#check`` on a queue of entries, with what became of each name."""

    def __init__(self, queue: list[Entry]) -> None:
        self.queue = queue
        self.asked: dict[int, list[int]] = {}
        self.discarded: dict[int, int] = {}

    def visit(self, began: int, moment: int, places: range, copies_from: int) -> int:
        """Walk some places of the queue, or up to where the round ends; gives that place."""
        for at in places:
            own = len(self.queue) - copies_from
            if at == len(self.queue) or (at >= copies_from and own <= SEES_ITS_COPIES):
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
        played = Rounds(drawn(chance, rounds.one_at))
        found = foretold(played, rounds, now)
        for number in range(1, 20):
            moment = rounds.one_at + number * INTERVAL_MS
            played.go_on(moment, moment)
        assert found == came(played)


@pytest.mark.parametrize("seed", range(4))
def test_a_round_that_is_underway_goes_on_behind_what_it_has_put_back(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(200):
        began = 110_000
        now = began + chance.randrange(1, 100)
        played = Rounds([one for one in drawn(chance, began) if one.stored < began])
        entries = len(played.queue)
        reached = played.visit(began, began, range(chance.randrange(1, entries + 1)), entries)
        if len(played.queue) == entries:  # it has put nothing back so far, so that nobody sees it
            continue
        played.asked.clear()
        gone = set(played.discarded)
        played.queue = played.queue[reached:]
        found = foretold(played, CheckRounds(began, INTERVAL_MS), now)
        played.go_on(began, now, entries - reached)
        for number in range(1, 20):
            moment = began + number * INTERVAL_MS
            played.go_on(moment, moment)
        assert found == {name: one for name, one in came(played).items() if name not in gone}


def foretold(played: Rounds, rounds: CheckRounds, now: int) -> dict[int, HalfForecast]:
    """By name."""
    halves = [
        PendingHalf(place, one.born, one.stored, one.checks, one.immunity_ms) for place, one in enumerate(played.queue)
    ]
    found = forecasts(halves, rounds, now=now, timeout_ms=TIMEOUT_MS, check_max=CHECK_MAX)
    return {played.queue[place].name: one for place, one in found.items()}


def came(played: Rounds) -> dict[int, HalfForecast]:
    return {
        name: HalfForecast(min(played.asked.get(name, []), default=None), len(played.asked.get(name, [])), moment)
        for name, moment in played.discarded.items()
    }
