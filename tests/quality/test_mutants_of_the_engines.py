"""Would a broken engine or specification be noticed? Each mutant here must be seen by the check that is for it."""

from __future__ import annotations

import inspect
import sys
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from model_check.clauses import name_of
from model_check.cpython import explore
from model_check.explicit.code_generation import packing
from model_check.explicit.code_generation.expressions import Function, Module
from model_check.explicit.code_generation.statements import emit_statement, emit_tick
from model_check.explicit.code_generation.steps import guard_functions, step_function
from model_check.front_end.terms import Apply, Expression, Int, LoweredAction, Statement, Write
from model_check.instances import load_instance
from model_check.verdicts.table import table_of_verdicts
from model_check.world import NO_FAULTS, Profile, World
from spec import op_pull, rounds
from spec.chapters import check_round, discarding, end_transaction, putting_back
from spec.language import Machine, declared_action
from spec.transactional_messages import TRANSACTIONAL_MESSAGES as MACHINE
from tests.model_check.emitted import emitted, in_cpython, replace_in_emitter
from tests.model_check.walked import walked_states
from tests.sampled import sampled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import ModuleType

pytestmark = pytest.mark.untraced


# --- mutants of the emitter: the state-by-state comparison sees them --------------------------------------------------


def drop_an_assignment(patch: pytest.MonkeyPatch) -> None:
    """Of each action with three statements or more, the last is forgotten."""

    def mutant(module: Module, number: int, action: LoweredAction, steps: int) -> str:
        effect = action.effect[:-1] if len(action.effect) >= 3 else action.effect
        return step_function(module, number, replace(action, effect=effect), steps)

    replace_in_emitter(patch, step_function, mutant)


def forget_a_conjunct(patch: pytest.MonkeyPatch) -> None:
    """Of each guard with four conjuncts or more, the last is forgotten."""

    def mutant(module: Module, actions: Sequence[LoweredAction], parts: Sequence[Sequence[int]]) -> list[str]:
        forgetful = [replace(a, guard=a.guard[:-1]) if len(a.guard) >= 4 else a for a in actions]
        return guard_functions(module, forgetful, parts)

    replace_in_emitter(patch, guard_functions, mutant)


def take_less_for_less_or_equal(patch: pytest.MonkeyPatch) -> None:
    """`<=` is read as `<`."""
    whole = Function.truth

    def mutant(f: Function, term: Expression) -> str:
        match term:
            case Apply("<=", arguments):
                return whole(f, Apply("<", arguments))
        return whole(f, term)

    patch.setattr(Function, "truth", mutant)


def age_nothing(patch: pytest.MonkeyPatch) -> None:
    """The clock goes on, and no instant becomes older."""
    replace_in_emitter(patch, emit_tick, lambda _: None)


def write_at_the_first_place(patch: pytest.MonkeyPatch) -> None:
    """Each write into an array goes to its first place."""

    def mutant(f: Function, statement: Statement) -> None:
        if isinstance(statement, Write) and statement.index is not None:
            statement = replace(statement, index=Int(0))
        emit_statement(f, statement)

    replace_in_emitter(patch, emit_statement, mutant)


def disagreement() -> str | None:
    """The first step on which the emitted module and the CPython engine differ."""
    constants = World.of("5.3.3", ("crash", "slow_local", "slow_round"), "tiny").constants
    module = emitted(MACHINE, constants)
    for values in walked_states(MACHINE, constants, walks=15, steps=50, seed=5):
        by_cpython = list(in_cpython(MACHINE, constants, values))
        try:
            by_emitter = module.successors(values)
        except OverflowError as error:
            return f"{error} leaves a range"
        if by_emitter != by_cpython:
            return f"{by_emitter} is not {by_cpython}"
    return None


def test_the_emitter_agrees_with_cpython() -> None:
    assert disagreement() is None


