"""From the removal of a record to LLVM instructions: what is behind it moves up, and what refers there follows.

All that lies in a word is moved together: a shift and a mask for each width, and for all numbers one subtraction that
tells which of them are larger than the place that goes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from model_check.explicit.code_generation.emit_expressions import ExpressionWriter, signed
from model_check.explicit.code_generation.packing import WORD_BITS
from spec.language import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from model_check.explicit.code_generation.packing import Packing, Path, Place


@dataclass
class _Shifts:
    """What comes down in a word: by how far it does to the masks of where it then lies, and what lies above it then."""

    masks: dict[int, int] = field(default_factory=dict)
    cleared: int = 0
    above: list[tuple[str, int]] = field(default_factory=list)

    def add(self, by: int, low: int, top: int) -> None:
        """The bits from `low` to below `top` are to be those that lie `by` above them."""
        self.masks[by] = self.masks.get(by, 0) | (1 << top) - (1 << low)
        self.cleared |= (1 << top + by) - (1 << low)


class _Reference(NamedTuple):
    """A number in a word that says a place: as the distance from the low end of its range, as is the removed place."""

    shift: int
    width: int
    removed: int
    is_position: bool


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
        afterwards: dict[int, _Shifts] = {}  # members that are in an array of that length themselves
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
        for word, shifts in (*at_first.items(), *afterwards.items()):
            self._shift_down(word, shifts)
        for word, found in references.items():
            found.sort()
            top = [one for one in found if one.shift + one.width == WORD_BITS]
            rest = found[: len(found) - len(top)]
            for apart in filter(None, (rest[::2], rest[1::2], top)):
                self._follow(word, apart)

    def _move_up(self, path: Path, places: Sequence[Place], removed: int, shifts: dict[int, _Shifts]) -> None:
        """The elements of an array behind the removed one; the last one becomes what it was in the beginning."""
        behind = [*(self._element(place, place.first) for place in places[1:]), self._lowest(path)]
        for place, last in zip(places, behind, strict=True):
            begin = max(removed - place.first, 0)
            if begin < place.length:
                top = place.shift + place.width * (place.length - 1)
                of_word = shifts.setdefault(place.word, _Shifts())
                of_word.add(place.width, place.shift + place.width * begin, top)
                of_word.above.append((last, top))

    def _shift_down(self, number: int, shifts: _Shifts) -> None:
        word = self._word(number)
        value = self._operation("and", word, signed(~shifts.cleared))
        for by, mask in shifts.masks.items():
            moved = self._operation("and", self._operation("lshr", word, by), signed(mask))
            value = self._operation("or", value, moved)
        for above, shift in shifts.above:
            value = self._operation("or", value, self._operation("shl", above, shift))
        self.words[number] = value

    def _follow(self, number: int, references: Sequence[_Reference]) -> None:
        """What refers to a place behind the removed one is one less, what refers to that one is nothing any more.

        No two of the references are neighbours: the bit above each is free to tell whether a difference is negative.
        """
        down = int(references[-1].shift + references[-1].width == WORD_BITS)
        word = self._word(number)
        free = [1 << one.shift + one.width - down for one in references]
        digits = sum(((1 << one.width) - 1) << one.shift - down for one in references)
        shifted = self._operation("lshr", word, down) if down else word
        large = self._operation("or", self._operation("and", shifted, signed(digits)), signed(sum(free)))

        def not_less(than: int) -> str:
            others = sum(one.removed + than << one.shift - down for one in references)
            return self._operation("and", self._operation("sub", large, signed(others)), signed(sum(free)))

        behind = not_less(1)
        less = self._at_low_ends(behind, references, down)
        value = self._operation("sub", word, self._operation("shl", less, down))
        may_be_gone = [bit for one, bit in zip(references, free, strict=True) if not one.is_position]
        if may_be_gone:
            at_it = self._operation("and", self._operation("xor", not_less(0), behind), signed(sum(may_be_gone)))
            gone = self._operation("sub", at_it, self._at_low_ends(at_it, references, down))
            kept = self._operation("xor", self._operation("shl", gone, down), -1)
            value = self._operation("and", value, kept)
        self.words[number] = value

    def _at_low_ends(self, bits: str, references: Sequence[_Reference], down: int) -> str:
        """Bits above references moved to the lowest bit of each."""
        moved = "0"
        for width in sorted({one.width for one in references}):
            mask = sum(1 << one.shift + width - down for one in references if one.width == width)
            some = self._operation("lshr", self._operation("and", bits, signed(mask)), width)
            moved = some if moved == "0" else self._operation("or", moved, some)
        return moved

    def _element(self, place: Place, i: int) -> str:
        """What is stored of element i of the array."""
        shifted = self._operation("lshr", self._word(place.word), place.shift + place.width * (i - place.first))
        return self._operation("and", shifted, (1 << place.width) - 1)

    def _lowest(self, path: Path) -> str:
        """What is stored of a field that holds what it held in the beginning."""
        slack = self._slack(path) if self._is_instant(path) else None
        return "0" if slack is None else self.code.at_entry(f"select i1 {slack}, i64 0, i64 1")

    def _is_instant(self, path: tuple[str, ...]) -> bool:
        return self._slots[path].kind is Kind.INSTANT

    def _slack(self, path: tuple[str, ...]) -> str | None:
        """The condition under which the floor of an instant is the low end of its range, where there is one."""
        slack = self._slots[path].slack
        if slack is None:
            return None
        if slack in self.switches:
            return self._switch(slack)
        return "true" if getattr(self.constants, slack) else "false"


def _elements(places: Sequence[Place]) -> Iterable[tuple[Place, int]]:
    """The elements of an array: the part in which each lies, and its lowest bit there."""
    return ((place, place.shift + place.width * i) for place in places for i in range(place.length))
