"""From statements to LLVM instructions: what an action writes into the packed words.

A write whose value cannot be shown to be in the field's declared range is checked; a value that is not leaves the
function by its block `out_of_range`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.explicit.code_generation.emit_expressions import ExpressionWriter, place_of, signed
from model_check.explicit.code_generation.instructions import UNLIKELY
from model_check.front_end.terms import Expression, If, Int, Let, Remove, Statement, Tick, Write
from spec.language import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from model_check.explicit.code_generation.packing import Packing, Place

OUT_OF_RANGE = "out_of_range"


class StatementWriter(ExpressionWriter):
    """Writes statements into the function that is being written.

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

    def _statement(self, statement: Statement) -> None:
        match statement:
            case Let(name, value):
                self._ranges[name] = self._range(value)
                self._locals[name] = self._number(value)
            case If(test, then, otherwise):
                self._if(test, then, otherwise)
            case Tick(is_back=False):
                self._tick()
            case Tick():
                self._tick_back()
            case Write(path, index, value):
                self._write(path, index, value)
            case Remove(array, place):
                self._remove(array, place)

    def _if(self, test: Expression, then: tuple[Statement, ...], otherwise: tuple[Statement, ...]) -> None:
        code = self.code
        condition, before = self._truth(test), [self._word(i) for i in range(self.packing.words)]
        yes, no, behind = code.label(), code.label(), code.label()
        code.branch(condition, yes, no)
        ends = []
        for label, block in ((yes, then), (no, otherwise)):
            code.start(label)
            self.words = list(before)
            with code.on_one_way():
                for statement in block:
                    self._statement(statement)
            ends.append((self.words, code.block))
            code.jump(behind)
        code.start(behind)
        (left, left_end), (right, right_end) = ends
        self.words = [
            a if a == b else code.join("i64", ((str(a), left_end), (str(b), right_end)))
            for a, b in zip(left, right, strict=True)
        ]

    # --- writes -------------------------------------------------------------------------------------------------------

    def _write(self, path: tuple[str, ...], index: Expression | None, value: Expression) -> None:
        places = self.packing.places[path]
        if not places:
            self._leave_if("true")
            return
        if index is not None:
            self._check_index(places, index)
        distance = self._distance(path, places[0], value)
        if index is None or isinstance(index, Int):
            place = places[0] if index is None else place_of(places, index)
            self._store(place, index, distance)
        elif len(places) == 1:
            self._store(places[0], index, distance)
        else:
            self._store_somewhere(places, index, distance)

    def _check_index(self, places: tuple[Place, ...], index: Expression) -> None:
        """A write beside the array would change its neighbours."""
        length = places[-1].first + places[-1].length
        least, most = self._range(index)
        if least < 0 or most >= length:
            self._leave_if(self.code.value(f"icmp uge i64 {self._number(index)}, {length}"))

    def _distance(self, path: tuple[str, ...], place: Place, value: Expression) -> str:
        """How far the value lies above the low end of the field's range."""
        low, high = place.low, place.high
        least, most = self._range(value)
        stored = self._number(value)
        if self._is_instant(path):
            slack = self._slack(path)
            if least < low + (slack is not None):
                floor = str(low)
                if slack is not None:
                    floor = self.code.at_entry(f"select i1 {slack}, i64 {low}, i64 {low + 1}")
                is_above = self.code.value(f"icmp sgt i64 {stored}, {floor}")
                stored = self.code.value(f"select i1 {is_above}, i64 {stored}, i64 {floor}")
                least = max(least, low)
                most = max(most, low + (slack is not None))
        distance = self.code.value(f"sub i64 {stored}, {low}") if low else stored
        if isinstance(value, Int) and stored == str(value.value):
            distance = str(value.value - low)
        if least < low or most > high:
            self._leave_if(self.code.value(f"icmp ugt i64 {distance}, {signed(high - low)}"))
        return distance

    def _store(self, place: Place, index: Expression | None, distance: str) -> None:
        if place.width:
            self.words[place.word] = self._stored(place, index, distance)

    def _stored(self, place: Place, index: Expression | None, distance: str) -> str:
        """The word of a place with the distance stored there."""
        mask, word, shift = (1 << place.width) - 1, self._word(place.word), self._shift(place, index)
        if isinstance(shift, int):
            kept = self._operation("and", word, ~(mask << shift))
            if distance.isdigit():
                return self._operation("or", kept, int(distance) << shift)
        else:
            hole = self._operation("shl", self._constant(mask), shift)
            kept = self._operation("and", word, self._operation("xor", hole, -1))
        return self._operation("or", kept, self._operation("shl", distance, shift))

    def _store_somewhere(self, places: tuple[Place, ...], index: Expression, distance: str) -> None:
        """Store in the one of several words in which the index lies."""
        at, code = self._number(index), self.code
        for place in places:
            if place.width:
                before = code.value(f"sub i64 {at}, {place.first}")
                is_here = code.value(f"icmp ult i64 {before}, {place.length}")
                stored = self._stored(place, index, distance)
                self.words[place.word] = code.value(f"select i1 {is_here}, i64 {stored}, i64 {self._word(place.word)}")

    def _leave_if(self, condition: str) -> None:
        going_on = self.code.label()
        self.code.branch(condition, OUT_OF_RANGE, going_on, UNLIKELY)
        self.code.start(going_on)

    # --- what is taken out --------------------------------------------------------------------------------------------

    def _remove(self, array: str, removed: int) -> None:
        """What is behind a place of the arrays of a length moves up; then what refers there."""
        for path, places in self.packing.places.items():
            if self._slots[path].array == array:
                following = [*(self._element(place, place.first) for place in places[1:]), self._lowest(path)]
                for place, last in zip(places, following, strict=bool(places)):
                    self._move_up(place, max(removed - place.first, 0), last)
        for path, places in self.packing.places.items():
            if self._slots[path].places == array:
                for place in places:
                    for i in range(place.length if place.width else 0):
                        self._follow(path, place, i, removed)

    def _element(self, place: Place, i: int) -> str:
        """What is stored of element i of the array."""
        shifted = self._operation("lshr", self._word(place.word), place.shift + place.width * (i - place.first))
        return self._operation("and", shifted, (1 << place.width) - 1)

    def _lowest(self, path: tuple[str, ...]) -> str:
        """What is stored of a field that holds what it held in the beginning."""
        slack = self._slack(path) if self._is_instant(path) else None
        return "0" if slack is None else self.code.at_entry(f"select i1 {slack}, i64 0, i64 1")

    def _move_up(self, place: Place, begin: int, last: str) -> None:
        """The elements of a word behind its `begin` th move up, and the last one becomes `last`."""
        if begin >= place.length or not place.width:
            return
        word, top = self._word(place.word), place.shift + place.width * (place.length - 1)
        region = (1 << top + place.width) - (1 << place.shift + place.width * begin)
        moved = self._operation("and", self._operation("lshr", word, place.width), region & ((1 << top) - 1))
        kept = self._operation("or", self._operation("and", word, signed(~region & (1 << 64) - 1)), moved)
        self.words[place.word] = self._operation("or", kept, self._operation("shl", last, top))

    def _follow(self, path: tuple[str, ...], place: Place, i: int, removed: int) -> None:
        """What element i says of the places of an array from which one was removed."""
        slot, before, code = self._slots[path], self._element(place, place.first + i), self.code
        if slot.kind is Kind.BITS:
            below = (1 << removed) - 1
            upper = self._operation("and", self._operation("lshr", before, 1), signed(~below & (1 << 64) - 1))
            after = self._operation("or", self._operation("and", before, below), upper)
        else:
            distance = removed - place.low
            is_behind = code.value(f"icmp ugt i64 {before}, {distance}")
            less = code.value(f"sub i64 {before}, 1")
            after = code.value(f"select i1 {is_behind}, i64 {less}, i64 {before}")
            if not slot.is_position:
                is_gone = code.value(f"icmp eq i64 {before}, {distance}")
                after = code.value(f"select i1 {is_gone}, i64 0, i64 {after}")
        shift = place.shift + place.width * i
        kept = self._operation(
            "and", self._word(place.word), signed(~(((1 << place.width) - 1) << shift) & (1 << 64) - 1)
        )
        self.words[place.word] = self._operation("or", kept, self._operation("shl", after, shift))

    # --- the clock ----------------------------------------------------------------------------------------------------

    def _tick(self) -> None:
        """The clock stays where it is, and all instants become one older, down to their floor."""
        code = self.code
        for path, place, shift in self._instants():
            word, slack = self._word(place.word), self._slack(path)
            mask, one = signed(((1 << place.width) - 1) << shift), signed(1 << shift)
            floor = "0" if slack is None else code.at_entry(f"select i1 {slack}, i64 0, i64 {one}")
            is_above = self._operation("icmp ne", self._operation("and", word, mask), floor)
            older = code.value(f"sub i64 {word}, {one}")
            self.words[place.word] = code.value(f"select i1 {is_above}, i64 {older}, i64 {word}")

    def _tick_back(self) -> None:
        """The clock stays where it is, and all instants become one younger; the youngest would leave its range."""
        code = self.code
        for _, place, shift in self._instants():
            word, most = self._word(place.word), place.high - place.low
            mask = signed(((1 << place.width) - 1) << shift)
            field = code.value(f"and i64 {word}, {mask}")
            self._leave_if(code.value(f"icmp eq i64 {field}, {signed(most << shift)}"))
            self.words[place.word] = code.value(f"add i64 {word}, {signed(1 << shift)}")

    def _instants(self) -> Iterator[tuple[tuple[str, ...], Place, int]]:
        """Each instant: its path, its place, and its lowest bit."""
        for path, places in self.packing.places.items():
            if places and self._is_instant(path):
                for place in places:
                    for i in range(place.length):
                        yield path, place, place.shift + place.width * i

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
