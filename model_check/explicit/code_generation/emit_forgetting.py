"""From what a machine forgets to the LLVM functions that take it out of a run of successors.

What decides whether a state has anything to forget is evaluated as the guards are: for all states of a run at once and
without a branch. What was given a name for it is kept. Then what is to be done goes in stages: one for each condition
on these names, with a mask of the states to which it is done. A stage takes eight states at a time, a lane each, and
passes over those eights in which its mask has no bit. Eight runs go through the stages together.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from model_check.explicit.code_generation.bytes_of_run import BYTE, RUN
from model_check.explicit.code_generation.emit_statements import OUT_OF_RANGE
from model_check.explicit.code_generation.emit_steps import StepWriter
from model_check.explicit.code_generation.lay_out import ALIGNMENT, EIGHT, begin_eights, end_eights, laid_out, put_back
from model_check.explicit.code_generation.packing import WORD_BITS
from model_check.front_end.terms import TRUE, Expression, If, Let, Read, Statement, Switch, parts, with_values

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
define internal i64 @{function}(ptr noalias nocapture readonly %columns, i64 %count, \
ptr noalias nocapture readonly %K, ptr noalias nocapture %known, ptr noalias nocapture %masks) nounwind {{
{text}
}}"""

_MARK_FOR_LESS = """\
less:
  %marked = call i64 @mark_for_less(ptr %columns, i64 %count, ptr %K, ptr %known, ptr %masks)
  ret i64 %marked"""

_STAGE = """\
define internal i64 @forget_{number}(ptr noalias nocapture readonly %masks, ptr noalias nocapture %all.columns, \
ptr noalias nocapture readonly %K, ptr noalias nocapture readonly %all.known) nounwind {{
{text}
over:
  ret i64 0
{out_of_range}:
  ret i64 -1
}}"""

_FORGET = """\
define i64 @forget({given}) nounwind {{
entry:
  %all.columns = alloca [{runs} x [{words} x [{run} x i64]]], align {alignment}
  %all.known = alloca [{runs} x [{names} x [{run} x i{bits}]]], align {alignment}
  %masks = alloca [{rows} x [{runs} x i64]], align {alignment}
  %last.state = sub nsw i64 %last, 1
  br label %block
block:
  %begin = phi i64 [ %first, %entry ], [ %base.next, %put.back ]
  %n.begin = phi i64 [ 0, %entry ], [ %n.kept, %put.back ]
  call void @llvm.memset.p0.i64(ptr align {alignment} %masks, i8 0, i64 {size_of_masks}, i1 false)
  br label %lay.out
lay.out:
  %run = phi i64 [ 0, %block ], [ %run.next, %marked ]
  %base = phi i64 [ %begin, %block ], [ %base.next, %marked ]
  %n = phi i64 [ %n.begin, %block ], [ %n.kept, %marked ]
  %columns = getelementptr inbounds [{words} x [{run} x i64]], ptr %all.columns, i64 %run
  %known = getelementptr inbounds [{names} x [{run} x i{bits}]], ptr %all.known, i64 %run
  %masks.of.run = getelementptr inbounds i64, ptr %masks, i64 %run
  %rest = sub nsw i64 %last, %base
  %count = call i64 @llvm.smin.i64(i64 %rest, i64 {run})
  br label %eight
{laid_out}
decide:
  %count.and.more = add nsw i64 %count, {eight_less_one}
  %count.laid.out = and i64 %count.and.more, -{eight}
  %mask = call i64 @mark(ptr %columns, i64 %count.laid.out, ptr %K, ptr %known, ptr %masks.of.run)
  %is.none = icmp eq i64 %mask, 0
  br i1 %is.none, label %marked, label %keep
keep:
  %beyond = sub nsw i64 {run}, %count
  %there = lshr i64 -1, %beyond
  %mask.there = and i64 %mask, %there
  %n.more = call i64 @keep(i64 %mask.there, i64 %base, ptr %states, ptr %before, i64 %n)
  br label %marked
marked:
  %n.kept = phi i64 [ %n, %decide ], [ %n.more, %keep ]
  %run.next = add nsw i64 %run, 1
  %base.next = add nsw i64 %base, {run}
  %is.over = icmp sge i64 %base.next, %last
  %is.full = icmp eq i64 %run.next, {runs}
  %is.block = or i1 %is.over, %is.full
  br i1 %is.block, label %stages, label %lay.out
stages:
{stages}
  br i1 %is.bad, label %bad, label %put.back
bad:
  ret i64 -1
put.back:
  call void @put_back(ptr %masks, i64 %begin, i64 %last.state, ptr %states, ptr %all.columns)
  br i1 %is.over, label %over, label %block
over:
  ret i64 %n.kept
}}"""

