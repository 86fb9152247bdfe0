"""Runs of any length: whether each state, and what forgetting makes of it, go on alike; `make any-length`.

Compared in all states that a search has found. A state and what is left of it must allow the same steps up to
numbering, with the same results up to forgetting and the same new violations. A step that speaks of what was forgotten
must change nothing that is left. Then every run has a counterpart that forgets, and every run that forgets one that
does not.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from document.markdown import markdown
from document.parts import prose, tabulated
from files.writing import write_whole
from model_check.errors import EvaluationError
from model_check.explicit.kernel_texts.records import CHANGED, FULL, OTHER, PLACE, STEP, Likeness, PairBuffers
from model_check.explicit.search import explore
from model_check.instances import load_instance
from model_check.world import Environment, Profile, World
from spec.constants import FAULTS
from spec.language import Kind, Machine, Step
from spec.profiles import PROFILES, distinct
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from model_check.explicit.code_generation.packing import Packing
    from model_check.explicit.exploration import Exploration

SENT = "half_stored"
"""The event of the actions that want the place of a transaction; forgetting makes one free."""

SPEND_A_MISHAP = frozenset({"corrupt_op"})
"""Mishaps of an op message that is over: they change nothing but how much may still go wrong."""

AT_ONCE = 1 << 14
"""States that one call of the kernel takes: the interval of reports."""


@dataclass(frozen=True, slots=True)
class BisimulationDifference:
    """A successor that goes on otherwise than what is left of it."""

    values: tuple[int, ...]  # the state from which `step` leads to it
    step: Step
    other: Step  # what it can do, and what is left of it cannot, or not with this result
    is_new: bool  # whether it is the other way round

    def __str__(self) -> str:
        where = "only when it has forgotten" if self.is_new else "otherwise when it has forgotten"
        return f"behind {self.step} the broker can do {self.other} {where}"


@dataclass(frozen=True, slots=True)
class Bisimulation:
    """The result of a comparison."""

    states: int  # those whose successors were looked at
    compared: int  # successors of which something was forgotten
    without_room: int  # those that had a full queue: what they might have done is not known, and nothing was compared
    difference: BisimulationDifference | None  # the first one


def compare(found: Exploration, report: Callable[[int], None] | None = None) -> Bisimulation:
    """Compare in all states of a search with one thread, up to the first difference.

    `report` is called now and then with how many states were looked at.

    Raises
    ------
    EvaluationError
        When the search had several threads.
    """
    store, compiled = found.store, found.compiled
    if store.region_count != 1:
        message = "states are compared behind a search with one thread"
        raise EvaluationError(message)
    machine, steps, width = compiled.machine, compiled.steps, store.width
    actions = {action.name: place for place, action in enumerate(machine.actions)}
    kernels, most = compiled.module, len(steps)
    kinds = [
        kernels.SENDS * (step.action.event == SENT) | kernels.CHANGES_NOTHING * (step.action.name in SPEND_A_MISHAP)
        for step in steps
    ]
    likeness = Likeness(
        np.array(kinds, dtype=np.int64),
        np.array([actions[step.action.name] for step in steps]),
        compiled.clause_masks,
        _queues(machine, found.constants, compiled.packing),
        _blanks(machine, found.constants, compiled.packing),
    )
    pair = PairBuffers(
        np.zeros((2, (most + 1) * width), dtype=np.int64),
        np.zeros((3, most), dtype=np.int32),
        np.zeros((2, most + 1, compiled.verdict_words), dtype=np.int64),
    )
    switches, plain = compiled.switches(found.constants), np.zeros_like(store.buffers.successors)
    out = np.zeros(5, dtype=np.int64)
    count = int(store.counts[0])
    for first in range(0, count, AT_ONCE):
        last = min(first + AT_ONCE, count)
        if kernels.compare(store.arrays, first, last, switches, store.buffers, plain, likeness, pair, out):
            place, step, other = (int(out[position]) for position in (PLACE, STEP, OTHER))
            values = compiled.packing.unpack(store.words_of(place))
            unlike = BisimulationDifference(values, steps[step], steps[other if other >= 0 else -1 - other], other >= 0)
            return Bisimulation(place + 1, int(out[CHANGED]), int(out[FULL]), unlike)
        if report is not None:
            report(last)
    return Bisimulation(count, int(out[CHANGED]), int(out[FULL]), None)


def _queues(machine: Machine, constants: object, packing: Packing) -> npt.NDArray[np.int64]:
    """Of each queue's length the word, shift, mask and low end, and how long it may be; shape (queues, 5)."""
    cells = {slot.label: cell for slot, cell in zip(packing.slots, packing.cells, strict=True)}
    return np.array([(*cells[name], getattr(constants, size)) for name, size in machine.queues.items()], dtype=np.int64)


