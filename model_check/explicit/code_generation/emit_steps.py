"""From actions to LLVM functions that try them on many states.

Runs of states are laid out word by word. The guards of some steps are evaluated together, without a branch and for
all states of the run at once, so that what they have in common is computed once; a mask for each step says which states
pass. Then each step takes its effect on those states, one after the other: its code is small, and a step that no state
can take costs a look at its mask.
"""

from __future__ import annotations

from itertools import chain, takewhile
from typing import TYPE_CHECKING

from model_check.explicit.code_generation.bytes_of_run import BYTE, RUN, cut_all
from model_check.explicit.code_generation.emit_statements import OUT_OF_RANGE, StatementWriter
from model_check.explicit.code_generation.instructions import METADATA, UNLIKELY, Instructions
from model_check.explicit.code_generation.lay_out import LOAD, in_runs
from model_check.front_end.possible_steps import is_closed
from model_check.front_end.terms import Expression, Let, LoweredAction

if TYPE_CHECKING:
    from collections.abc import Sequence

DECLARATIONS = f"""\
declare i64 @llvm.cttz.i64(i64, i1)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.ctpop.i64(i64)
{LOAD}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
{METADATA}"""

_FOUND = "ptr noalias nocapture %found, ptr noalias nocapture %steps, ptr noalias nocapture %parents"
STATES = "ptr noalias nocapture readonly %states, i64 %first, i64 %last, ptr noalias nocapture readonly %K"
GUARDS_A_FUNCTION = 64
"""Steps whose guards one function evaluates, if they have the same occasion: more would fill the registers."""

_GUARDS = """\
define internal void @guards_{number}(ptr noalias nocapture readonly %columns, i64 %count, \
ptr noalias nocapture readonly %K, ptr noalias nocapture %masks) nounwind {{
{text}
over:
  ret void
}}"""

_STEP = """\
; {name}
define internal i64 @step_{number}(i64 %bits, i64 %base, ptr noalias nocapture readonly %states, i64 %first, \
ptr noalias nocapture readonly %K, {found}, i64 %start) nounwind {{
{text}
over:
  ret i64 %n.found
{out_of_range}:
  %place = sub nsw i64 %x, %first
  %steps.before = mul nsw i64 %place, {steps}
  %step = add nsw i64 %steps.before, {number}
  %left = sub nsw i64 -1, %step
  ret i64 %left
}}"""

_TRY_A_STEP = """\
call.{call}:
  %mask.of.{number} = getelementptr inbounds i64, ptr %masks, i64 {number}
  %mask.{number} = load i64, ptr %mask.of.{number}
  %is.none.{number} = icmp eq i64 %mask.{number}, 0
  br i1 %is.none.{number}, label %done.{number}, label %some.{number}
some.{number}:
  %found.{number} = call i64 @step_{number}(i64 %mask.{number}, i64 %base, ptr %states, i64 %first, ptr %K, \
ptr %found, ptr %steps, ptr %parents, i64 {before})
  %is.bad.{number} = icmp slt i64 %found.{number}, 0
  br i1 %is.bad.{number}, label %bad, label %done.{number}, {unlikely}
done.{number}:
  %n.{number} = phi i64 [ {before}, %call.{call} ], [ %found.{number}, %some.{number} ]
  br label %call.{next}"""


