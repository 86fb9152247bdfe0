"""No number, no verdict and no path depends on the number of threads, however often they are asked for."""

from __future__ import annotations

import pytest

from halfcheck.verdicts.files import VerdictFiles
from model_check.explicit.search import Exploration, explore
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

RUNS = 10

CLOCK_STEP, POWER_LOSS = World.of("5.3.3", ["clock_step"], "small"), World.of("4.5.1", ["power_loss"], "small")
WORLDS = [World.of("5.3.3", ["crash"], "tiny"), CLOCK_STEP, POWER_LOSS]
"""The table of verdicts has their numbers."""


def search(world: World, threads: int) -> Exploration:
    return explore(TRANSACTIONAL_MESSAGES, world.constants, threads=threads)


def numbers(found: Exploration) -> tuple[object, ...]:
    return found.distinct, found.generated, found.depth, found.complete, tuple(found.sizes), found.seen_at


def paths(found: Exploration) -> list[list[str] | None]:
    told = found.paths_to(range(len(TRANSACTIONAL_MESSAGES.clauses)))
    return [None if path is None else [str(step) for step in path] for path in told.values()]


@pytest.mark.parametrize(
    "world",
    [
        pytest.param(WORLDS[0], id=str(WORLDS[0])),
        *(pytest.param(world, id=str(world), marks=pytest.mark.sweep) for world in WORLDS[1:]),
    ],
)
def test_ten_runs_with_two_threads_are_ten_times_the_run_with_one(world: World) -> None:
    one = search(world, threads=1)
    entry = VerdictFiles().table().of(world.profile, world.instance)[world.environment]
    assert (one.distinct, one.generated, one.depth) == (entry.distinct, entry.generated, entry.depth)
    expected = numbers(one), paths(one)
    for _ in range(RUNS):
        two = search(world, threads=2)
        assert (numbers(two), paths(two)) == expected


def test_the_work_is_shared_between_the_threads() -> None:
    two = search(CLOCK_STEP, threads=2)
    assert all(int(count) > 100_000 for count in two.store.counts[:2])


@pytest.mark.parametrize("threads", [3, 8])
def test_more_threads_than_processors_change_nothing(threads: int) -> None:
    assert numbers(search(POWER_LOSS, threads)) == numbers(search(POWER_LOSS, 1))
