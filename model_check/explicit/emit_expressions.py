"""From terms to the source of expressions over packed words, and the range of values that an expression can take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.front_end.terms import Apply, Expression, Int, Local, Read, Switch, is_boolean

if TYPE_CHECKING:
    from model_check.explicit.packing import Packing, Place

Range = tuple[int, int]


class ExpressionWriter:
    """Writes expressions.

    Parameters
    ----------
    packing : Packing
    switches : tuple of str
        The boolean constants that are known at run time only.
    """

    def __init__(self, packing: Packing, switches: tuple[str, ...]) -> None:
        self.packing = packing
        self.words = [f"w{i}" for i in range(packing.words)]
        self.switches = {name: f"k{i}" for i, name in enumerate(switches)}
        self._ranges: dict[str, Range] = {}

    def _truth(self, term: Expression) -> str:
        """The term as a condition."""
        match term:
            case Int(value):
                return str(bool(value))
            case Switch(name):
                return self.switches[name]
            case Apply("and" | "or" as operator, arguments):
                return "(" + f" {operator} ".join(self._truth(a) for a in arguments) + ")"
            case Apply("not", (argument,)):
                return f"(not {self._truth(argument)})"
            case Apply("if", (test, then, otherwise)) if is_boolean(term):
                return f"({self._truth(then)} if {self._truth(test)} else {self._truth(otherwise)})"
            case Apply("==" | "!=" | "<" | "<=" | ">" | ">=" as operator, (left, right)):
                return f"({self._number(left)} {operator} {self._number(right)})"
            case Apply("is_empty", (argument,)):
                return f"({self._number(argument)} == 0)"
            case Apply("has", (members, member)):
                if self._range(member)[0] < 0:
                    at = self._number(member)
                    return f"({at} >= 0 and ({self._number(members)} >> {at}) & 1 != 0)"
                return f"(({self._number(members)} >> {self._number(member)}) & 1 != 0)"
        return f"({self._number(term)} != 0)"

    def _number(self, term: Expression | None) -> str:
        """The term as an integer; a set as its mask."""
        match term:
            case Int(value):
                return str(value)
            case Local(name):
                return name
            case Read(path, index):
                return self._read(path, index)
            case Apply("+" | "-" as operator, (left, right)):
                return f"({self._number(left)} {operator} {self._number(right)})"
            case Apply("if", (test, then, otherwise)) if not is_boolean(term):
                return f"({self._number(then)} if {self._truth(test)} else {self._number(otherwise)})"
            case Apply("only", (member,)):
                at = self._number(member)  # -1, which is no set, when the member is absent: the write is then refused
                return f"(1 << {at})" if self._range(member)[0] >= 0 else f"((1 << {at}) if {at} >= 0 else -1)"
            case Apply("union", (left, right)):
                return f"({self._number(left)} | {self._number(right)})"
            case Apply("minus", (left, right)):
                return f"({self._number(left)} & ~{self._number(right)})"
            case None:
                msg = "a field that is no array has no index"
                raise AssertionError(msg)
        return f"(1 if {self._truth(term)} else 0)"

    def _read(self, path: tuple[str, ...], index: Expression | None) -> str:
        if path not in self.packing.places:
            return str(self.packing.clock)
        places = self.packing.places[path]
        if not places:
            return "0"  # an array of no places; what reads it is not reached
        if index is None or len(places) == 1:
            return self._load(places[0], index)
        if isinstance(index, Int):
            return self._load(place_of(places, index), index)
        text = self._load(places[-1], index)
        for place in reversed(places[:-1]):
            text = f"({self._load(place, index)} if {self._number(index)} < {place.first + place.length} else {text})"
        return text

    def _load(self, place: Place, index: Expression | None) -> str:
        if place.width == 0:
            return str(place.low)
        bits = f"(({self.words[place.word]} >> {self._shift(place, index)}) & {(1 << place.width) - 1})"
        return f"({bits} + {place.low})" if place.low else bits

    def _shift(self, place: Place, index: Expression | None) -> str:
        if index is None:
            return str(place.shift)
        if isinstance(index, Int):
            return str(place.shift + place.width * (index.value - place.first))
        start = place.shift - place.width * place.first
        scaled = self._number(index) if place.width == 1 else f"{place.width} * {self._number(index)}"
        return f"({start} + {scaled})" if start else f"({scaled})"

    def _range(self, term: Expression) -> Range:
        """The values that the term can take, as far as its shape tells."""
        match term:
            case Int(value):
                return value, value
            case Local(name):
                return self._ranges[name]
            case Read(path, _):
                if path not in self.packing.places:
                    return self.packing.clock, self.packing.clock
                places = self.packing.places[path]
                return (places[0].low, places[0].high) if places else (0, 0)
            case Apply("+", (left, right)):
                (a, b), (c, d) = self._range(left), self._range(right)
                return a + c, b + d
            case Apply("-", (left, right)):
                (a, b), (c, d) = self._range(left), self._range(right)
                return a - d, b - c
            case Apply("if", (_, then, otherwise)):
                (a, b), (c, d) = self._range(then), self._range(otherwise)
                return min(a, c), max(b, d)
            case Apply("only", (member,)):
                least, most = self._range(member)
                return (1 if least >= 0 else -1), 1 << max(most, 0)
            case Apply("union", (left, right)):
                (a, b), (c, d) = self._range(left), self._range(right)
                return min(a, c, 0), (1 << max(b, d).bit_length()) - 1
            case Apply("minus", (left, _)):
                return 0, self._range(left)[1]
        return 0, 1


def place_of(places: tuple[Place, ...], index: Int) -> Place:
    """The part of an array in which a place lies that is known."""
    return next(p for p in places if p.first <= index.value < p.first + p.length)
