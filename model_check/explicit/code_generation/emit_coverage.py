"""Machine code that counts which conjuncts were the first to be false.

It is a module of its own, so that the search is neither slower nor compiled for longer for the sake of it. It evaluates
guards and properties only, on a run of states that are stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING

from model_check.explicit.code_generation.emit import COLUMNS, Emitter
from model_check.explicit.code_generation.emit_expressions import LANES
from model_check.explicit.code_generation.emit_steps import DECLARATIONS, STATES
from model_check.front_end.terms import Let

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
        cover = self._in_runs("cover", f"{STATES}, ptr noalias nocapture %out", body, 1, "0")
        declared = "declare i64 @llvm.ctpop.i64(i64)"
        return "\n\n".join([*functions, cover, declared, DECLARATIONS, ""]), tuple(counted)

    def _counting(self, number: int, write: Callable[[], None]) -> str:
        """A function that does on each group of lanes what is written, which goes on to the block `next`."""
        code = self._begin()
        code.jump("loop")
        code.start("loop")
        code.do("%at = phi i64 [ 0, %entry ], [ %at.next, %next ]")
        self._look_at(lanes=True)
        self._valid_lanes()
        write()
        code.jump("next")
        code.start("next")
        code.do(f"%at.next = add nsw i64 %at, {LANES}")
        code.do("%is.over = icmp sge i64 %at.next, %count")
        code.branch("%is.over", "over", "loop")
        code.start("over")
        code.do("ret void")
        return f"define internal void @count_{number}({COLUMNS}) nounwind {{\n{code.text()}\n}}"

    def _guard(self, action: LoweredAction, start: int) -> None:
        """Count the lanes where a conjunct is the first that is false, and those where the whole guard is true."""
        code = self.code
        for statement in takewhile(lambda statement: isinstance(statement, Let), action.effect):
            self._statement(statement)
        before, passing = "%lanes", self._known_truth(True)
        for place, conjunct in enumerate(action.guard, start):
            passing = self._logic("and", passing, self._truth(conjunct.condition))
            left = self._lanes_of(passing)
            self._count(place, code.value(f"xor i64 {before}, {left}"))
            before, going_on = left, code.label()
            code.branch(code.value(f"icmp eq i64 {left}, 0"), "next", going_on)
            code.start(going_on)
        self._count(start + len(action.guard), before)

    def _claims(self, claims: list[tuple[int, Expression]]) -> None:
        for place, term in claims:
            self._count(place, self._lanes_of(self._truth(term)))

    def _count(self, place: int, lanes: str) -> None:
        """Add the number of lanes to a number in the counts."""
        code = self.code
        address = code.value(f"getelementptr inbounds i64, ptr %out, i64 {place}")
        number = code.value(f"call i64 @llvm.ctpop.i64(i64 {lanes})")
        before = code.value(f"load i64, ptr {address}")  # nothing else of this round of the loop writes there
        code.do(f"store i64 {code.value(f'add i64 {before}, {number}')}, ptr {address}")
