"""From the forgetting of a machine to LLVM functions that sweep the successors of a run.

The conditions under which a state has anything to forget are evaluated as guards are: for all states of a run at once
and without a branch. The values of their local names are stored. Then the statements are done in stages: one for each
condition on these names, with a mask of its states. A stage takes eight states at a time, a lane each, and skips those
groups in which its mask has no bit. Eight runs go through the stages together.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from model_check.explicit.code_generation.expressions import Function, Module, bits_for
from model_check.explicit.code_generation.packing import WORD_BITS
from model_check.explicit.code_generation.runs import (
    ALIGNMENT,
    BYTE,
    EIGHT,
    RUN,
    begin_groups,
    end_groups,
    transposition,
    write_back_function,
)
from model_check.explicit.code_generation.statements import OUT_OF_RANGE, emit_statements
from model_check.explicit.code_generation.steps import begin_each_state, end_each_state, put_state
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
{transposition}
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

_COPY = """\
define internal i64 @keep(i64 %bits, i64 %base, ptr noalias nocapture readonly %states, ptr noalias nocapture %before, \
i64 %start) nounwind {{
{text}
over:
  ret i64 %n.found
}}"""


class _Stage(NamedTuple):
    """Statements, and a condition on the names for the states to which they are done; all states without one."""

    condition: Expression
    statements: tuple[Statement, ...]


class _Sweep(NamedTuple):
    """Local names, a test for states that have something to forget, stages, and bits of lanes for all of them."""

    names: Sequence[Let]
    test: Expression
    stages: Sequence[_Stage]
    bits: int


def forget_functions(module: Module, forgetting: Sequence[Statement]) -> list[str]:
    """`forget(states, first, last, K, before)`: copies each state that has something to forget, and sweeps it.

    It returns how many these are, or -1 when a value leaves its declared range.
    """
    if not forgetting:
        return [_NOTHING]
    sweep = _sweep(module, forgetting)
    words, rows = module.packing.words, 1 + len(sweep.stages)
    forget = _FORGET.format(
        given=_GIVEN, words=words, names=len(sweep.names), bits=sweep.bits, run=RUN, runs=EIGHT,
        rows=rows, size_of_masks=rows * EIGHT * BYTE, alignment=ALIGNMENT,
        transposition=transposition(words, "decide"), eight=EIGHT, eight_less_one=EIGHT - 1,
        stages=_stage_calls(len(sweep.stages)),
    )  # fmt: skip
    return [
        _mark_functions(module, sweep),
        _copy_function(module),
        write_back_function(words),
        *(_stage_function(module, number, sweep) for number in range(len(sweep.stages))),
        forget,
    ]


def _sweep(module: Module, forgetting: Sequence[Statement]) -> _Sweep:
    """Split into the names at the beginning, the test of all that follows, and its stages."""
    first = next((i for i, statement in enumerate(forgetting) if not isinstance(statement, Let)), 0)
    names = [statement for statement in forgetting[:first] if isinstance(statement, Let)]
    match forgetting[first:]:
        case (If(test, then, ()),):
            pass
        case _:
            names, test, then = [], TRUE, tuple(forgetting)
    stages = _stages(then)
    bits = bits_for(module.packing, names, [test, *(stage.condition for stage in stages)])
    return _Sweep(names, test, stages, bits)


def _stages(statements: Iterable[Statement]) -> list[_Stage]:
    """The stages, in order; neighbours with the same condition are one."""
    stages: list[_Stage] = []
    for statement in statements:
        stage = _Stage(TRUE, (statement,))
        match statement:
            case If(test, then, ()) if not any(isinstance(term, Read | Switch) for term in parts(test)):
                stage = _Stage(test, then)
        if stages and stage.condition == stages[-1].condition:
            stage = _Stage(stage.condition, stages.pop().statements + stage.statements)
        stages.append(stage)
    return stages


def _mark_functions(module: Module, sweep: _Sweep) -> str:
    """The function that gives the states of a run for which the test is true.

    It also stores the values of the names for each of them, and a row of `masks` for all states and for each stage. If
    none of the switches in it is on, it calls a second function, which has less to compute.
    """
    asked = sorted({term.name for term in parts((*sweep.names, sweep.test)) if isinstance(term, Switch)})
    f = Function(module)
    if asked:
        some = reduce(lambda left, right: f.logic("or", left, right), map(f.switch, asked))
        f.code.leave_entry_unless(some, "less")
    _emit_mark(f, sweep)
    if not asked:
        return _MARK.format(function="mark", text=f.code.text())
    mark = _MARK.format(function="mark", text=f"{f.code.text()}\n{_MARK_FOR_LESS}")
    off, less = dict.fromkeys(asked, 0), Function(module)
    names = [Let(name.name, with_values(name.value, off)) for name in sweep.names]
    _emit_mark(less, sweep._replace(names=names, test=with_values(sweep.test, off)))
    return f"{_MARK.format(function='mark_for_less', text=less.code.text())}\n\n{mark}"


def _emit_mark(f: Function, sweep: _Sweep) -> None:
    code = f.code
    f.look_at_run(sweep.bits)
    for number, name in enumerate(sweep.names):
        emit_statements(f, [name])
        address = code.value(f"getelementptr inbounds [{RUN} x i{sweep.bits}], ptr %known, i64 {number}")
        code.do(f"store {f.number_type} {f.names[name.name]}, ptr {address}, align {RUN}")
    marked = f.states_where(f.truth(sweep.test))
    for row, condition in enumerate([TRUE, *(stage.condition for stage in sweep.stages)]):
        mask = code.value(f"and i64 {marked}, {f.states_where(f.truth(condition))}")
        code.do(f"store i64 {mask}, ptr {code.value(f'getelementptr inbounds i64, ptr %masks, i64 {EIGHT * row}')}")
    code.do(f"ret i64 {marked}")


def _copy_function(module: Module) -> str:
    """The function that copies the states of which `bits` has the bit; it returns how many there are now."""
    f = begin_each_state(module)
    put_state(f, "%before", "%m")
    end_each_state(f)
    return _COPY.format(text=f.code.text())


def _stage_function(module: Module, number: int, sweep: _Sweep) -> str:
    """The function that does a stage to the states of which `masks` have the bits, eight at a time."""
    f, names, bits = Function(module), sweep.names, sweep.bits
    code = f.code
    begin_groups(code, module.packing.words)
    code.do(f"%known = getelementptr inbounds [{len(names)} x [{RUN} x i{bits}]], ptr %all.known, i64 %run")
    f.look_at_group()
    f.reached = "%are.these"
    for row, name in enumerate(names):
        address = code.value(f"getelementptr inbounds [{RUN} x i{bits}], ptr %known, i64 {row}, i64 %lane")
        known = code.value(f"load <{EIGHT} x i{bits}>, ptr {address}, align {bits}")
        f.ranges[name.name] = f.range(name.value)
        wide = f"sext <{EIGHT} x i{bits}> {known} to {f.number_type}"
        f.names[name.name] = known if bits == WORD_BITS else code.value(wide)
    before = f.all_words()
    emit_statements(f, sweep.stages[number].statements)
    for i, word in enumerate(before):
        if f.word(i) != word:
            changed = f.select(f.reached, f.word(i), word)
            code.do(f"store {f.number_type} {changed}, ptr {f.column(i)}, align {EIGHT * BYTE}")
    end_groups(code)
    return _STAGE.format(number=number, text=code.text(), out_of_range=OUT_OF_RANGE)


def _stage_calls(stages: int) -> str:
    """Call one stage after the other, and join what they return."""
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
