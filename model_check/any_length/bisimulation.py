"""Whether each state, and what forgetting makes of it, go on alike: compared in all states that a search has found.

A state and what is left of it must allow the same steps up to numbering, with the same results up to forgetting and the
same new violations. A step that speaks of what was forgotten must change nothing that is left. Then every run has a
counterpart that forgets, and every run that forgets one that does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from model_check.errors import EvaluationError
from model_check.explicit.code_generation.emit import CLAIMS_A_WORD
from model_check.explicit.kernel_texts.records import CHANGED, FULL, OTHER, PLACE, STEP, Likeness, PairBuffers
from spec.language import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from model_check.explicit.code_generation.packing import Packing
    from model_check.explicit.exploration import Exploration
    from spec.language import Machine, Step

SENT = "half_stored"
"""The event of the actions that want the place of a transaction; forgetting makes one free."""

SPEND_A_MISHAP = frozenset({"corrupt_op"})
"""What may happen to an op message that is over, and changes nothing but how much may still go wrong."""

AT_ONCE = 1 << 14
"""States that one call of the kernel takes: how often progress is told."""


@dataclass(frozen=True, slots=True)
class BisimulationDifference:
    """A successor that goes on otherwise than what is left of it.

    Attributes
    ----------
    values : tuple of int
        The state from which `step` leads to it.
    other : Step
        What it can do, and what is left of it cannot, or not with this result; the other way round if `is_new`.
    """

    values: tuple[int, ...]
    step: Step
    other: Step
    is_new: bool

    def __str__(self) -> str:
        where = "only when it has forgotten" if self.is_new else "otherwise when it has forgotten"
        return f"behind {self.step} the broker can do {self.other} {where}"


@dataclass(frozen=True, slots=True)
class Bisimulation:
    """What a comparison has found.

    Attributes
    ----------
    states : int
        Whose successors were looked at.
    compared : int
        Successors of which something was forgotten.
    without_room : int
        Those that had a full queue: what they might have done is not known, and nothing was compared.
    difference : Difference or None
        The first one.
    """

    states: int
    compared: int
    without_room: int
    difference: BisimulationDifference | None


def compare(found: Exploration, report: Callable[[int], None] | None = None) -> Bisimulation:
    """Compare in all states of a search with one thread, up to the first difference.

    Parameters
    ----------
    report : callable or None
        Called now and then with how many states were looked at.

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
        np.array([(1 << bits) - 1 for bits in _bits_a_word(len(machine.clauses), compiled.verdict_words)]),
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


def _bits_a_word(bits: int, words: int) -> list[int]:
    """How many of the bits lie in each word of a verdict."""
    return [min(max(bits - word * CLAIMS_A_WORD, 0), CLAIMS_A_WORD) for word in range(words)]


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
