"""From what a machine forgets to the LLVM function that takes it out of a run of successors.

What decides whether a state has anything to forget is evaluated as the guards are: for all states of a run at once and
without a branch. What was given a name for it is kept, and the states whose bit is set are swept, one after the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.explicit.code_generation.bytes_of_run import RUN
from model_check.explicit.code_generation.emit_expressions import ALIGNMENT
from model_check.explicit.code_generation.emit_statements import OUT_OF_RANGE
from model_check.explicit.code_generation.emit_steps import StepWriter
from model_check.explicit.code_generation.instructions import UNLIKELY
from model_check.explicit.code_generation.packing import WORD_BITS
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
define internal i64 @mark(ptr noalias nocapture readonly %columns, i64 %count, ptr noalias nocapture readonly %K, \
ptr noalias nocapture %known) nounwind {{
{text}
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
  %mask = call i64 @mark(ptr %columns, i64 %count, ptr %K, ptr %known)
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
                pass
            case _:
                names, test, then = [], TRUE, tuple(forgetting)
        mark, bits = self._mark(names, test)
        entry = f"%known = alloca [{len(names)} x [{RUN} x i64]], align {ALIGNMENT}"
        return [
            mark,
            self._sweep(names, then, bits),
            self._in_runs("forget", _GIVEN, _MARK_AND_SWEEP.split("\n"), 1, "%n.done", entry),
        ]

    def _mark(self, names: Sequence[Let], test: Expression) -> tuple[str, int]:
        """The function that gives the states of a run for which the test is true, and what the names mean in each."""
        code = self._begin()
        for name in names:
            self._ranges[name.name] = self._range(name.value)
        bits = self._bits_for(*(name.value for name in names), test)
        self._look_at_run(bits)
        for number, name in enumerate(names):
            self._statement(name)
            place = code.value(f"getelementptr inbounds [{RUN} x i64], ptr %known, i64 {number}")
            code.do(f"store {self._number_type} {self._locals[name.name]}, ptr {place}, align {ALIGNMENT}")
        code.do(f"ret i64 {self._of_run(self._truth(test))}")
        return _MARK.format(text=code.text()), bits

    def _sweep(self, names: Sequence[Let], statements: Sequence[Statement], bits: int) -> str:
        """The function that does the statements to the states of which `bits` has the bit, and copies them before."""
        code = self._begin_each()
        for number, name in enumerate(names):
            row = code.value(f"getelementptr inbounds [{RUN} x i64], ptr %known, i64 {number}")
            place = code.value(f"getelementptr inbounds i{bits}, ptr {row}, i64 %lane")
            known = code.value(f"load i{bits}, ptr {place}")
            self._ranges[name.name] = self._range(name.value)
            self._locals[name.name] = known if bits == WORD_BITS else code.value(f"sext i{bits} {known} to i64")
        self._put("%before", "%m")
        self._vector = "", []  # names of another function mean nothing here
        self._avoids_branches = True
        for statement in statements:
            self._statement(statement)
        self._avoids_branches = False
        self._put("%states", "%x")
        self._end_each()
        return _SWEEP.format(text=code.text(), out_of_range=OUT_OF_RANGE)
