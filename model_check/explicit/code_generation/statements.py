"""From statements to LLVM instructions: the effect of an action on the packed words.

A write whose value cannot be shown to be in the field's declared range is checked; a value out of range leaves the
function by its block `out_of_range`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.explicit.code_generation.expressions import Function, place_of, signed
from model_check.explicit.code_generation.instructions import UNLIKELY
from model_check.explicit.code_generation.removal import emit_removal
from model_check.front_end.terms import Expression, If, Int, Let, Remove, Statement, Tick, Write

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from model_check.explicit.code_generation.packing import PackedPlace, Path

OUT_OF_RANGE = "out_of_range"


def emit_statements(f: Function, statements: Iterable[Statement]) -> None:
    """Write statements into a function, one after the other."""
    for statement in statements:
        emit_statement(f, statement)


def emit_statement(f: Function, statement: Statement) -> None:
    """Write a statement into a function."""
    match statement:
        case Let(name, value):
            f.ranges[name] = f.range(value)
            f.names[name] = f.number(value)
        case If():
            (_emit_select if f.lanes else _emit_branch)(f, statement)
        case Tick(is_back=False):
            emit_tick(f)
        case Tick():
            emit_tick_back(f)
        case Write(path, index, value):
            _emit_write(f, path, index, value)
        case Remove(array, place):
            emit_removal(f, array, place)


def _emit_branch(f: Function, statement: If) -> None:
    """Of one state: do one block of statements."""
    code = f.code
    condition, before = f.truth(statement.test), f.all_words()
    yes, no, after = code.label(), code.label(), code.label()
    code.branch(condition, yes, no)
    ends = []
    for label, block in ((yes, statement.then), (no, statement.otherwise)):
        code.start(label)
        f.words = before
        with code.conditional():
            emit_statements(f, block)
        ends.append((f.words, code.block))
        code.jump(after)
    code.start(after)
    (left, left_end), (right, right_end) = ends
    f.words = [
        a if a == b else code.phi("i64", ((str(a), left_end), (str(b), right_end)))
        for a, b in zip(left, right, strict=True)
    ]


def _emit_select(f: Function, statement: If) -> None:
    """Of several states: do both blocks, and select the words of one in each lane."""
    before, reached = f.all_words(), f.reached
    condition = f.truth(statement.test)
    opposite = f.logic("xor", condition, f.truth_constant(True))
    ends: list[list[str]] = []
    for is_taken, block in ((condition, statement.then), (opposite, statement.otherwise)):
        f.words, f.reached = before, f.logic("and", reached, is_taken)
        emit_statements(f, block)
        ends.append(f.all_words())
    f.reached = reached
    f.words = [a if a == b else f.select(condition, a, b) for a, b in zip(*ends, strict=True)]


# --- writes -----------------------------------------------------------------------------------------------------------


def _emit_write(f: Function, path: Path, index: Expression | None, value: Expression) -> None:
    places = f.packing.places[path]
    if not places:
        _leave_if(f, f.truth_constant(True))
        return
    if index is not None:
        _check_index(f, places, index)
    distance = _distance(f, path, places[0], value)
    if index is None or isinstance(index, Int):
        _store(f, places[0] if index is None else place_of(places, index), index, distance)
    elif len(places) == 1:
        _store(f, places[0], index, distance)
    else:
        _scatter(f, places, index, distance)


def _check_index(f: Function, places: tuple[PackedPlace, ...], index: Expression) -> None:
    """A write beside the array would change its neighbours."""
    length = places[-1].first + places[-1].length
    least, most = f.range(index)
    if least < 0 or most >= length:
        _leave_if(f, f.operation("icmp uge", f.number(index), length))


def _distance(f: Function, path: Path, place: PackedPlace, value: Expression) -> str:
    """The distance of the value from the low end of the field's range."""
    low, high = place.low, place.high
    least, most = f.range(value)
    stored = f.number(value)
    if f.module.is_instant(path):
        slack = f.slack(path)
        if least < low + (slack is not None):
            floor = f.constant(low)
            if slack is not None:
                floor = f.code.at_entry(f.selection(slack, floor, f.constant(low + 1)))
            stored = f.select(f.operation("icmp sgt", stored, floor), stored, floor)
            least = max(least, low)
            most = max(most, low + (slack is not None))
    distance = f.operation("sub", stored, low) if low else stored
    if isinstance(value, Int) and stored == f.constant(value.value):
        distance = f.constant(value.value - low)
    if least < low or most > high:
        _leave_if(f, f.operation("icmp ugt", distance, high - low))
    return distance