_KEEP = """\
define internal i64 @keep(i64 %bits, i64 %base, ptr noalias nocapture readonly %states, ptr noalias nocapture %before, \
i64 %start) nounwind {{
{text}
over:
  ret i64 %n.found
}}"""


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
        bits = self._bits_to_mark(names, test, stages)
        forget = _FORGET.format(
            given=_GIVEN, words=self.packing.words, names=len(names), bits=bits, run=RUN, runs=EIGHT,
            rows=1 + len(stages), size_of_masks=(1 + len(stages)) * EIGHT * BYTE, alignment=ALIGNMENT,
            laid_out=laid_out(self.packing.words, "decide"), eight=EIGHT, eight_less_one=EIGHT - 1,
            stages=_calls(len(stages)),
        )  # fmt: skip
        return [
            self._mark(names, test, stages, bits),
            self._keep(),
            put_back(self.packing.words),
            *(self._stage(number, names, one.statements, bits) for number, one in enumerate(stages)),
            forget,
        ]

    def _bits_to_mark(self, names: Sequence[Let], test: Expression, stages: Sequence[_Stage]) -> int:
        """Of the numbers that are enough to compute what the names mean, and what they decide."""
        for name in names:
            self._ranges[name.name] = self._range(name.value)
        return self._bits_for(*(name.value for name in names), test, *(one.condition for one in stages))

    def _mark(self, names: Sequence[Let], test: Expression, stages: Sequence[_Stage], bits: int) -> str:
        """The function that gives the states of a run for which the test is true.

        It also writes what the names mean in each of them, and a row of `masks` for all states and for each stage. If
        none of the switches that it asks for is on, it calls another one, which has less to compute.
        """
        asked = sorted({term.name for term in parts((*names, test)) if isinstance(term, Switch)})
        code = self._begin()
        if asked:
            some = reduce(lambda one, other: self._logic("or", one, other), map(self._switch, asked))
            code.leave_entry_unless(some, "less")
        self._mark_run(names, test, stages, bits)
        if not asked:
            return _MARK.format(function="mark", text=code.text())
        mark = _MARK.format(function="mark", text=f"{code.text()}\n{_MARK_FOR_LESS}")
        off, code = dict.fromkeys(asked, 0), self._begin()
        fewer = [Let(name.name, with_values(name.value, off)) for name in names]
        self._mark_run(fewer, with_values(test, off), stages, bits)
        return f"{_MARK.format(function='mark_for_less', text=code.text())}\n\n{mark}"

    def _mark_run(self, names: Sequence[Let], test: Expression, stages: Sequence[_Stage], bits: int) -> None:
        code = self.code
        self._look_at_run(bits)
        for number, name in enumerate(names):
            self._statement(name)
            place = code.value(f"getelementptr inbounds [{RUN} x i{bits}], ptr %known, i64 {number}")
            code.do(f"store {self._number_type} {self._locals[name.name]}, ptr {place}, align {RUN}")
        marked = self._of_run(self._truth(test))
        for row, condition in enumerate([TRUE, *(one.condition for one in stages)]):
            mask = code.value(f"and i64 {marked}, {self._of_run(self._truth(condition))}")
            code.do(f"store i64 {mask}, ptr {code.value(f'getelementptr inbounds i64, ptr %masks, i64 {EIGHT * row}')}")
        code.do(f"ret i64 {marked}")

    def _keep(self) -> str:
        """The function that copies the states of which `bits` has the bit; it returns how many there are now."""
        self._begin_each()
        self._put("%before", "%m")
        self._end_each()
        return _KEEP.format(text=self.code.text())

    def _stage(self, number: int, names: Sequence[Let], statements: Sequence[Statement], bits: int) -> str:
        """The function that does the statements to the states of which `masks` have the bits, eight at a time."""
        code = self._begin()
        begin_eights(code, self.packing.words)
        code.do(f"%known = getelementptr inbounds [{len(names)} x [{RUN} x i{bits}]], ptr %all.known, i64 %run")
        self._look_at_eight()
        self._reached = "%are.these"
        for row, name in enumerate(names):
            place = code.value(f"getelementptr inbounds [{RUN} x i{bits}], ptr %known, i64 {row}, i64 %lane")
            known = code.value(f"load <{EIGHT} x i{bits}>, ptr {place}, align {bits}")
            self._ranges[name.name] = self._range(name.value)
            wide = f"sext <{EIGHT} x i{bits}> {known} to {self._number_type}"
            self._locals[name.name] = known if bits == WORD_BITS else code.value(wide)
        before = [self._word(i) for i in range(self.packing.words)]
        for statement in statements:
            self._statement(statement)
        for i, word in enumerate(before):
            if self._word(i) != word:
                changed = self._choice(self._reached, self._word(i), word)
                code.do(f"store {self._number_type} {changed}, ptr {self._column(i)}, align {EIGHT * BYTE}")
        end_eights(code)
        return _STAGE.format(number=number, text=code.text(), out_of_range=OUT_OF_RANGE)


def _calls(stages: int) -> str:
    """One stage after the other; whether a value has left its range in some of them."""
    lines, worst = [], "0"
    for stage in range(stages):
        given = f"ptr %masks.{stage}, ptr %all.columns, ptr %K, ptr %all.known"
        lines += [
            f"  %masks.{stage} = getelementptr inbounds [{EIGHT} x i64], ptr %masks, i64 {1 + stage}",
            f"  %stage.{stage} = call i64 @forget_{stage}({given})",
            f"  %worst.{stage} = or i64 {worst}, %stage.{stage}",
        ]
        worst = f"%worst.{stage}"
    return "\n".join([*lines, f"  %is.bad = icmp slt i64 {worst}, 0"])


def _stages(statements: Iterable[Statement]) -> list[_Stage]:
    """What is done one after the other."""
    stages: list[_Stage] = []
    for statement in statements:
        one = _Stage(TRUE, (statement,))
        match statement:
            case If(test, then, ()) if not any(isinstance(term, Read | Switch) for term in parts(test)):
                one = _Stage(test, then)
        if stages and one.condition == stages[-1].condition:
            one = _Stage(one.condition, stages.pop().statements + one.statements)
        stages.append(one)
    return stages
