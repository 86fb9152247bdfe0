"""The range of values that an expression can take, as far as its shape tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.front_end.terms import Apply, Expression, Int, Local, Read

if TYPE_CHECKING:
    from model_check.explicit.code_generation.packing import Packing

Range = tuple[int, int]
"""The least and the most."""


class ValueRanges:
    """The ranges of terms; those of names are in `_ranges`, as far as they are known.

    Parameters
    ----------
    packing : Packing
        Where the fields of the state lie, and their declared ranges.
    """

    def __init__(self, packing: Packing) -> None:
        self.packing = packing
        self._ranges: dict[str, Range] = {}

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
