"""Machine code that counts which conjuncts were the first to be false.

It is a module of its own, so that the search is neither slower nor compiled for longer for the sake of it. It evaluates
guards and properties only, on a run of states that are stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from model_check.explicit.code_generation.emit import COLUMNS, Emitter
from model_check.explicit.code_generation.expressions import Function, Module, bits_for
from model_check.explicit.code_generation.runs import run_loop
from model_check.explicit.code_generation.statements import emit_statements
from model_check.explicit.code_generation.steps import STATES, bits_for_guard, names_of_guard

if TYPE_CHECKING:
    from model_check.explicit.code_generation.packing import Packing
    from model_check.front_end.terms import Expression, LoweredAction
    from spec.language import Machine

CLAIMS_A_FUNCTION = 16
"""Clauses and witnesses that one function counts: the compiler takes longest for very long ones."""


@dataclass(frozen=True, slots=True)
class CountedPlace:
    """The meaning of a number in the counts: an action's conjunct at a place, or its whole guard (no place)."""

    action: str
    place: tuple[int, ...] | None


def coverage_source(machine: Machine, constants: object, packing: Packing) -> tuple[str, tuple[CountedPlace, ...]]:
    """The text of a module with `cover(states, first, last, K, counts)`, and the meaning of the numbers in `counts`.

    For each step the counts have one number a conjunct and one for the whole guard; a number a clause and a witness
    (states that violate it, states that are it) follows behind the last step.
    """
    emitter = Emitter(machine, constants, packing)
    module = emitter.module
    counted: list[CountedPlace] = []
    functions: list[str] = []
    for step in emitter.steps:
        action = emitter.lowering.action(step)
        functions.append(_guard_function(module, len(functions), action, len(counted)))
        counted += [CountedPlace(action.name, conjunct.place) for conjunct in action.guard]
        counted.append(CountedPlace(action.name, None))
    claims = list(enumerate(emitter.claims(), len(counted)))
    for first in range(0, len(claims), CLAIMS_A_FUNCTION):
        functions.append(_claims_function(module, len(functions), claims[first : first + CLAIMS_A_FUNCTION]))
    calls = [f"  call void @count_{n}(ptr %columns, i64 %count, ptr %K, ptr %out)" for n in range(len(functions))]
    body = ["call.0:", *calls, "  br label %call.1"]
    cover = run_loop(packing.words, "cover", f"{STATES}, ptr noalias nocapture %out", body, 1, "0")
    return module.text([*functions, cover]), tuple(counted)


def _guard_function(module: Module, number: int, action: LoweredAction, start: int) -> str:
    """Counts the states where a conjunct is the first that is false, and those where the whole guard is true."""
    f = _begin(module)
    code = f.code
    f.look_at_run(bits_for_guard(f.packing, action))
    emit_statements(f, names_of_guard(action))
    passing = f.truth_constant(True)
    before = f.states_where(passing)
    for place, conjunct in enumerate(action.guard, start):
        passing = f.logic("and", passing, f.truth(conjunct.condition))
        left = f.states_where(passing)
        _count(f, place, code.value(f"xor i64 {before}, {left}"))
        before, label = left, code.label()
        code.branch(code.value(f"icmp eq i64 {left}, 0"), "over", label)
        code.start(label)
    _count(f, start + len(action.guard), before)
    return _end(f, number)


def _claims_function(module: Module, number: int, claims: list[tuple[int, Expression]]) -> str:
    """Counts the states in which each claim is true."""
    f = _begin(module)
    f.look_at_run(bits_for(f.packing, (), [term for _, term in claims]))
    for place, term in claims:
        _count(f, place, f.states_where(f.truth(term)))
    return _end(f, number)


def _begin(module: Module) -> Function:
    f = Function(module)
    f.code.jump("some")
    f.code.start("some")
    return f


def _end(f: Function, number: int) -> str:
    f.code.jump("over")
    f.code.start("over")
    f.code.do("ret void")
    return f"define internal void @count_{number}({COLUMNS}) nounwind {{\n{f.code.text()}\n}}"


def _count(f: Function, place: int, states: str) -> None:
    """Add the number of states to a number in the counts."""
    code = f.code
    address = code.value(f"getelementptr inbounds i64, ptr %out, i64 {place}")
    number = code.value(f"call i64 @llvm.ctpop.i64(i64 {states})")
    before = code.value(f"load i64, ptr {address}")  # nothing else of this call writes there
    code.do(f"store i64 {code.value(f'add i64 {before}, {number}')}, ptr {address}")
