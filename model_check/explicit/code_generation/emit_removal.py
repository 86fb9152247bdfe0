"""From the removal of a record to LLVM instructions: what is behind it moves up, and what refers there follows.

In a word, a shift and a mask move all that has one width, and one subtraction tells of many numbers at once which are
larger than the place that goes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from model_check.explicit.code_generation.emit_expressions import ExpressionWriter
from model_check.explicit.code_generation.packing import WORD_BITS
from spec.language import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from model_check.explicit.code_generation.packing import Packing, Path, Place


@dataclass
class _Shifts:
    """What comes down in a word: by how far it does to the masks of where it then lies, and what lies above it then.

    That is an element of another word, or the bits that are set where a condition is false.
    """

    masks: dict[int, int] = field(default_factory=dict)
    cleared: int = 0
    above: list[tuple[str, int]] = field(default_factory=list)
    floors: dict[str, int] = field(default_factory=dict)

    def add(self, by: int, low: int, top: int) -> None:
        """The bits from `low` to below `top` are to be those that lie `by` above them."""
        self.masks[by] = self.masks.get(by, 0) | (1 << top) - (1 << low)
        self.cleared |= (1 << top + by) - (1 << low)


class _Reference(NamedTuple):
    """A number that says a place: where it lies in its word, and how far the removed place is from its low end."""

    shift: int
    width: int
    removed: int
    is_position: bool

    @property
    def end(self) -> int:
        """The bit above it."""
        return self.shift + self.width


class RemovalWriter(ExpressionWriter):
    """Writes removals into the function that is being written.

    Parameters
    ----------
    packing : Packing
    switches : tuple of str
        As for `ExpressionWriter`.
    constants : object
        The instance.
    """

    def __init__(self, packing: Packing, switches: tuple[str, ...], constants: object) -> None:
        super().__init__(packing, switches)
        self.constants = constants
        self._slots = {slot.path: slot for slot in packing.slots}

    def _remove(self, array: str, removed: int) -> None:
        """Take a place out of the arrays of a length; see `spec.language.remove`."""
        at_first: dict[int, _Shifts] = {}
        afterwards: dict[int, _Shifts] = {}  # sets that are in an array of that length themselves
        references: dict[int, list[_Reference]] = {}
        for path, places in self.packing.places.items():
            slot = self._slots.get(path)
            if slot is None or not places or not places[0].width:
                continue
            if slot.array == array:
                self._move_up(path, places, removed, at_first)
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
                self.words[word] = self._shifted_down(self._word(word), shifts)
        for word, those in references.items():
            self.words[word] = self._followed(self._word(word), those)

    # --- what moves ---------------------------------------------------------------------------------------------------

    def _move_up(self, path: Path, places: Sequence[Place], removed: int, shifts: dict[int, _Shifts]) -> None:
        """The elements of an array behind the removed one; the last one becomes what it was in the beginning."""
        slack = self._slack(path) if self._is_instant(path) else None
        behind = [*(self._element(place, place.first) for place in places[1:]), None]
        for place, last in zip(places, behind, strict=True):
            begin = max(removed - place.first, 0)
            if begin < place.length:
                top = place.shift + place.width * (place.length - 1)
                of_word = shifts.setdefault(place.word, _Shifts())
                of_word.add(place.width, place.shift + place.width * begin, top)
                if last is not None:
                    of_word.above.append((last, top))
                elif slack is not None:
                    of_word.floors[slack] = of_word.floors.get(slack, 0) | 1 << top

    def _element(self, place: Place, i: int) -> str:
        """What is stored of element i of the array."""
        shifted = self._operation("lshr", self._word(place.word), place.shift + place.width * (i - place.first))
        return self._operation("and", shifted, (1 << place.width) - 1)

    def _shifted_down(self, word: str, shifts: _Shifts) -> str:
        value = self._operation("and", word, ~shifts.cleared)
        for by, mask in shifts.masks.items():
            value = self._operation("or", value, self._operation("and", self._operation("lshr", word, by), mask))
        for last, top in shifts.above:
            value = self._operation("or", value, self._operation("shl", last, top))
        for slack, bits in shifts.floors.items():
            floor = self.code.at_entry(self._selecting(slack, self._constant(0), self._constant(bits)))
            value = self._operation("or", value, floor)
        return value

    # --- what refers there --------------------------------------------------------------------------------------------

    def _followed(self, word: str, references: Sequence[_Reference]) -> str:
        """The word with its references as they are to be."""
        changes = [self._change(word, apart) for apart in _apart(references)]
        for less, _ in changes:
            word = self._operation("sub", word, less)
        for gone in (gone for _, gone in changes if gone is not None):
            word = self._operation("and", word, self._operation("xor", gone, -1))
        return word

    def _change(self, word: str, references: Sequence[_Reference]) -> tuple[str, str | None]:
        """What is to be subtracted from the word, and the bits that are to be zero then.

        What refers to a place behind the removed one is one less, what refers to that one is nothing any more. The bit
        above each of the references is free to tell whether a difference is negative.
        """
        down = int(references[0].end == WORD_BITS)

        def together(numbers: Iterable[tuple[_Reference, int]]) -> int:
            return sum(number << one.shift - down for one, number in numbers)

        def not_less(than: int) -> str:
            least = self._operation("sub", large, together((one, one.removed + than) for one in references))
            return self._operation("and", least, free)

        def at_low_ends(bits: str) -> str:
            moved = ""
            for width in sorted({one.width for one in references}):
                mask = together((one, 1 << width) for one in references if one.width == width)
                some = self._operation("lshr", self._operation("and", bits, mask), width)
                moved = self._operation("or", moved, some) if moved else some
            return moved

        def back(bits: str) -> str:
            return self._operation("shl", bits, 1) if down else bits

        shifted = self._operation("lshr", word, 1) if down else word
        free = together((one, 1 << one.width) for one in references)
        digits = together((one, (1 << one.width) - 1) for one in references)
        large = self._operation("or", self._operation("and", shifted, digits), free)
        behind = not_less(1)
        less = back(at_low_ends(behind))
        may_be_gone = [(one, 1 << one.width) for one in references if not one.is_position]
        if not may_be_gone:
            return less, None
        at_it = self._operation("and", self._operation("xor", not_less(0), behind), together(may_be_gone))
        return less, back(self._operation("sub", at_it, at_low_ends(at_it)))

    def _is_instant(self, path: tuple[str, ...]) -> bool:
        return self._slots[path].kind is Kind.INSTANT

    def _slack(self, path: tuple[str, ...]) -> str | None:
        """The condition under which the floor of an instant is the low end of its range, where there is one."""
        slack = self._slots[path].slack
        if slack is None:
            return None
        if slack in self.switches:
            return self._switch(slack)
        return self._known_truth(bool(getattr(self.constants, slack)))


def _elements(places: Sequence[Place]) -> Iterable[tuple[Place, int]]:
    """The elements of an array: the part in which each lies, and its lowest bit there."""
    return ((place, place.shift + place.width * i) for place in places for i in range(place.length))


def _apart(references: Sequence[_Reference]) -> list[list[_Reference]]:
    """The references of a word in groups, in which none lies directly above another; the one at its end alone."""
    groups: list[list[_Reference]] = []
    for one in sorted(references):
        for group in groups:
            if group[-1].end < one.shift and one.end < WORD_BITS:
                group.append(one)
                break
        else:
            groups.append([one])
    return groups
