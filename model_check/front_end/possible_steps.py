"""The steps that are possible in an environment, as a least fixed point.

A step is possible when its switches allow it and each conjunct that is false of the initial values is enabled by a
possible step, one that writes a field which the conjunct reads. The result may have more steps than a search takes,
never fewer; so a search may leave out the guards of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from model_check.front_end.terms import (
    FALSE,
    TRUE,
    Apply,
    Expression,
    Int,
    LoweredAction,
    Path,
    Read,
    Remove,
    Statement,
    Switch,
    Write,
    parts,
    statements_of,
    with_values,
)
from spec.language import Kind, Slot

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Occasion:
    """The conditions of a step that hold in all states or in none; with equal ones, steps share their environments."""

    conditions: tuple[Expression, ...] = ()  # conjuncts that do not depend on the state
    needs: frozenset[frozenset[int]] = frozenset()  # sets of step numbers: of each, one step must be possible


def allowed_steps(occasions: Sequence[Occasion], switches: Mapping[str, int]) -> set[int]:
    """The numbers of the steps that the values of the switches allow, in unreachable states, too."""
    return {
        number
        for number, occasion in enumerate(occasions)
        if not any(_fails(condition, switches) for condition in occasion.conditions)
    }


def possible_steps(occasions: Sequence[Occasion], switches: Mapping[str, int]) -> set[int]:
    """The numbers of the steps that are possible where the switches have these values."""
    allowed = allowed_steps(occasions, switches)
    possible: set[int] = set()
    while more := {n for n in allowed - possible if all(need & possible for need in occasions[n].needs)}:
        possible |= more
    return possible


@dataclass(frozen=True, slots=True)
class GuardParts:
    """Parts of the steps whose guards are evaluated together: those of a part are possible in the same environments."""

    occasions: tuple[Occasion, ...]  # one a step
    parts: tuple[tuple[int, ...], ...]  # the numbers of the steps of each part

    @classmethod
    def of(cls, occasions: tuple[Occasion, ...], most: int) -> GuardParts:
        """Parts of so many steps at most."""
        alike: dict[Occasion, list[int]] = {}
        for number, occasion in enumerate(occasions):
            alike.setdefault(occasion, []).append(number)
        parts = (tuple(part[first : first + most]) for part in alike.values() for first in range(0, len(part), most))
        return cls(occasions, tuple(parts))

    def flags(self, switches: Mapping[str, int], *, reachable: bool) -> list[int]:
        """For each part whether its guards are to be evaluated, in `reachable` states only or in all."""
        steps = possible_steps(self.occasions, switches) if reachable else allowed_steps(self.occasions, switches)
        return [int(part[0] in steps) for part in self.parts]


def occasions_of(
    actions: Sequence[LoweredAction], forgetting: Iterable[Statement], slots: Iterable[Slot]
) -> tuple[Occasion, ...]:
    """The occasions of some steps, each followed by `forgetting`, whatever the switches."""
    fixed = _fixed_values(slots, forgetting)
    writes = [frozenset(_written_by(action.effect, fixed)) for action in actions]
    always = _possible_everywhere(actions, writes, fixed)
    for number in always:
        for path in writes[number]:
            fixed.pop(path, None)
    writers: dict[Path, frozenset[int]] = {
        path: frozenset(number for number, written in enumerate(writes) if path in written) for path in fixed
    }
    return tuple(
        Occasion() if number in always else Occasion(_closed(action), _needs(action, fixed, writers))
        for number, action in enumerate(actions)
    )


def is_closed(term: Expression) -> bool:
    """Whether the term is the same for all states."""
    match term:
        case Int() | Switch():
            return True
        case Apply(_, arguments):
            return all(is_closed(argument) for argument in arguments)
    return False


def _closed(action: LoweredAction) -> tuple[Expression, ...]:
    conditions = (conjunct.condition for conjunct in action.guard)
    return tuple(condition for condition in conditions if is_closed(condition) and condition != TRUE)


def _fixed_values(slots: Iterable[Slot], forgetting: Iterable[Statement]) -> dict[Path, int]:
    """The initial values of the fields that neither time nor forgetting changes.

    A removal leaves an initial value behind at the end of an array, and references to nothing as they are.
    """
    moving = {statement.path for statement in statements_of(forgetting) if isinstance(statement, Write)}
    fixed = (slot for slot in slots if slot.kind not in (Kind.CLOCK, Kind.INSTANT) and slot.path not in moving)
    return {slot.path: slot.low for slot in fixed}  # of the initial state, see `MachineState`


def _written_by(effect: tuple[Statement, ...], fixed: Mapping[Path, int]) -> Iterable[Path]:
    """The fields that the effect may change from their initial values."""
    for statement in statements_of(effect):
        match statement:
            case Write(path, _, value) if not (isinstance(value, Int) and fixed.get(path) == value.value):
                yield path
            case Remove():
                yield from fixed


def _possible_everywhere(
    actions: Sequence[LoweredAction], writes: Sequence[frozenset[Path]], fixed: Mapping[Path, int]
) -> set[int]:
    """The steps that are possible in any environment."""
    left = {number for number, action in enumerate(actions) if not _closed(action)}
    known = dict(fixed)
    possible: set[int] = set()
    while more := {n for n in left if not any(_fails(c.condition, known) for c in actions[n].guard)}:
        left -= more
        possible |= more
        written = frozenset().union(*(writes[number] for number in more))
        known = {path: value for path, value in known.items() if path not in written}
    return possible


def _needs(
    action: LoweredAction, fixed: Mapping[Path, int], writers: Mapping[Path, frozenset[int]]
) -> frozenset[frozenset[int]]:
    """For each conjunct that is false of the initial values, the steps that may change that."""
    needs: set[frozenset[int]] = set()
    for conjunct in action.guard:
        read = {part.path for part in parts(conjunct.condition) if isinstance(part, Read)} & fixed.keys()
        alone = {path for path in read if _fails(conjunct.condition, {path: fixed[path]})}
        needs |= {writers[path] for path in alone}
        if read and not alone and _fails(conjunct.condition, fixed):
            needs.add(frozenset().union(*(writers[path] for path in read)))
    return frozenset(needs)


def _fails(condition: Expression, known: Mapping[Any, int]) -> bool:
    return with_values(condition, known) == FALSE
