"""From actions to LLVM functions that try them on many states.

Up to `RUN` states are laid out word by word. A guard is evaluated for `LANES` of them at a time, and only as far as
some of them pass; the effect is then written for each state that does. Each step is tried on all these states before
the next one is: its code is small, a step that the switches disable costs one call, and only those words are read that
the guard asks for.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from model_check.explicit.code_generation.emit_expressions import ALIGNMENT, LANES, RUN
from model_check.explicit.code_generation.emit_statements import OUT_OF_RANGE, StatementWriter
from model_check.explicit.code_generation.instructions import METADATA, UNLIKELY, Instructions
from model_check.front_end.terms import Apply, Expression, Int, Let, LoweredAction, Switch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.front_end.terms import Statement

DECLARATIONS = f"""\
declare i64 @llvm.cttz.i64(i64, i1)
declare i64 @llvm.smin.i64(i64, i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
{METADATA}"""

_FOUND = "ptr noalias nocapture %found, ptr noalias nocapture %steps, ptr noalias nocapture %parents"
STATES = "ptr noalias nocapture readonly %states, i64 %first, i64 %last, ptr noalias nocapture readonly %K"
_RUN = (
    "ptr noalias nocapture readonly %columns, i64 %count, i64 %base, ptr noalias nocapture readonly %states, "
    f"i64 %first, ptr noalias nocapture readonly %K, {_FOUND}, i64 %start"
)
_ARGUMENTS = (
    "ptr %columns, i64 %count, i64 %base, ptr %states, i64 %first, ptr %K, ptr %found, ptr %steps, ptr %parents"
)

_STEP = """\
; {name}
define internal i64 @step_{number}({run}) nounwind {{
{text}
next:
  %n.next = phi i64 {ways}
  %at.next = add nsw i64 %at, {lanes}
  %is.over = icmp sge i64 %at.next, %count
  br i1 %is.over, label %over, label %loop
over:
  ret i64 %n.next
disabled:
  ret i64 %start
{out_of_range}:
  %place = sub nsw i64 %x, %first
  %steps.before = mul nsw i64 %place, {steps}
  %step = add nsw i64 %steps.before, {number}
  %left = sub nsw i64 -1, %step
  ret i64 %left
}}"""

_RUNS = """\
define i64 @{function}({given}) nounwind {{
entry:
  %columns = alloca [{words} x [{run} x i64]], align {alignment}
  call void @llvm.memset.p0.i64(ptr align {alignment} %columns, i8 0, i64 {size}, i1 false)
  br label %lay.out
lay.out:
  %base = phi i64 [ %first, %entry ], [ %base.next, %call.{calls} ]
  %n = phi i64 [ 0, %entry ], [ {result}, %call.{calls} ]
  %rest = sub nsw i64 %last, %base
  %count = call i64 @llvm.smin.i64(i64 %rest, i64 {run})
  br label %state
state:
  %i = phi i64 [ 0, %lay.out ], [ %i.next, %state ]
  %x = add nsw i64 %base, %i
  %from = mul nsw i64 %x, {words}
{copies}
  %i.next = add nsw i64 %i, 1
  %is.last = icmp sge i64 %i.next, %count
  br i1 %is.last, label %call.0, label %state
{body}
call.{calls}:
  %base.next = add nsw i64 %base, {run}
  %is.over = icmp sge i64 %base.next, %last
  br i1 %is.over, label %over, label %lay.out
over:
  ret i64 {result}
}}"""


class StepWriter(StatementWriter):
    """Writes the functions of the steps; `words` and `switches` as for `StatementWriter`."""

    def _begin(self) -> Instructions:
        """A new function."""
        self.code = Instructions()
        self._look_at(lanes=False)
        return self.code

    def _action(self, number: int, action: LoweredAction, steps: int) -> str:
        """The function of step number N of some, tried on `count` states from state `base` on, laid out in `columns`.

        Its results are put behind the `start` that have been found; it returns how many these are now. When a value
        leaves its declared range in state x, it returns -1 - ((x - first) * steps + N).
        """
        code = self._begin()
        for condition in (conjunct.condition for conjunct in action.guard if _is_closed(conjunct.condition)):
            code.leave_entry_unless(self._truth(condition), "disabled")
        code.jump("loop")
        code.start("loop")
        code.do(f"%at = phi i64 [ 0, %{code.entry_end} ], [ %at.next, %next ]")
        code.do(f"%n = phi i64 [ %start, %{code.entry_end} ], [ %n.next, %next ]")
        self._look_at(lanes=True)
        bits, refused = self._filter(action)
        self._look_at(lanes=False)
        self._each_passing(number, action.effect, bits)
        ways = ", ".join([f"[ %n.found, %{code.block} ]", *(f"[ %n, %{block} ]" for block in refused)])
        name = " ".join([action.name, *map(str, action.arguments)])
        return _STEP.format(
            name=name,
            number=number,
            run=_RUN,
            text=code.text(),
            ways=ways,
            lanes=LANES,
            out_of_range=OUT_OF_RANGE,
            steps=steps,
        )

    def _filter(self, action: LoweredAction) -> tuple[str, list[str]]:
        """Which lanes the guard lets pass, as bits that are not zero; and the blocks that go on to `next`."""
        code, refused = self.code, []
        for statement in takewhile(lambda statement: isinstance(statement, Let), action.effect):
            self._statement(statement)
        self._valid_lanes()
        bits, passing = "%lanes", self._known_truth(True)
        for condition in (conjunct.condition for conjunct in action.guard if not _is_closed(conjunct.condition)):
            passing = self._logic("and", passing, self._truth(condition))
            bits = self._lanes_of(passing)
            refused.append(code.block)
            going_on = code.label()
            code.branch(code.value(f"icmp eq i64 {bits}, 0"), "next", going_on)
            code.start(going_on)
        return bits, refused

    def _each_passing(self, number: int, effect: Sequence[Statement], bits: str) -> None:
        """The effect on each of the lanes that passed; ends in the block that goes on to `next`."""
        code, before = self.code, self.code.block
        code.jump("each")
        code.start("each")
        code.do(f"%todo = phi i64 [ {bits}, %{before} ], [ %todo.next, %kept ]")
        code.do(f"%m = phi i64 [ %n, %{before} ], [ %n.found, %kept ]")
        code.do("%lane = call i64 @llvm.cttz.i64(i64 %todo, i1 true)")
        code.do("%place.of.lane = add nsw i64 %at, %lane")
        code.do("%x = add nsw i64 %base, %place.of.lane")
        self.words = [self._word(i) for i in range(self.packing.words)]
        for statement in effect:
            self._statement(statement)
        code.do(f"%to = mul nsw i64 %m, {self.packing.words}")
        for i, word in enumerate(self.words):
            place = code.value(f"getelementptr inbounds i64, ptr %found, i64 {code.value(f'add nsw i64 %to, {i}')}")
            code.do(f"store i64 {word}, ptr {place}")
        code.do("%m.step = getelementptr inbounds i32, ptr %steps, i64 %m")
        code.do(f"store i32 {number}, ptr %m.step")
        code.do("%m.parent = getelementptr inbounds i64, ptr %parents, i64 %m")
        code.do("store i64 %x, ptr %m.parent")
        code.jump("kept")
        code.start("kept")
        code.do("%n.found = add nsw i64 %m, 1")
        code.do("%one.less = add i64 %todo, -1")
        code.do("%todo.next = and i64 %todo, %one.less")
        code.do("%is.done = icmp eq i64 %todo.next, 0")
        code.branch("%is.done", "next", "each")

    def _expand(self, steps: int) -> str:
        """`expand(states, first, last, K, found, steps, parents)`: the successors of some states, at least one."""
        lines, n = [], "%n"
        for number in range(steps):
            lines += [
                f"call.{number}:",
                f"  %n.{number} = call i64 @step_{number}({_ARGUMENTS}, i64 {n})",
                f"  %is.bad.{number} = icmp slt i64 %n.{number}, 0",
                f"  br i1 %is.bad.{number}, label %bad, label %call.{number + 1}, {UNLIKELY}",
            ]
            n = f"%n.{number}"
        if steps:
            ways = ", ".join(f"[ %n.{number}, %call.{number} ]" for number in range(steps))
            lines += ["bad:", f"  %left = phi i64 {ways}", "  ret i64 %left"]
        return self._in_runs("expand", f"{STATES}, {_FOUND}", lines, steps, n)

    def _in_runs(self, function: str, given: str, body: list[str], calls: int, result: str) -> str:
        """A function that lays out the states from first to last, `RUN` at a time, in `columns`, and does the body.

        The body is the blocks `call.0` and so on, as many as there are calls, each going on to the next.
        """
        width = self.packing.words
        copies = []
        for word in range(width):
            copies += [
                f"  %from.{word} = add nsw i64 %from, {word}",
                f"  %source.{word} = getelementptr inbounds i64, ptr %states, i64 %from.{word}",
                f"  %word.{word} = load i64, ptr %source.{word}",
                f"  %to.{word} = getelementptr inbounds [{RUN} x i64], ptr %columns, i64 {word}, i64 %i",
                f"  store i64 %word.{word}, ptr %to.{word}",
            ]
        return _RUNS.format(
            function=function, given=given, words=width, run=RUN, size=8 * RUN * width, alignment=ALIGNMENT,
            copies="\n".join(copies), body="\n".join(body), calls=calls, result=result,
        )  # fmt: skip

    def _valid_lanes(self) -> None:
        """`%lanes`: a bit for each lane from `%at` on in which there is a state."""
        self.code.do("%rest = sub nsw i64 %count, %at")
        self.code.do(f"%valid = call i64 @llvm.smin.i64(i64 %rest, i64 {LANES})")
        self.code.do("%beyond = shl nsw i64 -1, %valid")
        self.code.do("%lanes = xor i64 %beyond, -1")

    def _lanes_of(self, truth: str) -> str:
        """The lanes in which a condition is true, as bits of a number."""
        mask = self.code.value(f"bitcast {self._i1} {truth} to i{LANES}")
        return self.code.value(f"and i64 {self.code.value(f'zext i{LANES} {mask} to i64')}, %lanes")


def _is_closed(term: Expression) -> bool:
    """Whether the term is the same for all states."""
    match term:
        case Int() | Switch():
            return True
        case Apply(_, arguments):
            return all(_is_closed(a) for a in arguments)
    return False
