"""From the removal of a record to LLVM instructions: later records move up, and references to them follow.

In a word, a shift and a mask move all fields of one width, and one subtraction compares many references at once with
the removed index.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from model_check.explicit.code_generation.packing import WORD_BITS, PackedPlace, Path
from spec.language import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from model_check.explicit.code_generation.expressions import Function


@dataclass
class _Shifts:
    """The shifts down within a word."""

    masks: dict[int, int] = field(default_factory=dict)  # distance → bits that are filled
    cleared: int = 0  # bits that take part
    above: list[tuple[str, int]] = field(default_factory=list)  # elements of another word, and their lowest bits here
    floors: dict[str, int] = field(default_factory=dict)  # condition → bits that are set where it is false

    def add(self, by: int, low: int, top: int) -> None:
        """Fill the bits from `low` to below `top` with those that lie `by` above them."""
        self.masks[by] = self.masks.get(by, 0) | (1 << top) - (1 << low)
        self.cleared |= (1 << top + by) - (1 << low)


class _Reference(NamedTuple):
    """A field that holds an index: its lowest bit, its width, and the removed index as it would be stored there."""

    shift: int
    width: int
    removed: int
    is_position: bool

    @property
    def end(self) -> int:
        """The bit above it."""
        return self.shift + self.width


def emit_removal(f: Function, array: str, removed: int) -> None:
    """Take an index out of the arrays of a length; see `spec.language.remove`."""
    at_first: dict[int, _Shifts] = {}
    afterwards: dict[int, _Shifts] = {}  # sets that are in an array of that length themselves
    references: dict[int, list[_Reference]] = {}
    for path, places in f.packing.places.items():
        slot = f.module.slots.get(path)
        if slot is None or not places or not places[0].width:
            continue
        if slot.array == array:
            _move_up(f, path, places, removed, at_first)
        if slot.places == array and slot.kind is Kind.BITS:
            for place, shift in _elements(places):
                shifts = (afterwards if slot.array == array else at_first).setdefault(place.word, _Shifts())
                shifts.add(1, shift + removed, shift + place.width - 1)
        elif slot.places == array:
            for place, shift in _elements(places):
                reference = _Reference(shift, place.width, removed - place.low, slot.is_position)
                references.setdefault(place.word, []).append(reference)
    for moving in (at_first, afterwards):
        for word, shifts in moving.items():
            f.set_word(word, _shifted(f, f.word(word), shifts))
    for word, its_references in references.items():
        f.set_word(word, _with_references(f, f.word(word), its_references))


# --- moving up --------------------------------------------------------------------------------------------------------


def _move_up(f: Function, path: Path, places: Sequence[PackedPlace], removed: int, shifts: dict[int, _Shifts]) -> None:
    """Plan the shifts of the elements behind the removed one; the last one gets its initial value."""
    slack = f.slack(path) if f.module.is_instant(path) else None
    behind = [*(_element(f, place, place.first) for place in places[1:]), None]
    for place, successor in zip(places, behind, strict=True):
        begin = max(removed - place.first, 0)
        if begin < place.length:
            top = place.shift + place.width * (place.length - 1)
            of_word = shifts.setdefault(place.word, _Shifts())
            of_word.add(place.width, place.shift + place.width * begin, top)
            if successor is not None:
                of_word.above.append((successor, top))
            elif slack is not None:
                of_word.floors[slack] = of_word.floors.get(slack, 0) | 1 << top


def _element(f: Function, place: PackedPlace, i: int) -> str:
    """The stored bits of element i of the array."""
    shifted = f.operation("lshr", f.word(place.word), place.shift + place.width * (i - place.first))
    return f.operation("and", shifted, (1 << place.width) - 1)


def _shifted(f: Function, word: str, shifts: _Shifts) -> str:
    value = f.operation("and", word, ~shifts.cleared)
    for by, mask in shifts.masks.items():
        value = f.operation("or", value, f.operation("and", f.operation("lshr", word, by), mask))
    for element, top in shifts.above:
        value = f.operation("or", value, f.operation("shl", element, top))
    for slack, bits in shifts.floors.items():
        floor = f.code.at_entry(f.selection(slack, f.constant(0), f.constant(bits)))
        value = f.operation("or", value, floor)
    return value


# --- references -------------------------------------------------------------------------------------------------------


def _with_references(f: Function, word: str, references: Sequence[_Reference]) -> str:
    """The word with its references corrected."""
    corrections = [_correction(f, word, group) for group in _groups(references)]
    for decrements, _ in corrections:
        word = f.operation("sub", word, decrements)
    for cleared in (cleared for _, cleared in corrections if cleared is not None):
        word = f.operation("and", word, f.operation("xor", cleared, -1))
    return word


def _correction(f: Function, word: str, references: Sequence[_Reference]) -> tuple[str, str | None]:
    """The number to subtract from the word, and the bits to clear afterwards.

    A reference behind the removed index is decremented, one to it is cleared. The bit above each of the references is
    free to show whether a difference is negative.
    """
    down = int(references[0].end == WORD_BITS)

    def packed(numbers: Iterable[tuple[_Reference, int]]) -> int:
        return sum(number << reference.shift - down for reference, number in numbers)

    def is_at_least(distance: int) -> str:
        least = packed((reference, reference.removed + distance) for reference in references)
        return f.operation("and", f.operation("sub", large, least), free)

    def at_low_ends(bits: str) -> str:
        moved = ""
        for width in sorted({reference.width for reference in references}):
            mask = packed((reference, 1 << width) for reference in references if reference.width == width)
            part = f.operation("lshr", f.operation("and", bits, mask), width)
            moved = f.operation("or", moved, part) if moved else part
        return moved

    def back(bits: str) -> str:
        return f.operation("shl", bits, 1) if down else bits

    shifted = f.operation("lshr", word, 1) if down else word
    free = packed((reference, 1 << reference.width) for reference in references)
    digits = packed((reference, (1 << reference.width) - 1) for reference in references)
    large = f.operation("or", f.operation("and", shifted, digits), free)
    behind = is_at_least(1)
    decrements = back(at_low_ends(behind))
    clearable = [(reference, 1 << reference.width) for reference in references if not reference.is_position]
    if not clearable:
        return decrements, None
    at_it = f.operation("and", f.operation("xor", is_at_least(0), behind), packed(clearable))
    return decrements, back(f.operation("sub", at_it, at_low_ends(at_it)))


def _elements(places: Sequence[PackedPlace]) -> Iterable[tuple[PackedPlace, int]]:
    """The elements of an array: the part in which each lies, and its lowest bit there."""
    return ((place, place.shift + place.width * i) for place in places for i in range(place.length))


def _groups(references: Sequence[_Reference]) -> list[list[_Reference]]:
    """The references of a word in groups, in which none lies directly above another; the one at its end alone."""
    groups: list[list[_Reference]] = []
    for reference in sorted(references):
        for group in groups:
            if group[-1].end < reference.shift and reference.end < WORD_BITS:
                group.append(reference)
                break
        else:
            groups.append([reference])
    return groups