@pytest.mark.parametrize(
    "mutant",
    sampled(
        [drop_an_assignment, forget_a_conjunct, take_less_for_less_or_equal, age_nothing, write_at_the_first_place], 4
    ),
    ids=lambda mutant: mutant.__name__,
)
def test_a_broken_emitter_is_seen(
    mutant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant(monkeypatch)
    assert disagreement() is not None


@pytest.mark.parametrize(
    "field",
    sampled(["check_times", "local", "names", "cursor", "end"], 3),
)
def test_a_field_that_is_packed_one_bit_too_narrow_is_seen(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = packing.pack_machine

    def narrow(machine: Machine, constants: object) -> packing.Packing:
        packed = whole(machine, constants)
        places = {
            path: tuple(replace(place, width=place.width - (path[-1] == field)) for place in parts)
            for path, parts in packed.places.items()
        }
        return replace(packed, places=places)

    monkeypatch.setattr("tests.model_check.emitted.pack_machine", narrow)
    assert disagreement() is not None


# --- mutants of the specification: the pinned counts and verdicts see them --------------------------------------------


@contextmanager
def rewritten(
    module: ModuleType, function: Callable[..., object], old: str, new: str
) -> Iterator[Callable[..., object]]:
    """The function with a text of its source replaced, for as long as the block lasts."""
    source = inspect.getsource(function)
    assert source.count(old) == 1, f"{old!r} is not once in {function.__name__}"
    namespace = dict(vars(module))
    exec(compile(source.replace(old, new), "<mutant>", "exec"), namespace)  # noqa: S102
    mutant = namespace[function.__name__]
    # What other functions call, they find by its name, in each module that has it.
    with pytest.MonkeyPatch.context() as patch:
        for other in [m for name, m in sys.modules.items() if name.startswith("spec.")]:
            if getattr(other, function.__name__, None) is function:
                patch.setattr(other, function.__name__, mutant)
        yield mutant


def numbers(machine: Machine, profile: str = "4.9.7") -> tuple[int, int, int, dict[str, int]]:
    """Clauses by their names: those of a mutant are others."""
    constants = World.of(profile, (), "tiny").constants
    found = explore(machine, constants)
    depths = {name_of(clause): len(found.path_to(state)) for clause, state in found.violations.items()}
    return found.distinct, found.generated, found.depth, depths


ENTRY = table_of_verdicts().of(Profile.of("4.9.7"), load_instance("tiny"))[NO_FAULTS]
VIOLATED = {name_of(clause): depth for clause, depth in ENTRY.violated.items()}
QUIET_4_9_7 = (ENTRY.distinct, ENTRY.generated, ENTRY.depth, VIOLATED)
"""What the compiled search has found, from the table of verdicts."""


def test_the_specification_gives_the_pinned_numbers() -> None:
    assert numbers(MACHINE) == QUIET_4_9_7


MUTANTS = [
    pytest.param(
        check_round, "pass_settled_half", "    settle_by_op(s, c, s.round.cursor)\n", "", id="op-not-marked-done"
    ),
    pytest.param(
        putting_back, "put_back_and_check", "].check_in_flight = True", "].check_in_flight = False", id="no-check-sent"
    ),
    pytest.param(
        putting_back, "put_back_immune_half", "append_copy(s, c, half_read(s), 1)", "pass", id="no-copy-stored"
    ),
    pytest.param(discarding, "discard", "    s.round.cursor += 1\n", "", id="discarded-and-not-passed"),
    pytest.param(
        rounds,
        "end_round",
        "        s.offsets.half = s.round.cursor\n",
        "        pass\n",
        id="half-offset-not-committed",
    ),
    pytest.param(
        end_transaction, "store_real_message", "    remember_delivery(s, c, h)\n", "", id="delivery-not-counted"
    ),
    pytest.param(
        end_transaction, "write_op", "append_op(s, c, Bits.only(h))", "append_op(s, c, Bits())", id="op-names-nothing"
    ),
    pytest.param(op_pull, "read_op_messages", "o < s.op_length:", "o < s.op_length + 1:", id="reads-past-the-op-end"),
]


@pytest.mark.parametrize(
    ("module", "name", "old", "new"),
    sampled(MUTANTS, 3),
)
def test_a_changed_action_changes_the_pinned_numbers(module: ModuleType, name: str, old: str, new: str) -> None:
    assert numbers_with(module, name, old, new) != QUIET_4_9_7


def numbers_with(module: ModuleType, name: str, old: str, new: str) -> tuple[int, int, int, dict[str, int]]:
    """The numbers of the quiet world of 4.9.7, a text of one function replaced."""
    function = getattr(module, name)
    with rewritten(module, function, old, new) as mutant:
        actions = tuple(declared_action(mutant) if a.function is function else a for a in MACHINE.actions)
        return numbers(replace(MACHINE, actions=actions))
