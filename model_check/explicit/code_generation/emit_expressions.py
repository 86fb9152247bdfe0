"""From terms to LLVM instructions over packed words.

Numbers are 64-bit words in two's complement, truth values single bits, a set is its mask. An expression is written for
one state, or for eight states or all states of a run at once, a lane each; the instructions are the same, on vectors.

Both sides of `and`, `or` and `if` are computed: a term has no effect, and one that is not reached in the source (an
index that is no place) gives some number here, which is then not looked at. A shift is therefore masked where its
amount may lie beside the word.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Final

from model_check.explicit.code_generation.bytes_of_run import BYTE, RUN, byte_of_run, byte_that_was_cut
from model_check.explicit.code_generation.instructions import Instructions
from model_check.explicit.code_generation.lay_out import ALIGNMENT, EIGHT, place_in_columns
from model_check.explicit.code_generation.packing import WORD_BITS
from model_check.explicit.code_generation.value_ranges import ValueRanges
from model_check.front_end.terms import Apply, Expression, Int, Local, Read, Switch, is_boolean, parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from model_check.explicit.code_generation.packing import Packing, Place
    from model_check.explicit.code_generation.value_ranges import Range

HALF_WORD = 32
"""Bits of the lanes from which on an operation may choose between its result and an operand."""

_COMPARISONS: Final = {"==": "eq", "!=": "ne", "<": "slt", "<=": "sle", ">": "sgt", ">=": "sge"}


class ExpressionWriter(ValueRanges):
    """Writes expressions into the function that is being written.

    Parameters
    ----------
    packing : Packing
    switches : tuple of str
        The boolean constants that are known at run time only: the first numbers of the array `%K`.
    """

    _all_are_cut = False
    """Whether the bytes of the run lie behind its words."""

    def __init__(self, packing: Packing, switches: tuple[str, ...]) -> None:
        super().__init__(packing)
        self.switches = {name: i for i, name in enumerate(switches)}
        self.code = Instructions()
        self._lanes, self._bits = 0, WORD_BITS
        self.words: list[str | None] = []
        """The words of the state as the statements have left them; None for one that is as it was."""
        self._locals: dict[str, str] = {}
        self._numbers: dict[int, int] = {}
        """The constants that functions load, and which place each has in `@numbers`."""
        self._written: dict[tuple[int, bool], tuple[Expression, str]] = {}
        """What was written for a term of a run, as a number or as a truth; holds the terms, so that none has its id."""

    # --- one state or several -----------------------------------------------------------------------------------------

    def _look_at(self) -> None:
        """From here on, look at state `%x` in `%states`."""
        self._lanes, self._bits = 0, WORD_BITS
        self._ranges, self._locals, self._written = {}, {}, {}
        self.words = [None] * self.packing.words

    def _look_at_run(self, bits: int) -> None:
        """From here on, look at all states in `%columns` at once, and compute with numbers of so many bits.

        That is faster than with whole words where there is enough to compute; `_bits_for` says how many are needed.
        """
        is_same = self._lanes == RUN and self._bits == bits and not self._locals
        written = self._written if is_same else {}
        self._look_at()
        self._lanes, self._bits, self._written = RUN, bits, written

    def _look_at_eight(self) -> None:
        """From here on, look at eight states at once: those in `%columns` from `%lane` on."""
        self._look_at()
        self._lanes = EIGHT

    def _bits_for(self, *terms: Expression) -> int:
        """Bits, a byte at least, in which all numbers and sets of some terms have room."""
        needed = BYTE
        for term in parts(terms, once=True):
            match term:
                case Apply("has", (_, member)) | Apply("only", (member,)):
                    needed = max(needed, self._range(member)[1] + 1)
            least, most = self._range(term)
            needed = max(needed, 1 + max(most, ~least).bit_length())
        return next(bits for bits in (BYTE, 16, 32, WORD_BITS) if needed <= bits or bits == WORD_BITS)

    @property
    def _number_type(self) -> str:
        return f"<{self._lanes} x i{self._bits}>" if self._lanes else "i64"

    @property
    def _truth_type(self) -> str:
        return f"<{self._lanes} x i1>" if self._lanes else "i1"

    def _constant(self, number: int) -> str:
        return f"splat (i{self._bits} {signed(number)})" if self._lanes else str(signed(number))

    def _known_truth(self, truth: bool) -> str:
        text = "true" if truth else "false"
        return f"splat (i1 {text})" if self._lanes else text

    def _operation(self, operation: str, left: str, right: str | int) -> str:
        """An instruction on numbers."""
        other = self._operand(operation, right) if isinstance(right, int) else right
        return self.code.value(f"{operation} {self._number_type} {left}, {other}")

    def _operand(self, operation: str, number: int) -> str:
        """A constant; in a bitwise operation on wide lanes one that LLVM does not see, and loads when a call begins.

        Up to LLVM 22 a chosen lane of such operations is computed wrongly on AVX-512 where an operand is a constant in
        memory (llvm-project issue 157929: VPTERNLOG231_imm8 and VPTERNLOG312_imm8 are swapped).
        """
        if not self._lanes or self._bits < HALF_WORD or operation not in ("and", "or"):
            return self._constant(number)
        place = self._numbers.setdefault(signed(number), len(self._numbers))
        at = self.code.at_entry(f"getelementptr inbounds i64, ptr @numbers, i64 {place}")
        loaded = self.code.at_entry(f"load i{self._bits}, ptr {at}")
        return self.code.splat(self._lanes, f"i{self._bits}", loaded)

    def _numbers_of_module(self) -> str:
        """`@numbers`, for all functions that were written."""
        numbers = ", ".join(f"i64 {number}" for number in self._numbers)
        return f"@numbers = internal global [{len(self._numbers)} x i64] [{numbers}]"

    def _logic(self, operation: str, left: str, right: str) -> str:
        """An instruction on truth values."""
        return self.code.value(f"{operation} {self._truth_type} {left}, {right}")

    def _choice(self, condition: str, then: str, otherwise: str) -> str:
        """One of two numbers."""
        return self.code.value(self._selecting(condition, then, otherwise))

    def _selecting(self, condition: str, then: str, otherwise: str) -> str:
        """The instruction that takes one of two numbers."""
        return f"select {self._truth_type} {condition}, {self._number_type} {then}, {self._number_type} {otherwise}"

    # --- terms --------------------------------------------------------------------------------------------------------

    def _once(self, term: Expression, is_truth: bool, write: Callable[[Expression], str]) -> str:
        """What is written for the term; of a run, where nothing changes, only once for the same one."""
        if self._lanes != RUN or not isinstance(term, Apply):
            return write(term)
        key = id(term), is_truth
        if key not in self._written:
            self._written[key] = term, write(term)
        return self._written[key][1]

    def _truth(self, term: Expression) -> str:
        """The term as a condition."""
        return self._once(term, True, self._truth_of)

    def _truth_of(self, term: Expression) -> str:
        match term:
            case Int(value):
                return self._known_truth(bool(value))
            case Switch(name):
                return self._switch(name)
            case Apply("and" | "or" as operator, arguments):
                return reduce(lambda a, b: self._logic(operator, a, b), [self._truth(a) for a in arguments])
            case Apply("not", (argument,)):
                return self._logic("xor", self._truth(argument), self._known_truth(True))
            case Apply("if", (test, then, otherwise)) if is_boolean(term):
                condition, a, b = self._truth(test), self._truth(then), self._truth(otherwise)
                return self.code.value(
                    f"select {self._truth_type} {condition}, {self._truth_type} {a}, {self._truth_type} {b}"
                )
            case Apply("==" | "!=" | "<" | "<=" | ">" | ">=" as operator, (left, right)):
                return self._operation(f"icmp {_COMPARISONS[operator]}", self._number(left), self._number(right))
            case Apply("is_empty", (argument,)):
                return self._operation("icmp eq", self._number(argument), 0)
            case Apply("has", (members, member)):
                return self._has(members, member)
        return self._operation("icmp ne", self._number(term), 0)

    def _has(self, members: Expression, member: Expression) -> str:
        at = self._number(member)
        bit = self._operation("lshr", self._number(members), self._amount(at, self._range(member)))
        found = self._operation("icmp ne", self._operation("and", bit, 1), 0)
        if self._range(member)[0] >= 0:
            return found
        return self._logic("and", self._operation("icmp sge", at, 0), found)

    def _number(self, term: Expression) -> str:
        """The term as an integer; a set as its mask."""
        return self._once(term, False, self._number_of)

    def _number_of(self, term: Expression) -> str:
        match term:
            case Int(value):
                return self._constant(value)
            case Local(name):
                return self._locals[name]
            case Read(path, index):
                return self._read(path, index)
            case Apply("+" | "-" as operator, (left, right)):
                return self._operation("add" if operator == "+" else "sub", self._number(left), self._number(right))
            case Apply("if", (test, then, otherwise)) if not is_boolean(term):
                return self._choice(self._truth(test), self._number(then), self._number(otherwise))
            case Apply("only", (member,)):
                return self._only(member)
            case Apply("union", (left, right)):
                return self._operation("or", self._number(left), self._number(right))
            case Apply("minus", (left, right)):
                return self._operation("and", self._number(left), self._operation("xor", self._number(right), -1))
        return self.code.value(f"zext {self._truth_type} {self._truth(term)} to {self._number_type}")

    def _only(self, member: Expression) -> str:
        """One bit; -1, which is no set, when the member is absent: the write is then refused."""
        at, reach = self._number(member), self._range(member)
        bit = self._operation("shl", self._constant(1), self._amount(at, reach))
        if reach[0] >= 0:
            return bit
        return self._choice(self._operation("icmp sge", at, 0), bit, self._constant(-1))

    def _switch(self, name: str) -> str:
        place = self.code.at_entry(f"getelementptr inbounds i64, ptr %K, i64 {self.switches[name]}")
        is_on = self.code.at_entry(f"icmp ne i64 {self.code.at_entry(f'load i64, ptr {place}')}, 0")
        return self.code.splat(self._lanes, "i1", is_on) if self._lanes else is_on

    # --- fields -------------------------------------------------------------------------------------------------------

    def _word(self, number: int) -> str:
        """A word of the state."""
        word = self.words[number]
        if word is not None:
            return word
        code = self.code
        if self._lanes:
            alignment = ALIGNMENT if self._lanes == RUN else EIGHT * BYTE
            return code.value(f"load <{self._lanes} x i64>, ptr {self._column(number)}, align {alignment}")
        first = code.value(f"mul nsw i64 %x, {self.packing.words}")
        place = code.value(f"add nsw i64 {first}, {number}")
        return code.value(f"load i64, ptr {code.value(f'getelementptr inbounds i64, ptr %states, i64 {place}')}")

    def _column(self, number: int) -> str:
        """Where the same word of the states that are looked at lies."""
        return place_in_columns(self.code, number, 0 if self._lanes == RUN else "%lane")

    def _read(self, path: tuple[str, ...], index: Expression | None) -> str:
        if path not in self.packing.places:
            return self._constant(self.packing.clock)
        places = self.packing.places[path]
        if not places:
            return self._constant(0)  # an array of no places; what reads it is not reached
        if self._bits < WORD_BITS and not isinstance(index, Int | None):
            return self._chosen(places, index)
        if index is None or len(places) == 1:
            return self._load(places[0], index)
        if isinstance(index, Int):
            return self._load(place_of(places, index), index)
        at, value = self._number(index), self._load(places[-1], index)
        for place in reversed(places[:-1]):
            is_here = self._operation("icmp slt", at, place.first + place.length)
            value = self._choice(is_here, self._load(place, index), value)
        return value

    def _chosen(self, places: tuple[Place, ...], index: Expression) -> str:
        """The element of an array at a place that differs from state to state: one after the other is looked at."""
        at, value = self._number(index), ""
        for place in reversed(places):
            for i in reversed(range(place.first, place.first + place.length)):
                element = self._load(place, Int(i))
                value = self._choice(self._operation("icmp eq", at, i), element, value) if value else element
        return value

    def _load(self, place: Place, index: Expression | None) -> str:
        if place.width == 0:
            return self._constant(place.low)
        if self._bits < WORD_BITS:
            bits = self._part(place, self._shift(place, index))
        else:
            bits = self._operation("lshr", self._word(place.word), self._shift(place, index))
        bits = self._operation("and", bits, (1 << place.width) - 1)
        return self._operation("add", bits, place.low) if place.low else bits

    def _part(self, place: Place, shift: str | int) -> str:
        """The bits of a word from `shift` on, as many as a number has: cut out once for all fields that lie in them."""
        if isinstance(shift, str):
            raise AssertionError(place)  # see `_bits_for`
        number, within = divmod(shift, self._bits)
        is_split = within + place.width > self._bits
        if self._bits == BYTE:
            low = self._byte(place.word, number)
            part = self._operation("lshr", low, within) if within else low
            if not is_split:
                return part
            return self._operation(
                "or", part, self._operation("shl", self._byte(place.word, number + 1), BYTE - within)
            )
        if is_split:
            within = 0
        words = f"<{self._lanes} x i64>"
        moved = self.code.value(f"lshr {words} {self._word(place.word)}, splat (i64 {shift - within})")
        part = self.code.value(f"trunc {words} {moved} to {self._number_type}")
        return self._operation("lshr", part, within) if within else part

    def _byte(self, word: int, number: int) -> str:
        if self._all_are_cut:
            return byte_that_was_cut(self.code, self.packing.words, word, number)
        return byte_of_run(self.code, word, number)

    def _shift(self, place: Place, index: Expression | None) -> str | int:
        """Where an element of an array begins in its word; a number where it is known."""
        if index is None:
            return place.shift
        start = place.shift - place.width * place.first
        if isinstance(index, Int):
            return (start + place.width * index.value) % 64
        least, most = self._range(index)
        amount = self._number(index)
        if place.width != 1:
            amount = self._operation("mul", amount, place.width)
        if start:
            amount = self._operation("add", amount, start)
        return self._amount(amount, (start + place.width * least, start + place.width * most))

    def _amount(self, amount: str, reach: Range) -> str:
        """How far to shift, less than the bits of a number."""
        if reach[0] >= 0 and reach[1] < self._bits:
            return amount
        return self._operation("and", amount, self._bits - 1)


def place_of(places: tuple[Place, ...], index: Int) -> Place:
    """The part of an array in which a place lies that is known."""
    return next(p for p in places if p.first <= index.value < p.first + p.length)


def signed(value: int) -> int:
    """The 64-bit two's complement number with the same bits."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)
