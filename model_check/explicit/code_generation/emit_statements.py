"""From statements to LLVM instructions: what an action writes into the packed words.

A write whose value cannot be shown to be in the field's declared range is checked; a value that is not leaves the
function by its block `out_of_range`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.explicit.code_generation.emit_expressions import place_of, signed
from model_check.explicit.code_generation.emit_removal import RemovalWriter
from model_check.explicit.code_generation.instructions import UNLIKELY
from model_check.front_end.terms import Expression, If, Int, Let, Remove, Statement, Tick, Write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from model_check.explicit.code_generation.packing import Place

OUT_OF_RANGE = "out_of_range"


class StatementWriter(RemovalWriter):
    """Writes statements into the function that is being written."""

    _reached = ""
    """In which of several states the statement is reached."""

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
        if self._lanes:
            self._choose(test, then, otherwise)
            return
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

    def _choose(self, test: Expression, then: tuple[Statement, ...], otherwise: tuple[Statement, ...]) -> None:
        """Do both, and take the words of one in each state."""
        before, reached = [self._word(i) for i in range(self.packing.words)], self._reached
        condition = self._truth(test)
        ends: list[list[str]] = []
        for is_so, block in ((condition, then), (self._logic("xor", condition, self._known_truth(True)), otherwise)):
            self.words, self._reached = list(before), self._logic("and", reached, is_so)
            for statement in block:
                self._statement(statement)
            ends.append([self._word(i) for i in range(self.packing.words)])
        self._reached = reached
        self.words = [a if a == b else self._choice(condition, a, b) for a, b in zip(*ends, strict=True)]

    # --- writes -------------------------------------------------------------------------------------------------------

    def _write(self, path: tuple[str, ...], index: Expression | None, value: Expression) -> None:
        places = self.packing.places[path]
        if not places:
            self._leave_if(self._known_truth(True))
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
            self._leave_if(self._operation("icmp uge", self._number(index), length))

    def _distance(self, path: tuple[str, ...], place: Place, value: Expression) -> str:
        """How far the value lies above the low end of the field's range."""
        low, high = place.low, place.high
        least, most = self._range(value)
        stored = self._number(value)
        if self._is_instant(path):
            slack = self._slack(path)
            if least < low + (slack is not None):
                floor = self._constant(low)
                if slack is not None:
                    floor = self.code.at_entry(self._selecting(slack, floor, self._constant(low + 1)))
                stored = self._choice(self._operation("icmp sgt", stored, floor), stored, floor)
                least = max(least, low)
                most = max(most, low + (slack is not None))
        distance = self._operation("sub", stored, low) if low else stored
        if isinstance(value, Int) and stored == self._constant(value.value):
            distance = self._constant(value.value - low)
        if least < low or most > high:
            self._leave_if(self._operation("icmp ugt", distance, high - low))
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
        at = self._number(index)
        for place in places:
            if place.width:
                is_here = self._operation("icmp ult", self._operation("sub", at, place.first), place.length)
                stored = self._stored(place, index, distance)
                self.words[place.word] = self._choice(is_here, stored, self._word(place.word))

    def _leave_if(self, condition: str) -> None:
        """Leave the function; where several states are looked at, if it is so in one in which this is reached."""
        going_on = self.code.label()
        if self._lanes:
            reached = self._logic("and", condition, self._reached)
            some = self.code.value(f"bitcast {self._truth_type} {reached} to i{self._lanes}")
            condition = self.code.value(f"icmp ne i{self._lanes} {some}, 0")
        self.code.branch(condition, OUT_OF_RANGE, going_on, UNLIKELY)
        self.code.start(going_on)

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
