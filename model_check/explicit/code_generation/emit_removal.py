"""From the removal of a record to LLVM instructions: what is behind it moves up, and what refers there follows.

All words of the state are looked at as one vector, an element a word. In each of them a shift and a mask move all that
has one width, and one subtraction tells of many numbers at once which are larger than the place that goes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from model_check.explicit.code_generation.emit_expressions import ExpressionWriter, signed
from model_check.explicit.code_generation.packing import WORD_BITS
from spec.language import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
    """A number that says a place: where it lies, and how far the removed place is from the low end of its range."""

    word: int
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
        self._vector: tuple[str, list[str]] = ("", [])

    def _remove(self, array: str, removed: int) -> None:
        """Take a place out of the arrays of a length; see `spec.language.remove`."""
        state = self._as_vector()
        at_first: dict[int, _Shifts] = {}
        afterwards: dict[int, _Shifts] = {}  # sets that are in an array of that length themselves
        references: list[_Reference] = []
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
                references += [
                    _Reference(place.word, shift, place.width, removed - place.low, slot.is_position)
                    for place, shift in _elements(places)
                ]
        for moving in filter(None, (at_first, afterwards)):
            state = self._shifted_down(state, moving)
        changes = [self._followed(state, apart) for apart in _apart(references)]
        for less, _ in changes:
            state = self._on_words("sub", state, less)
        for gone in (gone for _, gone in changes if gone is not None):
            state = self._on_words("and", state, self._on_words("xor", gone, "splat (i64 -1)"))
        self._take_words_from(state)

    # --- the state as a vector ----------------------------------------------------------------------------------------

    def _as_vector(self) -> str:
        """The words of the state in one vector."""
        words = [self._word(i) for i in range(self.packing.words)]
        if self._vector[1] != words:
            vector = "poison"
            for i, word in enumerate(words):
                vector = self.code.value(f"insertelement {self._kind} {vector}, i64 {word}, i64 {i}")
            self._vector = vector, words
        return self._vector[0]

    def _take_words_from(self, vector: str) -> None:
        """The words of the state are those of a vector."""
        self.words = [
            self.code.value(f"extractelement {self._kind} {vector}, i64 {i}") for i in range(self.packing.words)
        ]
        self._vector = vector, [str(word) for word in self.words]

    @property
    def _kind(self) -> str:
        return f"<{self.packing.words} x i64>"

    def _of_words(self, numbers: Mapping[int, int]) -> str:
        """A vector of constants, zero in the words that are not named."""
        return f"<{', '.join(f'i64 {signed(numbers.get(i, 0))}' for i in range(self.packing.words))}>"

    def _on_words(self, operation: str, vector: str, other: str) -> str:
        return self.code.value(f"{operation} {self._kind} {vector}, {other}")

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

    def _shifted_down(self, vector: str, shifts: Mapping[int, _Shifts]) -> str:
        kept = {word: ~of_word.cleared for word, of_word in shifts.items()}
        value = self._on_words("and", vector, self._of_words({i: kept.get(i, -1) for i in range(self.packing.words)}))
        for turn in range(max(len(of_word.masks) for of_word in shifts.values())):
            now = {word: list(s.masks.items())[turn] for word, s in shifts.items() if turn < len(s.masks)}
            moved = self._on_words("lshr", vector, self._of_words({word: by for word, (by, _) in now.items()}))
            moved = self._on_words("and", moved, self._of_words({word: mask for word, (_, mask) in now.items()}))
            value = self._on_words("or", value, moved)
        for word, of_word in shifts.items():
            for last, top in of_word.above:
                above = self.code.value(f"shl i64 {last}, {top}")
                alone = self.code.value(f"insertelement {self._kind} zeroinitializer, i64 {above}, i64 {word}")
                value = self._on_words("or", value, alone)
        for slack in {condition: None for of_word in shifts.values() for condition in of_word.floors}:
            bits = self._of_words({word: of_word.floors.get(slack, 0) for word, of_word in shifts.items()})
            select = f"select i1 {slack}, {self._kind} zeroinitializer, {self._kind} {bits}"
            value = self._on_words("or", value, self.code.at_entry(select))
        return value

    # --- what refers there --------------------------------------------------------------------------------------------

    def _followed(self, vector: str, references: Sequence[_Reference]) -> tuple[str, str | None]:
        """What is to be subtracted from the words, and the bits that are to be zero then.

        What refers to a place behind the removed one is one less, what refers to that one is nothing any more. The bit
        above each of the references is free to tell whether a difference is negative.
        """
        down = int(references[0].end == WORD_BITS)

        def together(numbers: Iterable[tuple[_Reference, int]]) -> str:
            of_words: dict[int, int] = {}
            for one, number in numbers:
                of_words[one.word] = of_words.get(one.word, 0) + (number << one.shift - down)
            return self._of_words(of_words)

        def not_less(than: int) -> str:
            least = self._on_words("sub", large, together((one, one.removed + than) for one in references))
            return self._on_words("and", least, free)

        def at_low_ends(bits: str) -> str:
            moved = "zeroinitializer"
            for width in sorted({one.width for one in references}):
                some = self._on_words("and", bits, together((o, 1 << width) for o in references if o.width == width))
                some = self._on_words("lshr", some, f"splat (i64 {width})")
                moved = self._on_words("or", moved, some)
            return moved

        def back(bits: str) -> str:
            return self._on_words("shl", bits, "splat (i64 1)") if down else bits

        shifted = self._on_words("lshr", vector, "splat (i64 1)") if down else vector
        free = together((one, 1 << one.width) for one in references)
        digits = together((one, (1 << one.width) - 1) for one in references)
        large = self._on_words("or", self._on_words("and", shifted, digits), free)
        behind = not_less(1)
        less = back(at_low_ends(behind))
        may_be_gone = [(one, 1 << one.width) for one in references if not one.is_position]
        if not may_be_gone:
            return less, None
        at_it = self._on_words("and", self._on_words("xor", not_less(0), behind), together(may_be_gone))
        return less, back(self._on_words("sub", at_it, at_low_ends(at_it)))

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


def _apart(references: Sequence[_Reference]) -> list[list[_Reference]]:
    """The references in groups, in which none lies directly above another; those that end at a word's end alone."""
    groups: list[list[_Reference]] = []
    for one in sorted(references, key=lambda one: (one.end == WORD_BITS, one)):
        is_last = one.end == WORD_BITS
        for group in groups:
            other = group[-1]
            if is_last == (other.end == WORD_BITS) and (other.word != one.word or other.end < one.shift):
                group.append(one)
                break
        else:
            groups.append([one])
    return groups
