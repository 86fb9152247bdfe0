"""From actions to LLVM functions that try them on many states.

The guards of some steps are evaluated together, without a branch and for all states of a run at once, so that their
common terms are computed once; a mask for each step has the states that pass. Then each step takes its effect on those
states, one after the other: its code is small, and a step that no state can take costs a look at its mask.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from model_check.explicit.code_generation.expressions import Function, Module, bits_for
from model_check.explicit.code_generation.instructions import UNLIKELY
from model_check.explicit.code_generation.runs import run_loop
from model_check.explicit.code_generation.statements import OUT_OF_RANGE, emit_statements
from model_check.front_end.possible_steps import is_closed
from model_check.front_end.terms import Expression, Let, LoweredAction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.explicit.code_generation.packing import Packing

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


# --- guards -----------------------------------------------------------------------------------------------------------


def guard_functions(module: Module, actions: Sequence[LoweredAction], parts: Sequence[Sequence[int]]) -> list[str]:
    """Functions that write the masks of a run of `count` states in `columns`; those of other steps stay zero.

    Each does nothing unless the steps of its part are possible: a flag behind the switches in `K` says so.
    """
    return [_guards(module, number, [(step, actions[step]) for step in part]) for number, part in enumerate(parts)]


def _guards(module: Module, part: int, steps: Sequence[tuple[int, LoweredAction]]) -> str:
    """The guards of a part: of steps that are possible in the same environments."""
    f = Function(module, has_bytes=True)
    code = f.code
    at_flag = code.at_entry(f"getelementptr inbounds i64, ptr %K, i64 {len(module.switches) + part}")
    flag = code.at_entry(f"load i64, ptr {at_flag}")
    code.leave_entry_unless(code.at_entry(f"icmp ne i64 {flag}, 0"), "over")
    bits = max(bits_for_guard(module.packing, action) for _, action in steps)
    code.jump("some")
    code.start("some")
    for number, action in steps:
        f.look_at_run(bits)
        emit_statements(f, names_of_guard(action))
        passing = f.truth_constant(True)
        for condition in _open_conditions(action):
            passing = f.logic("and", passing, f.truth(condition))
        address = code.value(f"getelementptr inbounds i64, ptr %masks, i64 {number}")
        code.do(f"store i64 {f.states_where(passing)}, ptr {address}")
    code.jump("over")
    return _GUARDS.format(number=part, text=code.text())


def bits_for_guard(packing: Packing, action: LoweredAction) -> int:
    """Bits of the lanes that are enough to evaluate the guard of a step."""
    return bits_for(packing, names_of_guard(action), _open_conditions(action))


def names_of_guard(action: LoweredAction) -> list[Let]:
    """The names that the guard defines."""
    lets = takewhile(lambda statement: isinstance(statement, Let), action.effect)
    return [name for name in lets if isinstance(name, Let)]


def _open_conditions(action: LoweredAction) -> list[Expression]:
    """The conjuncts that depend on the state."""
    return [conjunct.condition for conjunct in action.guard if not is_closed(conjunct.condition)]


# --- effects ----------------------------------------------------------------------------------------------------------


def step_function(module: Module, number: int, action: LoweredAction, steps: int) -> str:
    """The function of step number N of some, taken in the states from state `base` on of which `bits` has the bit.

    Its results are put behind the `start` earlier ones; it returns how many there are now. When a value leaves its
    declared range in state x, it returns -1 - ((x - first) * steps + N).
    """
    f = begin_each_state(module)
    emit_statements(f, action.effect)
    put_state(f, "%found", "%m")
    f.code.do("%m.step = getelementptr inbounds i32, ptr %steps, i64 %m")
    f.code.do(f"store i32 {number}, ptr %m.step")
    f.code.do("%m.parent = getelementptr inbounds i64, ptr %parents, i64 %m")
    f.code.do("store i64 %x, ptr %m.parent")
    end_each_state(f)
    name = " ".join([action.name, *map(str, action.arguments)])
    text = f.code.text()
    return _STEP.format(name=name, number=number, found=_FOUND, text=text, out_of_range=OUT_OF_RANGE, steps=steps)


def begin_each_state(module: Module) -> Function:
    """A function over each state `%x` of which `%bits` has the bit; `%m` counts them from `%start` on."""
    f = Function(module)
    code = f.code
    code.jump("each")
    code.start("each")
    code.do("%todo = phi i64 [ %bits, %entry ], [ %todo.next, %kept ]")
    code.do("%m = phi i64 [ %start, %entry ], [ %n.found, %kept ]")
    code.do("%lane = call i64 @llvm.cttz.i64(i64 %todo, i1 true)")
    code.do("%x = add nsw i64 %base, %lane")
    f.words = f.all_words()
    return f


def end_each_state(f: Function) -> None:
    """End its loop: go on to `over`, where `%n.found` is the count."""
    f.code.jump("kept")
    f.code.start("kept")
    f.code.do("%n.found = add nsw i64 %m, 1")
    f.code.next_bit()


def put_state(f: Function, array: str, number: str) -> None:
    """Store the words of the state, as the statements have left them, in an array of states."""
    code = f.code
    to = code.value(f"mul nsw i64 {number}, {f.packing.words}")
    for i in range(f.packing.words):
        address = code.value(f"getelementptr inbounds i64, ptr {array}, i64 {code.value(f'add nsw i64 {to}, {i}')}")
        code.do(f"store i64 {f.word(i)}, ptr {address}")


# --- all steps --------------------------------------------------------------------------------------------------------


def expand_function(words: int, steps: int, guards: int) -> str:
    """`expand(states, first, last, K, found, steps, parents)`: the successors of some states, at least one."""
    lines = ["call.0:", "  call void @cut(ptr %columns)"]
    lines += [f"  call void @llvm.memset.p0.i64(ptr align 64 %masks, i8 0, i64 {8 * steps}, i1 false)"]
    lines += [f"  call void @guards_{part}(ptr %columns, i64 %count, ptr %K, ptr %masks)" for part in range(guards)]
    lines.append("  br label %call.1")
    n = "%n"
    for number in range(steps):
        lines.append(_TRY_A_STEP.format(number=number, call=number + 1, next=number + 2, before=n, unlikely=UNLIKELY))
        n = f"%n.{number}"
    if steps:
        ways = ", ".join(f"[ %found.{number}, %some.{number} ]" for number in range(steps))
        lines += ["bad:", f"  %left = phi i64 {ways}", "  ret i64 %left"]
    entry = f"%masks = alloca [{steps} x i64], align 64"
    return run_loop(words, "expand", f"{STATES}, {_FOUND}", lines, steps + 1, n, entry)
