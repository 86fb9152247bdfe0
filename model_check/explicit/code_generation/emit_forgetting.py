"""From what a machine forgets to the LLVM function that takes it out of a run of successors.

What decides whether a state has anything to forget is evaluated as the guards are: for `LANES` states at a time and
without a branch. What was given a name for it is kept, and the states whose bit is set are swept, one after the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.explicit.code_generation.emit_expressions import ALIGNMENT, LANES, RUN
from model_check.explicit.code_generation.emit_statements import OUT_OF_RANGE
from model_check.explicit.code_generation.emit_steps import StepWriter
from model_check.explicit.code_generation.instructions import UNLIKELY
from model_check.front_end.terms import TRUE, Expression, If, Let, Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

_GIVEN = (
    "ptr noalias nocapture %states, i64 %first, i64 %last, ptr noalias nocapture readonly %K, "
    "ptr noalias nocapture %before"
)

_NOTHING = f"""\
define i64 @forget({_GIVEN}) nounwind {{
  ret i64 0
}}"""

_MARK = """\
define internal void @mark(ptr noalias nocapture readonly %columns, i64 %count, ptr noalias nocapture readonly %K, \
ptr noalias nocapture %masks, ptr noalias nocapture %known) nounwind {{
{text}
over:
  ret void
}}"""

_SWEEP = """\
define internal i64 @sweep(i64 %bits, i64 %base, ptr noalias nocapture %states, ptr noalias nocapture readonly %K, \
ptr noalias nocapture %before, ptr noalias nocapture readonly %known, i64 %start) nounwind {{
{text}
over:
  ret i64 %n.found
{out_of_range}:
  ret i64 -1
}}"""

_MARK_AND_SWEEP = f"""\
call.0:
  store i64 0, ptr %masks
  call void @mark(ptr %columns, i64 %count, ptr %K, ptr %masks, ptr %known)
  %mask = load i64, ptr %masks
  %is.none = icmp eq i64 %mask, 0
  br i1 %is.none, label %done, label %some
some:
  %swept = call i64 @sweep(i64 %mask, i64 %base, ptr %states, ptr %K, ptr %before, ptr %known, i64 %n)
  %is.bad = icmp slt i64 %swept, 0
  br i1 %is.bad, label %bad, label %done, {UNLIKELY}
bad:
  ret i64 -1
done:
  %n.done = phi i64 [ %n, %call.0 ], [ %swept, %some ]
  br label %call.1"""


class ForgettingWriter(StepWriter):
    """Writes what is forgotten; `words` and `switches` as for `StatementWriter`."""

    def _forget(self, forgetting: Sequence[Statement]) -> list[str]:
        """`forget(states, first, last, K, before)`: copies each state that has something to forget, and sweeps it.

        It returns how many these are, or -1 when a value leaves its declared range.
        """
        if not forgetting:
            return [_NOTHING]
        first = next((i for i, statement in enumerate(forgetting) if not isinstance(statement, Let)), 0)
        names = [statement for statement in forgetting[:first] if isinstance(statement, Let)]
        match forgetting[first:]:
            case (If(test, then, ()),):
                parts = self._mark(names, test), self._sweep(names, then)
            case _:
                parts = self._mark([], TRUE), self._sweep([], forgetting)
        entry = f"%masks = alloca i64\n  %known = alloca [{len(names)} x [{RUN} x i64]], align {ALIGNMENT}"
        return [*parts, self._in_runs("forget", _GIVEN, _MARK_AND_SWEEP.split("\n"), 1, "%n.done", entry)]

    def _mark(self, names: Sequence[Let], test: Expression) -> str:
        """The states of a run for which the test is true, and what each of the names means there."""
        code = self._begin()
        code.jump("loop")
        code.start("loop")
        code.do("%at = phi i64 [ 0, %entry ], [ %at.next, %loop ]")
        self._look_at(lanes=True)
        self._valid_lanes()
        for number, name in enumerate(names):
            self._statement(name)
            place = code.value(f"getelementptr inbounds [{RUN} x i64], ptr %known, i64 {number}, i64 %at")
            code.do(f"store {self._i64} {self._locals[name.name]}, ptr {place}, align {ALIGNMENT}")
        mask = code.value(f"trunc i64 {self._lanes_of(self._truth(test))} to i{LANES}")
        place = code.value(
            f"getelementptr inbounds i{LANES}, ptr %masks, i64 {code.value(f'udiv exact i64 %at, {LANES}')}"
        )
        code.do(f"store i{LANES} {mask}, ptr {place}")
        code.do(f"%at.next = add nsw i64 %at, {LANES}")
        code.do("%is.over = icmp sge i64 %at.next, %count")
        code.branch("%is.over", "over", "loop")
        return _MARK.format(text=code.text())

    def _sweep(self, names: Sequence[Let], statements: Sequence[Statement]) -> str:
        """The function that does the statements to the states of which `bits` has the bit, and copies them before."""
        code = self._begin_each()
        for number, name in enumerate(names):
            place = code.value(f"getelementptr inbounds [{RUN} x i64], ptr %known, i64 {number}, i64 %lane")
            self._ranges[name.name] = self._range(name.value)
            self._locals[name.name] = code.value(f"load i64, ptr {place}")
        self._put("%before", "%m")
        self._avoids_branches = True
        for statement in statements:
            self._statement(statement)
        self._avoids_branches = False
        self._put("%states", "%x")
        self._end_each()
        return _SWEEP.format(text=code.text(), out_of_range=OUT_OF_RANGE)
