"""Loops: a function or a set where each turn keeps to its own place, a recursive function where not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.front_end.open_terms import Constant, Loop, OpenFunction, OpenNumber, Truth
from model_check.front_end.terms import parts
from model_check.tla.pending import AliasUnknownError, Pending
from model_check.tla.values import (
    Accessors,
    Binding,
    Except,
    Index,
    LetIn,
    Mapping,
    Operation,
    Range,
    RecordOf,
    Select,
    SetOf,
    TlaLocal,
    Update,
    Use,
    Value,
    operation,
    plus,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from model_check.tla.expressions import Meaning, Point


class TurnsDependError(Exception):
    """A turn of the loop builds on what an earlier one did."""


def carry_out_loop(point: Point, loop: Loop, meaning: Meaning, within: OpenFunction) -> None:
    """Carry out a loop."""
    domain = Range(point.value(loop.low, meaning), point.value(loop.high, meaning))
    before, names_given, seen = dict(point.pending), point.gives_names, point.names.seen()
    point.gives_names = False
    try:
        changed = _all_turns_at_once(point, loop, domain, meaning, within)
    except (AliasUnknownError, TurnsDependError):
        changed = None
        point.names.forget_since(seen)
    point.gives_names, point.pending = names_given, before
    if changed is None:
        if not names_given:
            raise TurnsDependError
        _variables_turn_by_turn(point, loop, domain, meaning, within)
    else:
        point.pending.update(changed)


# --- each turn for itself ---------------------------------------------------------------------------------------------


def _all_turns_at_once(
    point: Point, loop: Loop, domain: Range, meaning: Meaning, within: OpenFunction
) -> dict[str, Pending]:
    before, evaluated = dict(point.pending), set(point.evaluated)
    place = TlaLocal(point.names.enter(loop.variable))
    for length in _lengths_of(domain):
        point.evaluated.add((length, place))
    try:
        point.carry_out(loop.body, {**meaning, loop.variable: place}, within, is_always_run=False)
    finally:
        point.names.leave()
        point.evaluated = evaluated
    after = {name: pending for name, pending in point.pending.items() if pending != before[name]}
    writes = {name: _written(before[name], pending) for name, pending in after.items()}
    bases = {before[name].base: updates for name, updates in writes.items()}
    for name, updates in writes.items():
        for update in updates:
            growth = _growth(update, before[name], place)
            _check_that_turns_keep_apart(point, update.value if growth is None else growth, writes, bases, place)
    return {name: _of_all_turns(point, name, before[name], writes[name], place, domain) for name in writes}


def _lengths_of(domain: Range) -> list[str]:
    """The constants that are the length of an array whose places are the range."""
    high = domain.high
    return [high.name] if domain.low == OpenNumber(0) and isinstance(high, Constant) else []


def _written(before: Pending, after: Pending) -> tuple[Update, ...]:
    if after.base != before.base or after.updates[: len(before.updates)] != before.updates:
        raise TurnsDependError
    return after.updates[len(before.updates) :]


def _check_that_turns_keep_apart(
    point: Point,
    value: Value,
    writes: dict[str, tuple[Update, ...]],
    bases: dict[Value, tuple[Update, ...]],
    place: TlaLocal,
) -> None:
    """No value may rest on a part that another turn writes."""
    looked_at = list(parts(value))
    for part in looked_at:
        match part:
            case Use(function=function) if any(path[0] in writes for path in point.uses.reads(function)):
                raise TurnsDependError
            case Select(base=base, accessors=accessors) if base in bases:
                for other in bases[base]:
                    if _fields(other.accessors) == _fields(accessors) and not _has(place, accessors, other.accessors):
                        raise TurnsDependError
    for base in bases:
        if looked_at.count(base) > sum(isinstance(part, Select) and part.base == base for part in looked_at):
            raise TurnsDependError  # the variable is looked at as a whole


def _has(place: TlaLocal, *accessors: Accessors) -> bool:
    return all(Index(place) in each for each in accessors)


def _fields(accessors: Accessors) -> list[str]:
    return [a for a in accessors if isinstance(a, str)]


def _growth(update: Update, before: Pending, place: TlaLocal) -> Value | None:
    """The condition under which a turn adds its own place to a set that all turns share; None where it has its own."""
    if Index(place) in update.accessors:
        return None
    shared = Select(before.base, update.accessors)
    if any(part == place for a in update.accessors if isinstance(a, Index) for part in parts(a.place)):
        raise TurnsDependError
    match update.value:
        case Operation("union", (Select() as old, Operation("only", (member,)))):
            if member == place and _is_same_part(old, shared):
                return Truth(value=True)
        case Operation("if", (test, Operation("union", (Select() as old, Operation("only", (member,)))), unchanged)):
            if member == place and _is_same_part(old, shared) and _is_same_part(unchanged, shared):
                return test
    raise TurnsDependError


def _is_same_part(value: Value, part: Select) -> bool:
    return isinstance(value, Select) and value.base == part.base and value.accessors == part.accessors


def _of_all_turns(
    point: Point, name: str, before: Pending, updates: tuple[Update, ...], place: TlaLocal, domain: Range
) -> Pending:
    cells: dict[Accessors, list[Update]] = {}
    result = before
    for update in updates:
        growth = _growth(update, before, place)
        if growth is None:
            cells.setdefault(update.accessors[: update.accessors.index(Index(place))], []).append(update)
            continue
        old = before.part(update.accessors, None, point.places)
        grown = operation("union", old, SetOf(place.name, domain, growth))
        result = result.written(update.accessors, grown, point.places)
    for array, own in cells.items():
        if point.length_of((name, *_fields(array))) not in _lengths_of(domain):
            raise TurnsDependError  # some places are left as they are
        value = Mapping(place.name, domain, _cell(before.part(array, None, point.places), array, own, place))
        if array:
            result = result.written(array, value, point.places)
        elif before.updates or len(own) < len(updates):
            raise TurnsDependError
        else:
            return Pending(value)
    return result


def _cell(whole: Value, array: Accessors, own: list[Update], place: TlaLocal) -> Value:
    inner = tuple(Update(u.accessors[len(array) + 1 :], u.value) for u in own)
    if inner[-1].accessors == ():
        return inner[-1].value
    if isinstance(whole, Mapping) and whole.variable == place.name:  # what a loop before this one made of the array
        return Except(whole.body, inner)
    return Except(Select(whole, (Index(place),)), inner)


# --- turn by turn -----------------------------------------------------------------------------------------------------


def _variables_turn_by_turn(point: Point, loop: Loop, domain: Range, meaning: Meaning, within: OpenFunction) -> None:
    reads, writes = point.uses.of(loop.body)
    changed = [name for name in point.pending if any(path[0] == name for path in writes)]
    for name in point.pending:
        if name not in changed and point.pending[name].updates and any(path[0] == name for path in reads):
            point.name_variable(name)

    def together() -> Value:
        return _together({name: point.pending[name].whole for name in changed})

    def stand_on(value: Value) -> None:
        for name in changed:
            point.pending[name] = Pending(_one_of(changed, name, value))

    pending = dict(point.pending)
    last = turn_by_turn(point, loop, domain, meaning, within, together, stand_on)
    point.pending = pending
    stand_on(last)


def turn_by_turn(
    point: Point,
    loop: Loop,
    domain: Range,
    meaning: Meaning,
    within: OpenFunction,
    together: Callable[[], Value],
    stand_on: Callable[[Value], None],
) -> Value:
    """A recursive function of the loop's variable: what changes, after that turn. Gives what it is after the last."""
    start = together()
    variable = point.names.give(loop.variable)
    after = point.names.give(f"after_{loop.variable}")
    previous = point.names.give(f"before_{loop.variable}")
    outer, evaluated = point.bindings, set(point.evaluated)
    point.bindings = [*outer, Binding(previous, Select(TlaLocal(after), (Index(plus(TlaLocal(variable), -1)),)))]
    stand_on(TlaLocal(previous))
    for length in _lengths_of(domain):
        point.evaluated.add((length, TlaLocal(variable)))
    point.carry_out(loop.body, {**meaning, loop.variable: TlaLocal(variable)}, within, is_always_run=False)
    turn = LetIn(tuple(point.bindings[len(outer) :]), together())
    first = operation("==", TlaLocal(variable), plus(domain.low, -1))
    body = operation("if", first, start, turn)
    point.bindings = [*outer, Binding(after, body, variable, Range(plus(domain.low, -1), domain.high))]
    point.evaluated = evaluated
    return Select(TlaLocal(after), (Index(plus(domain.high, -1)),))


def _together(variables: dict[str, Value]) -> Value:
    if len(variables) == 1:
        return next(iter(variables.values()))
    return RecordOf(tuple(variables.items()))


def _one_of(changed: list[str], name: str, together: Value) -> Value:
    if len(changed) == 1:
        return together
    match together:
        case Select(base=base, accessors=accessors):
            return Select(base, (*accessors, name))
    return Select(together, (name,))