def _store(f: Function, place: PackedPlace, index: Expression | None, distance: str) -> None:
    if place.width:
        f.set_word(place.word, _stored(f, place, index, distance))


def _stored(f: Function, place: PackedPlace, index: Expression | None, distance: str) -> str:
    """The word of a place with the distance stored there."""
    mask, word, shift = (1 << place.width) - 1, f.word(place.word), f.shift(place, index)
    if isinstance(shift, int):
        others = f.operation("and", word, ~(mask << shift))
        if distance.isdigit():
            return f.operation("or", others, int(distance) << shift)
    else:
        hole = f.operation("shl", f.constant(mask), shift)
        others = f.operation("and", word, f.operation("xor", hole, -1))
    return f.operation("or", others, f.operation("shl", distance, shift))


def _scatter(f: Function, places: tuple[PackedPlace, ...], index: Expression, distance: str) -> None:
    """Store in the one of several words in which the index lies."""
    at = f.number(index)
    for place in places:
        if place.width:
            is_here = f.operation("icmp ult", f.operation("sub", at, place.first), place.length)
            stored = _stored(f, place, index, distance)
            f.set_word(place.word, f.select(is_here, stored, f.word(place.word)))


def _leave_if(f: Function, condition: str) -> None:
    """Leave the function where a condition is true; of several states, where it is in a lane that is reached."""
    label = f.code.label()
    if f.lanes:
        reached = f.logic("and", condition, f.reached)
        mask = f.code.value(f"bitcast {f.truth_type} {reached} to i{f.lanes}")
        condition = f.code.value(f"icmp ne i{f.lanes} {mask}, 0")
    f.code.branch(condition, OUT_OF_RANGE, label, UNLIKELY)
    f.code.start(label)


# --- the clock --------------------------------------------------------------------------------------------------------


def emit_tick(f: Function) -> None:
    """The clock stays where it is, and all instants become one older, down to their floor."""
    code = f.code
    for path, place, shift in _instants(f):
        word, slack = f.word(place.word), f.slack(path)
        mask, unit = signed(((1 << place.width) - 1) << shift), signed(1 << shift)
        floor = "0" if slack is None else code.at_entry(f"select i1 {slack}, i64 0, i64 {unit}")
        is_above = f.operation("icmp ne", f.operation("and", word, mask), floor)
        older = code.value(f"sub i64 {word}, {unit}")
        f.set_word(place.word, code.value(f"select i1 {is_above}, i64 {older}, i64 {word}"))


def emit_tick_back(f: Function) -> None:
    """The clock stays where it is, and all instants become one younger; the youngest would leave its range."""
    code = f.code
    for _, place, shift in _instants(f):
        word, most = f.word(place.word), place.high - place.low
        mask = signed(((1 << place.width) - 1) << shift)
        stored = code.value(f"and i64 {word}, {mask}")
        _leave_if(f, code.value(f"icmp eq i64 {stored}, {signed(most << shift)}"))
        f.set_word(place.word, code.value(f"add i64 {word}, {signed(1 << shift)}"))


def _instants(f: Function) -> Iterator[tuple[Path, PackedPlace, int]]:
    """Each instant: its path, its place, and its lowest bit."""
    for path, places in f.packing.places.items():
        if places and f.module.is_instant(path):
            for place in places:
                for i in range(place.length):
                    yield path, place, place.shift + place.width * i
