"""``python -m benchmarks.explicit.forgetting [REPEATS]``: what forgetting costs; writes RESULTS_FORGETTING.md.

An instance that forgets is searched in turn with the same instance without forgetting, in environments in which that
has about as many states: the same profile, the same steps, as many words a state.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.computer import bars, computer
from model_check.explicit.search import Exploration, explore
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

RESULTS = Path(__file__).with_name("RESULTS_FORGETTING.md")
PROFILE = "5.3.3"
FORGETS = World.of(PROFILE, (), "lasting")
PARTNERS = (World.of(PROFILE, (), "lasting@1x6x6"), World.of(PROFILE, ["slow_round"], "lasting@1x6x6"))
"""The quiet one has about as many states as `lasting`, `slow_round` more than twice as many: where tables are larger,
forgetting counts for less."""

WANTED = 0.7
PARENTS = 4096
"""States that are expanded at a time where the parts of the work are measured."""


class Run(NamedTuple):
    """What a search has found, without its states: the memory is free for the next one."""

    distinct: int
    generated: int
    depth: int
    seconds: float

    @property
    def rate(self) -> float:
        """Distinct states a second."""
        return self.distinct / self.seconds


def searched(world: World, threads: int) -> Exploration:
    """Search a world."""
    return explore(TRANSACTIONAL_MESSAGES, world.constants, threads=threads)


def run_of(world: World, threads: int) -> Run:
    """Search a world, and keep the numbers."""
    found = searched(world, threads)
    return Run(found.distinct, found.generated, found.depth, found.seconds)


def parts_of_the_work(found: Exploration) -> dict[str, float]:
    """Nanoseconds a successor of what is done for all successors of the states found, one thing after the other."""
    kernels, switches, steps = found.compiled.module, found.compiled.switches(found.constants), found.compiled.steps
    room, width = PARENTS * len(steps), found.compiled.packing.words
    words = np.ascontiguousarray(found.store.all_words()).reshape(-1)
    successors, before = np.zeros((2, room * width), np.int64)
    taken, parents = np.zeros(room, np.int32), np.zeros(room, np.int64)
    verdict = np.zeros(found.compiled.verdict_words, np.int64)
    seconds = dict.fromkeys(("expanding", "marking and sweeping", "marking alone", "judging what was swept"), 0.0)
    first = total = 0
    while first < found.distinct:
        marks = [time.thread_time()]
        count, first = kernels.expand(words, first, found.distinct, switches, successors, taken, parents, room)
        marks.append(time.thread_time())
        swept = kernels.forget(successors, count, switches, before)
        marks.append(time.thread_time())
        kernels.forget(successors, count, switches, before[swept * width :])
        marks.append(time.thread_time())
        kernels.judge_run(before, 0, swept, switches, verdict)
        marks.append(time.thread_time())
        for part, begin, end in zip(seconds, marks, marks[1:], strict=False):
            seconds[part] += end - begin
        total += count
    return {part: took / total * 1e9 for part, took in seconds.items()}


def report(repeats: int) -> str:
    """Search everything in turn, and say it as Markdown."""
    worlds = (FORGETS, *PARTNERS)
    text = [
        "# What forgetting costs",
        "",
        "Written by `make bench-forgetting`.",
        "",
        computer("Numba", "NumPy"),
        f"Medians of {repeats} rounds, in each of which all are searched, profile {PROFILE}. `lasting` forgets. Beside",
        "it is the same instance that does not, with the same steps and as many words a state: in the same quiet",
        "environment it has about as many states, with `slow_round` more than twice as many. The ratio is the median",
        "of the rounds' ratios: distinct states a second of `lasting` to those of the other. `lasting` has three times",
        "as many levels.",
        "",
        "| Instance | Fault | Threads | Distinct | Successors a state | Depth | Seconds | ns a successor | Ratio |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    compared: list[tuple[str, str, str, bool | None]] = []
    for threads in (1, 2):
        rounds = [[run_of(world, threads) for world in worlds] for _ in range(repeats + 1)][1:]
        for number, world in enumerate(worlds):
            instance, fault = world.instance.name, ",".join(world.environment)
            ratio = median(runs[0].rate / runs[number].rate for runs in rounds)
            text.append(_row(f"| {instance} | {fault or '–'} | {threads}", [runs[number] for runs in rounds], ratio))
            if number:
                name = f"states a second beside {instance} {fault or 'quiet'}, {threads} thread{'s'[: threads - 1]}"
                compared.append((name, f"≥ {WANTED:g}", f"{ratio:.2f}", ratio >= WANTED))
    text += ["", *bars(compared), "", "Where the time of `lasting` goes, with one thread:", ""]
    text += ["| Part | ns a successor |", "|---|--:|"]
    rest = median(found.seconds / found.generated for found in (run_of(FORGETS, 1) for _ in range(repeats))) * 1e9
    measured = [parts_of_the_work(searched(FORGETS, 1)) for _ in range(repeats)]
    least = {part: min(one[part] for one in measured) for part in measured[0]}
    text += [f"| {part} | {took:.0f} |" for part, took in least.items()]
    text += [f"| the whole search | {rest:.0f} |", ""]
    return "\n".join(text)


def _row(begin: str, runs: Sequence[Run], ratio: float) -> str:
    seconds = [found.seconds for found in runs]
    found, middle = runs[0], median(seconds)
    return (
        f"{begin} | {found.distinct:,} | {found.generated / found.distinct:.2f} | {found.depth} | {middle:.2f} "
        f"({min(seconds):.2f} … {max(seconds):.2f}) | {middle / found.generated * 1e9:.0f} | {ratio:.2f} |"
    )


if __name__ == "__main__":
    written = report(int(sys.argv[1]) if len(sys.argv) > 1 else 31)
    RESULTS.write_text(written, encoding="utf-8")
    print(written)
