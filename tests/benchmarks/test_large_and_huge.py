from __future__ import annotations

from typing import Any

from benchmarks.explicit import huge, large
from benchmarks.explicit.check_command import Run, given_world
from model_check.world import World

WORLD = World.of("5.3.3", ["crash"], "large")


def run(distinct: int = 60_000_000, **other: Any) -> Run:
    answer = {"distinct": distinct, "generated": 9, "depth": 3, "seconds": 20.0, "complete": True, "properties": {}}
    answer |= {"peak_bytes": 60_000_000 * 55, "disk_bytes": 0, "unseen_witnesses": []}
    return Run({**answer, **other}, 30.0, 4_000_000_000)


def test_the_bars_of_a_large_instance_are_met_or_missed() -> None:
    one, two, other = large.Setting(1, False), large.Setting(2, False), large.Setting(2, True)
    runs = {one: [run()], two: [run(), run(seconds=19.0), run(seconds=21.0)], other: [run(seconds=16.0)]}
    told = large.table(WORLD, 5, runs, 50.0, 0.4, 5 << 30)
    assert "| distinct states | ≥ 50 M | 60.0 M | yes |" in told
    assert "| distinct states a second, 1 thread | ≥ 2 M | 3.00 M | yes |" in told
    assert "| distinct states a second, 2 threads | ≥ 3.5 M | 3.00 M | NO |" in told
    assert "| distinct states a second, 2 threads, huge pages set aside | ≥ 3.5 M | 3.75 M | yes |" in told
    assert "| bytes a state beyond its words, 1 thread | ≤ 16 | 15.0 | yes |" in told
    assert "| bytes a state beyond its words, 1 thread | ≤ 16 | 23.0 | NO |" in large.table(
        WORLD, 4, {one: [run()], two: [run()]}, 50.0, 0.4, 0
    )
    assert "Memory was given at 0.40 GiB/s" in told
    assert "(5.0 GiB of them here)" in told


def test_a_resumed_search_that_ends_otherwise_is_told() -> None:
    killed = Run({}, 15.0, 1)
    same = huge.table(WORLD, run(), killed, 30_000_000, run(seconds=25.0))
    assert "| the same | the same | yes |" in same
    other = huge.table(WORLD, run(), killed, 30_000_000, run(generated=10))
    assert "| the same | others | NO |" in other
    assert "| distinct states | ≥ 300,000,000 | 60,000,000 | NO |" in other


def test_another_world_can_be_given() -> None:
    assert given_world([], WORLD) == WORLD
    assert given_world(["medium", "4.9.7", "crash,lose_end"], WORLD) == World.of(
        "4.9.7", ["crash", "lose_end"], "medium"
    )
    assert given_world(["medium", "4.9.7"], WORLD) == World.of("4.9.7", (), "medium")
