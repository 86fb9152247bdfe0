"""The source of a module that counts which conjuncts were the first to be false.

It is a module of its own, so that the search is neither slower nor compiled for longer for the sake of it. It evaluates
guards and properties only, on a run of states that are stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from model_check.explicit.emit import Emitter
from model_check.front_end.terms import Let

if TYPE_CHECKING:
    from model_check.front_end.terms import LoweredAction

PARAMETERS = "states, first, last, K, counts"

GROUPS = 8
"""Guards a function: compiling takes longest for very many functions, and for very long ones."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What a number in the counts stands for: an action's conjunct at a place, or its whole guard (no place)."""

    action: str
    place: tuple[int, ...] | None


class CoverageEmitter(Emitter):
    """Writes the counting functions of one machine in one instance."""

    def coverage_source(self) -> tuple[str, tuple[Counted, ...]]:
        """`cover(states, first, last, K, counts)`, and what the numbers in `counts` stand for.

        For each step the counts have one number a conjunct and one for the whole guard; a number a clause and a witness
        (states that violate it, states that are it) follows behind the last step.
        """
        counted: list[Counted] = []
        groups: list[list[str]] = []
        for step in self.steps:
            action = self.lowering.action(step)
            groups.append(self._guard(action, len(counted)))
            counted += [Counted(action.name, conjunct.place) for conjunct in action.guard]
            counted.append(Counted(action.name, None))
        for bit, term in enumerate(self.claims(), len(counted)):
            groups.append([f"    if {self._truth(term)}:", f"        counts[{bit}] += 1"])
        lines = ["part = numba.njit(nogil=True)"]
        firsts = range(0, len(groups), GROUPS)
        for number, first in enumerate(firsts):
            lines += ["", "@part", f"def count_{number}(counts, {self._signature()}):"]
            lines += [line for group in groups[first : first + GROUPS] for line in group]
        return "\n".join([*lines, *self._cover(len(firsts))]), tuple(counted)

    def _guard(self, action: LoweredAction, start: int) -> list[str]:
        """Count the first conjunct that is false, or the whole guard."""
        self._ranges = {}
        lines = [f"    # {action.name} {' '.join(str(a) for a in action.arguments)}"]
        for statement in action.effect:
            if not isinstance(statement, Let):
                break
            lines += self._statement(statement, "    ", "")
        if not action.guard:
            return [*lines, f"    counts[{start}] += 1"]
        for place, conjunct in enumerate(action.guard):
            word = "elif" if place else "if"
            lines += [f"    {word} not {self._truth(conjunct.condition)}:", f"        counts[{start + place}] += 1"]
        return [*lines, "    else:", f"        counts[{start + len(action.guard)}] += 1"]

    def _cover(self, functions: int) -> list[str]:
        width = self.packing.words
        lines = ["", "@compiled", f"def cover({PARAMETERS}):"]
        lines += [f"    k{i} = K[{i}] != 0" for i in range(len(self.switches))]
        lines += ["    for x in range(first, last):"]
        lines += [f"        w{i} = states[x * {width} + {i}]" for i in range(width)]
        return [*lines, *(f"        count_{i}(counts, {self._signature()})" for i in range(functions)), ""]