def _blanks(machine: Machine, constants: object, packing: Packing) -> npt.NDArray[np.int64]:
    """The bits of moments in empty places, which differ by a tick after the clock has stepped back, and nobody reads.

    Shape (queues, lengths, words).
    """
    longest = max(int(getattr(constants, size)) for size in machine.queues.values())
    blanks = np.zeros((len(machine.queues), longest + 1, packing.words), dtype=np.uint64)
    for slot, (word, shift, mask, _) in zip(packing.slots, packing.cells, strict=True):
        for number, name in enumerate(machine.queues):
            if slot.kind is Kind.INSTANT and slot.path[0] == name.removesuffix("_length"):
                blanks[number, : (slot.index or 0) + 1, word] |= np.uint64(mask << shift)
    return blanks.view(np.int64)


# --- the page -------------------------------------------------------------------------------------------------------

NARROW = replace(
    load_instance("lasting"), name="narrow", check_max=2, half_slots=9, op_slots=8, persist_interval=1, expires=1
)  # fmt: skip
"""`lasting` with two checks: nearly no fault has more than a million states here, or a full queue."""

MOST_STATES = 2_000_000  # where a search is cut short; what it has found is compared
Compared = tuple[Bisimulation, bool]  # a comparison, and whether the search found all states


def compared(report: Callable[[str], None]) -> dict[World, Compared]:
    """Every profile in the quiet world and with each fault; of profiles with the same switches the first."""
    results = {}
    for profile in map(Profile.of, distinct(PROFILES)):
        for environment in (Environment(), *(Environment([fault]) for fault in FAULTS)):
            report(f"{profile} {environment.beside_a_profile}")
            world = World(profile, environment, NARROW)
            found = explore(TRANSACTIONAL_MESSAGES, world.constants, most_states=MOST_STATES)
            results[world] = compare(found), found.complete
    return results


def page(results: Mapping[World, Compared]) -> str:
    """The page as Markdown."""
    profiles = list(dict.fromkeys(world.profile for world in results))
    every = [one for one, _ in results.values()]
    differing = sum(one.difference is not None for one in every)
    parts = prose(
        "# Is a state as good as what forgetting makes of it?\n\n"
        f"Written by `make any-length`. Instance `lasting` with {NARROW.check_max} checks, {NARROW.half_slots} places "
        f"in the half queue and {NARROW.op_slots} in the op queue. In all states that a search finds, each successor "
        "of which something is forgotten is compared with what is left of it: the same steps up to numbering, the same "
        "results up to forgetting, the same new violations ([why](../any-length.md#why-to-believe-it)).\n\n"
        f"**{sum(one.compared - one.without_room for one in every):,} successors were compared, in "
        f"{sum(one.states for one in every):,} states of {len(results)} worlds; {differing or 'none'} differed.**\n\n"
        "A cell has the states, and how many successors were compared. *First* stands where a search was cut short, "
        "and a number in brackets for successors with a full queue, of which nothing is known."
    )
    rows = [
        (environment.in_words(), *(_compared(*results[World(each, environment, NARROW)]) for each in profiles))
        for environment in dict.fromkeys(world.environment for world in results)
    ]
    return markdown([*parts, tabulated("", *(each.same() for each in profiles), rows=rows)])


def _compared(found: Bisimulation, is_complete: bool) -> str:
    if found.difference is not None:
        return f"**{found.difference}**"
    left_out = f" ({found.without_room:,})" if found.without_room else ""
    return f"{'' if is_complete else 'first '}{found.states:,} · {found.compared - found.without_room:,}{left_out}"


if __name__ == "__main__":
    results = compared(lambda what: print(what, file=sys.stderr, flush=True))
    write_whole(Path("docs/generated/any-length.md"), page(results))
    sys.exit(any(found.difference is not None for found, _ in results.values()))