class StepWriter(StatementWriter):
    """Writes the functions of the steps; `words` and `switches` as for `StatementWriter`."""

    def _begin(self) -> Instructions:
        """A new function."""
        self.code = Instructions()
        self._look_at()
        return self.code

    def _guards(self, actions: Sequence[LoweredAction], parts: Sequence[Sequence[int]]) -> list[str]:
        """Functions that write the masks of a run of `count` states in `columns`; those of other steps stay zero.

        Each does nothing unless the steps of its part are possible: `K` says so behind the switches.
        """
        return [self._guards_of(number, [(step, actions[step]) for step in part]) for number, part in enumerate(parts)]

    def _guards_of(self, part: int, some: Sequence[tuple[int, LoweredAction]]) -> str:
        """The function of part number N: the guards of some steps that are possible in the same environments."""
        code = self._begin()
        at_flag = code.at_entry(f"getelementptr inbounds i64, ptr %K, i64 {len(self.switches) + part}")
        flag = code.at_entry(f"load i64, ptr {at_flag}")
        code.leave_entry_unless(code.at_entry(f"icmp ne i64 {flag}, 0"), "over")
        self._all_are_cut = True
        bits = max(self.bits_for_guard(action) for _, action in some)
        code.jump("some")
        code.start("some")
        for number, action in some:
            self._look_at_run(bits)
            for name in names_of_guard(action):
                self._statement(name)
            passing = self._known_truth(True)
            for condition in _conditions(action):
                passing = self._logic("and", passing, self._truth(condition))
            address = code.value(f"getelementptr inbounds i64, ptr %masks, i64 {number}")
            code.do(f"store i64 {self._of_run(passing)}, ptr {address}")
        code.jump("over")
        self._all_are_cut = False
        return _GUARDS.format(number=part, text=code.text())

    def bits_for_guard(self, action: LoweredAction) -> int:
        """Of the numbers that are enough to evaluate the guard of a step."""
        self._ranges = {}
        for name in names_of_guard(action):
            self._ranges[name.name] = self._range(name.value)
        return self._bits_for(*(name.value for name in names_of_guard(action)), *_conditions(action))

    def _action(self, number: int, action: LoweredAction, steps: int) -> str:
        """The function of step number N of some, taken in the states from state `base` on of which `bits` has the bit.

        Its results are put behind the `start` that have been found; it returns how many these are now. When a value
        leaves its declared range in state x, it returns -1 - ((x - first) * steps + N).
        """
        code = self._begin_each()
        for statement in action.effect:
            self._statement(statement)
        self._put("%found", "%m")
        code.do("%m.step = getelementptr inbounds i32, ptr %steps, i64 %m")
        code.do(f"store i32 {number}, ptr %m.step")
        code.do("%m.parent = getelementptr inbounds i64, ptr %parents, i64 %m")
        code.do("store i64 %x, ptr %m.parent")
        self._end_each()
        name = " ".join([action.name, *map(str, action.arguments)])
        text = code.text()
        return _STEP.format(name=name, number=number, found=_FOUND, text=text, out_of_range=OUT_OF_RANGE, steps=steps)

    def _begin_each(self) -> Instructions:
        """A function that looks at each state `%x` of which `%bits` has the bit; `%m` counts them from `%start` on."""
        code = self._begin()
        code.jump("each")
        code.start("each")
        code.do("%todo = phi i64 [ %bits, %entry ], [ %todo.next, %kept ]")
        code.do("%m = phi i64 [ %start, %entry ], [ %n.found, %kept ]")
        code.do("%lane = call i64 @llvm.cttz.i64(i64 %todo, i1 true)")
        code.do("%x = add nsw i64 %base, %lane")
        self.words = [self._word(i) for i in range(self.packing.words)]
        return code

    def _end_each(self) -> None:
        """Go on with the next of these states, or to `over`, where `%n.found` is how many there are."""
        code = self.code
        code.jump("kept")
        code.start("kept")
        code.do("%n.found = add nsw i64 %m, 1")
        code.next_bit()

    def _put(self, array: str, number: str) -> None:
        """Write the words of the state as the statements have left them to an array of states."""
        code = self.code
        to = code.value(f"mul nsw i64 {number}, {self.packing.words}")
        for i in range(self.packing.words):
            place = code.value(f"getelementptr inbounds i64, ptr {array}, i64 {code.value(f'add nsw i64 {to}, {i}')}")
            code.do(f"store i64 {self._word(i)}, ptr {place}")

    def _expand(self, steps: int, guards: int) -> str:
        """`expand(states, first, last, K, found, steps, parents)`: the successors of some states, at least one."""
        lines = ["call.0:", "  call void @cut(ptr %columns)"]
        lines += [f"  call void @llvm.memset.p0.i64(ptr align 64 %masks, i8 0, i64 {8 * steps}, i1 false)"]
        lines += [f"  call void @guards_{part}(ptr %columns, i64 %count, ptr %K, ptr %masks)" for part in range(guards)]
        lines.append("  br label %call.1")
        n = "%n"
        for number in range(steps):
            lines += _TRY_A_STEP.format(
                number=number, call=number + 1, next=number + 2, before=n, unlikely=UNLIKELY
            ).split("\n")
            n = f"%n.{number}"
        if steps:
            ways = ", ".join(f"[ %found.{number}, %some.{number} ]" for number in range(steps))
            lines += ["bad:", f"  %left = phi i64 {ways}", "  ret i64 %left"]
        entry = f"%masks = alloca [{steps} x i64], align 64"
        return in_runs(self.packing.words, "expand", f"{STATES}, {_FOUND}", lines, steps + 1, n, entry)

    def _cut(self) -> str:
        """`cut(columns)`: the bytes of a run that is laid out."""
        ends = [0] * self.packing.words
        for place in chain.from_iterable(self.packing.places.values()):
            ends[place.word] = max(ends[place.word], place.shift + place.width * place.length)
        return cut_all(self._begin(), [-(-end // BYTE) for end in ends])

    def _of_run(self, truth: str) -> str:
        """The states of the run in which a condition is true, as bits of a number."""
        beyond = self.code.at_entry(f"sub i64 {RUN}, %count")
        mask = self.code.value(f"bitcast {self._truth_type} {truth} to i{RUN}")
        return self.code.value(f"and i64 {mask}, {self.code.at_entry(f'lshr i64 -1, {beyond}')}")


def names_of_guard(action: LoweredAction) -> list[Let]:
    """What the guard gives names to."""
    return [
        name for name in takewhile(lambda statement: isinstance(statement, Let), action.effect) if isinstance(name, Let)
    ]


def _conditions(action: LoweredAction) -> list[Expression]:
    """What some states pass and others do not."""
    return [conjunct.condition for conjunct in action.guard if not is_closed(conjunct.condition)]
