"""From what a machine forgets to the LLVM functions that take it out of a run of successors.

What decides whether a state has anything to forget is evaluated as the guards are: for all states of a run at once and
without a branch. What was given a name for it is kept. Then what is to be done goes in stages over the states whose bit
is set: one for each condition on these names, with a mask of its own, so that no branch depends on a single state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from model_check.explicit.code_generation.bytes_of_run import BYTE, RUN
from model_check.explicit.code_generation.emit_statements import OUT_OF_RANGE
from model_check.explicit.code_generation.emit_steps import StepWriter, for_a_mask
from model_check.explicit.code_generation.lay_out import ALIGNMENT, in_runs
from model_check.explicit.code_generation.packing import WORD_BITS
from model_check.front_end.terms import TRUE, Expression, If, Let, Read, Remove, Statement, Switch, parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
ptr noalias nocapture %known, ptr noalias nocapture %masks) nounwind {{
{text}
}}"""

_STAGE = """\
define internal i64 @forget_{number}(i64 %bits, i64 %base, ptr noalias nocapture %states, \
ptr noalias nocapture readonly %K, ptr noalias nocapture %before, ptr noalias nocapture readonly %known, \
i64 %start) nounwind {{
{text}
over:
  ret i64 %n.found
{out_of_range}:
  ret i64 -1
}}"""

_MARK_A_RUN = """\
call.0:
  %mask = call i64 @mark(ptr %columns, i64 %count, ptr %K, ptr %known, ptr %masks)
  %is.none = icmp eq i64 %mask, 0
  br i1 %is.none, label %done, label %stage.0"""

_DONE_WITH_A_RUN = """\
stage.{stages}:
  %swept = call i64 @llvm.ctpop.i64(i64 %mask)
  %n.swept = add nsw i64 %n, %swept
  br label %done
bad:
  ret i64 -1
done:
  %n.done = phi i64 [ %n, %call.0 ], [ %n.swept, %stage.{stages} ]
  br label %call.1"""


class _Stage(NamedTuple):
    """Statements, and a condition on what has a name for the states to which they are done; of all without one."""

    condition: Expression
    statements: tuple[Statement, ...]


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
        stages = _stages(then)
        mark, bits = self._mark(names, test, stages)
        body = _MARK_A_RUN.split("\n")
        for number in range(len(stages)):
            given = "ptr %states, ptr %K, ptr %before, ptr %known, i64 %n"
            body += for_a_mask("stage", "forget", number, given, f"stage.{number + 1}")
        body += _DONE_WITH_A_RUN.format(stages=len(stages)).split("\n")
        entry = f"%known = alloca [{len(names)} x [{RUN} x i64]], align {ALIGNMENT}\n"
        entry += f"  %masks = alloca [{len(stages)} x i64], align {ALIGNMENT}"
        return [
            mark,
            *(self._stage(number, names, one.statements, bits) for number, one in enumerate(stages)),
            in_runs(self.packing.words, "forget", _GIVEN, body, 1, "%n.done", entry),
        ]

    def _mark(self, names: Sequence[Let], test: Expression, stages: Sequence[_Stage]) -> tuple[str, int]:
        """The function that gives the states of a run for which the test is true.

        It also writes what the names mean in each of them, and the states of each stage.
        """
        code = self._begin()
        for name in names:
            self._ranges[name.name] = self._range(name.value)
        bits = self._bits_for(*(name.value for name in names), test, *(one.condition for one in stages))
        self._look_at_run(bits)
        for number, name in enumerate(names):
            self._statement(name)
            place = code.value(f"getelementptr inbounds [{RUN} x i64], ptr %known, i64 {number}")
            code.do(f"store {self._number_type} {self._locals[name.name]}, ptr {place}, align {ALIGNMENT}")
        marked = self._of_run(self._truth(test))
        for number, one in enumerate(stages):
            mask = code.value(f"and i64 {marked}, {self._of_run(self._truth(one.condition))}")
            code.do(f"store i64 {mask}, ptr {code.value(f'getelementptr inbounds i64, ptr %masks, i64 {number}')}")
        code.do(f"ret i64 {marked}")
        return _MARK.format(text=code.text()), bits

    def _stage(self, number: int, names: Sequence[Let], statements: Sequence[Statement], bits: int) -> str:
        """The function that does the statements to the states of which `bits` has the bit; the first copies them."""
        code = self._begin_each()
        for row, name in enumerate(names):
            first = code.value(f"getelementptr inbounds [{RUN} x i64], ptr %known, i64 {row}")
            known = code.value(
                f"load i{bits}, ptr {code.value(f'getelementptr inbounds i{bits}, ptr {first}, i64 %lane')}"
            )
            self._ranges[name.name] = self._range(name.value)
            self._locals[name.name] = known if bits == WORD_BITS else code.value(f"sext i{bits} {known} to i64")
        self._vector = "", []  # names of another function mean nothing here
        if number == 0:
            self._put("%before", "%m")
        place = code.value(
            f"getelementptr inbounds i64, ptr %states, i64 {code.value(f'mul nsw i64 %x, {self.packing.words}')}"
        )
        if any(isinstance(statement, Remove) for statement in statements):
            self._take_words_from(code.value(f"load {self._kind}, ptr {place}, align {WORD_BITS // BYTE}"))
        before = list(self.words)
        self._avoids_branches = True
        for statement in statements:
            self._statement(statement)
        self._avoids_branches = False
        if self._vector[1] == self.words:
            code.do(f"store {self._kind} {self._vector[0]}, ptr {place}, align {WORD_BITS // BYTE}")
        else:
            self._put("%states", "%x", but=before)
        self._end_each()
        return _STAGE.format(number=number, text=code.text(), out_of_range=OUT_OF_RANGE)


def _stages(statements: Iterable[Statement]) -> list[_Stage]:
    """What is done one after the other; the first stage is for all states."""
    stages = [_Stage(TRUE, ())]
    for statement in statements:
        one = _Stage(TRUE, (statement,))
        match statement:
            case If(test, then, ()) if not any(isinstance(term, Read | Switch) for term in parts(test)):
                one = _Stage(test, then)
        if one.condition == stages[-1].condition:
            one = _Stage(one.condition, stages.pop().statements + one.statements)
        stages.append(one)
    return stages
