"""Machine code that counts which conjuncts were the first to be false.

It is a module of its own, so that the search is neither slower nor compiled for longer for the sake of it. It evaluates
guards and properties only, on a run of states that are stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from model_check.explicit.code_generation.emit import COLUMNS, Emitter
from model_check.explicit.code_generation.emit_steps import DECLARATIONS, STATES, names_of_guard
from model_check.explicit.code_generation.lay_out import in_runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from model_check.front_end.terms import Expression, LoweredAction


CLAIMS_A_FUNCTION = 16
"""Clauses and witnesses that one function counts: the compiler takes longest for very long ones."""


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
        functions: list[str] = []
        for step in self.steps:
            action = self.lowering.action(step)
            functions.append(self._counting(len(functions), partial(self._guard, action, len(counted))))
            counted += [Counted(action.name, conjunct.place) for conjunct in action.guard]
            counted.append(Counted(action.name, None))
        claims = list(enumerate(self.claims(), len(counted)))
        for first in range(0, len(claims), CLAIMS_A_FUNCTION):
            part = claims[first : first + CLAIMS_A_FUNCTION]
            functions.append(self._counting(len(functions), partial(self._claims, part)))
        calls = [f"  call void @count_{n}(ptr %columns, i64 %count, ptr %K, ptr %out)" for n in range(len(functions))]
        body = ["call.0:", *calls, "  br label %call.1"]
        cover = in_runs(self.packing.words, "cover", f"{STATES}, ptr noalias nocapture %out", body, 1, "0")
        return "\n\n".join([*functions, cover, self._numbers_of_module(), DECLARATIONS, ""]), tuple(counted)

    def _counting(self, number: int, write: Callable[[], None]) -> str:
        """A function that does what is written, which goes on to the block `over`."""
        code = self._begin()
        code.jump("some")
        code.start("some")
        write()
        code.jump("over")
        code.start("over")
        code.do("ret void")
        return f"define internal void @count_{number}({COLUMNS}) nounwind {{\n{code.text()}\n}}"

    def _guard(self, action: LoweredAction, start: int) -> None:
        """Count the states where a conjunct is the first that is false, and those where the whole guard is true."""
        code = self.code
        self._look_at_run(self.bits_for_guard(action))
        for name in names_of_guard(action):
            self._statement(name)
        passing = self._known_truth(True)
        before = self._of_run(passing)
        for place, conjunct in enumerate(action.guard, start):
            passing = self._logic("and", passing, self._truth(conjunct.condition))
            left = self._of_run(passing)
            self._count(place, code.value(f"xor i64 {before}, {left}"))
            before, going_on = left, code.label()
            code.branch(code.value(f"icmp eq i64 {left}, 0"), "over", going_on)
            code.start(going_on)
        self._count(start + len(action.guard), before)

    def _claims(self, claims: list[tuple[int, Expression]]) -> None:
        self._look_at_run(self._bits_for(*(term for _, term in claims)))
        for place, term in claims:
            self._count(place, self._of_run(self._truth(term)))

    def _count(self, place: int, states: str) -> None:
        """Add the number of states to a number in the counts."""
        code = self.code
        address = code.value(f"getelementptr inbounds i64, ptr %out, i64 {place}")
        number = code.value(f"call i64 @llvm.ctpop.i64(i64 {states})")
        before = code.value(f"load i64, ptr {address}")  # nothing else of this call writes there
        code.do(f"store i64 {code.value(f'add i64 {before}, {number}')}, ptr {address}")
