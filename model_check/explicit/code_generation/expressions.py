"""From terms to LLVM instructions over packed words.

Numbers are 64-bit words in two's complement, truth values single bits, a set is its mask. An expression is written for
one state, or for eight states or all states of a run at once, a lane each; the instructions are the same, on vectors.

Both sides of `and`, `or` and `if` are computed: a term has no effect, and one that is not reached in the source (an
index that is no place) gives some number here, which is then ignored. A shift is therefore masked where its amount may
lie beside the word.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property, reduce
from typing import TYPE_CHECKING, Final

from model_check.explicit.code_generation.instructions import METADATA, Instructions
from model_check.explicit.code_generation.packing import WORD_BITS, PackedPlace, Packing, Path
from model_check.explicit.code_generation.runs import (
    ALIGNMENT,
    BYTE,
    EIGHT,
    LOAD,
    RUN,
    column_address,
    extracted_byte,
    stored_byte,
)
from model_check.front_end.terms import Apply, Expression, Int, Let, LocalTerm, Read, Switch, is_boolean, parts
from spec.language import Kind, Slot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from model_check.front_end.terms import Operator


HALF_WORD = 32
"""Bits of the lanes from which on an operation may choose between its result and an operand."""

_COMPARISONS: Final = {"==": "eq", "!=": "ne", "<": "slt", "<=": "sle", ">": "sgt", ">=": "sge"}

_TRUTHS: Final = ("not", "if", "is_empty", "has")
"""The other operators that give truth values; `if` where it chooses between two."""

_DECLARATIONS = f"""\
declare i64 @llvm.cttz.i64(i64, i1)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.ctpop.i64(i64)
{LOAD}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
{METADATA}"""

# --- ranges of values -------------------------------------------------------------------------------------------------

Range = tuple[int, int]
"""The least and the most."""


def range_of(term: Expression, packing: Packing, names: Mapping[str, Range]) -> Range:
    """The range of a term's values, as far as its shape tells; `names` are the ranges of local names."""
    match term:
        case Int(value):
            return value, value
        case LocalTerm(name):
            return names[name]
        case Read(path, _):
            if path not in packing.places:
                return packing.clock, packing.clock
            places = packing.places[path]
            return (places[0].low, places[0].high) if places else (0, 0)
        case Apply("only", (member,)):
            least, most = range_of(member, packing, names)
            return (1 if least >= 0 else -1), 1 << max(most, 0)
        case Apply("minus", (left, _)):
            return 0, range_of(left, packing, names)[1]
        case Apply("+" | "-" | "union" as operator, (left, right)) | Apply("if" as operator, (_, left, right)):
            (a, b), (c, d) = range_of(left, packing, names), range_of(right, packing, names)
            if operator == "+":
                return a + c, b + d
            if operator == "-":
                return a - d, b - c
            if operator == "if":
                return min(a, c), max(b, d)
            return min(a, c, 0), (1 << max(b, d).bit_length()) - 1
    return 0, 1


def bits_for(packing: Packing, names: Sequence[Let], terms: Iterable[Expression]) -> int:
    """Bits of a lane, a byte at least, in which all numbers and sets of local names and of terms have room."""
    ranges: dict[str, Range] = {}
    for name in names:
        ranges[name.name] = range_of(name.value, packing, ranges)
    needed = BYTE
    for term in parts((*(name.value for name in names), *terms), once=True):
        match term:
            case Apply("has", (_, member)) | Apply("only", (member,)):
                needed = max(needed, range_of(member, packing, ranges)[1] + 1)
        least, most = range_of(term, packing, ranges)
        needed = max(needed, 1 + max(most, ~least).bit_length())
    return next(bits for bits in (BYTE, 16, 32, WORD_BITS) if needed <= bits or bits == WORD_BITS)


# --- functions of a module --------------------------------------------------------------------------------------------


@dataclass
class Module:
    """The common part of a module's functions."""

    packing: Packing
    switches: Mapping[str, int]  # the index in the array `%K` of each boolean constant that is known at run time only
    constants: object  # the instance
    # the constants that functions load → the index of each in `@numbers`
    literals: dict[int, int] = field(default_factory=dict)

    @cached_property
    def slots(self) -> dict[Path, Slot]:
        """A slot of each field."""
        return {slot.path: slot for slot in self.packing.slots}

    def is_instant(self, path: Path) -> bool:
        """Whether a field becomes older with each tick."""
        return self.slots[path].kind is Kind.INSTANT

    def text(self, functions: Iterable[str]) -> str:
        """The module with all functions that were written."""
        literals = ", ".join(f"i64 {number}" for number in self.literals)
        numbers = f"@numbers = internal global [{len(self.literals)} x i64] [{literals}]"
        return "\n\n".join([*functions, numbers, _DECLARATIONS, ""])


class Function:
    """A function that is being written, and how it sees states: one, a group of eight or a whole run."""

    def __init__(self, module: Module, *, has_bytes: bool = False) -> None:
        self.module = module
        self.packing = module.packing
        self.code = Instructions()
        self.has_bytes = has_bytes  # whether the bytes of the run are stored behind its words
        self.reached = ""  # the lanes in which the statement that is being written is reached
        self._look(0, WORD_BITS)

    def _look(self, lanes: int, bits: int) -> None:
        self.lanes, self.bits = lanes, bits
        self.number_type = f"<{lanes} x i{bits}>" if lanes else "i64"
        self.truth_type = f"<{lanes} x i1>" if lanes else "i1"
        self.words = [None] * self.packing.words
        self.ranges: dict[str, Range] = {}
        self.names: dict[str, str] = {}  # the operand of each local name

    def look_at_run(self, bits: int) -> None:
        """Read all states of `%columns` from here on, and compute with lanes of so many bits.

        That is faster than with whole words where there is enough to compute; `bits_for` says how many are needed.
        """
        is_the_same = (self.lanes, self.bits) == (RUN, bits) and not self.names
        known = self.code.operands
        self._look(RUN, bits)
        if is_the_same:
            self.code.operands = known

    @property
    def words(self) -> Sequence[str | None]:
        """The words of the state as the statements have left them; None for one unchanged."""
        return self._words

    @words.setter
    def words(self, words: Sequence[str | None]) -> None:
        self._words = tuple(words)
        self.code.operands = {}

    def set_word(self, number: int, word: str) -> None:
        """Let a word of the state be another one from here on."""
        self.words = [*self.words[:number], word, *self.words[number + 1 :]]

    def look_at_group(self) -> None:
        """Read the eight states of `%columns` from `%lane` on from here on."""
        self._look(EIGHT, WORD_BITS)

    # --- operations ---------------------------------------------------------------------------------------------------

    def constant(self, number: int) -> str:
        """A number in all lanes."""
        return _splat(self.bits, number) if self.lanes else _scalar(number)

    def truth_constant(self, truth: bool) -> str:
        """A truth value in all lanes."""
        text = "true" if truth else "false"
        return f"splat (i1 {text})" if self.lanes else text

    def operation(self, operation: str, left: str, right: str | int) -> str:
        """An instruction on numbers."""
        operand = self._literal(operation, right) if isinstance(right, int) else right
        return self.code.value(f"{operation} {self.number_type} {left}, {operand}")

    def _literal(self, operation: str, number: int) -> str:
        """A constant; in a bitwise operation on wide lanes one that LLVM does not see, and loads when a call begins.

        Up to LLVM 22 a chosen lane of such operations is computed wrongly on AVX-512 where an operand is a constant in
        memory (llvm-project issue 157929: VPTERNLOG231_imm8 and VPTERNLOG312_imm8 are swapped).
        """
        if not self.lanes or self.bits < HALF_WORD or operation not in ("and", "or"):
            return self.constant(number)
        literals = self.module.literals
        index = literals.setdefault(signed(number), len(literals))
        address = self.code.at_entry(f"getelementptr inbounds i64, ptr @numbers, i64 {index}")
        loaded = self.code.at_entry(f"load i{self.bits}, ptr {address}")
        return self.code.splat(self.lanes, f"i{self.bits}", loaded)

    def logic(self, operation: str, left: str, right: str) -> str:
        """An instruction on truth values."""
        return self.code.value(f"{operation} {self.truth_type} {left}, {right}")

    def select(self, condition: str, then: str, otherwise: str) -> str:
        """One of two numbers."""
        return self.code.value(self.selection(condition, then, otherwise))

    def selection(self, condition: str, then: str, otherwise: str) -> str:
        """The instruction of `select`."""
        return f"select {self.truth_type} {condition}, {self.number_type} {then}, {self.number_type} {otherwise}"

    def states_where(self, truth: str) -> str:
        """The mask of the states of the run in which a condition is true."""
        missing = self.code.at_entry(f"sub i64 {RUN}, %count")
        mask = self.code.value(f"bitcast {self.truth_type} {truth} to i{RUN}")
        return self.code.value(f"and i64 {mask}, {self.code.at_entry(f'lshr i64 -1, {missing}')}")

    # --- terms --------------------------------------------------------------------------------------------------------

    def range(self, term: Expression) -> Range:
        """The range of a term's values."""
        return range_of(term, self.packing, self.ranges)

    def truth(self, term: Expression) -> str:
        """The term as a condition."""
        return self._memoized(term, True, self._truth)

    def number(self, term: Expression) -> str:
        """The term as an integer; a set as its mask."""
        return self._memoized(term, False, self._number)

    def _memoized(self, term: Expression, is_truth: bool, write: Callable[[Expression], str]) -> str:
        """The operand of a term: the same for the same one, as long as no word of the state changes."""
        if not isinstance(term, Apply):
            return write(term)
        key, operands = (id(term), is_truth), self.code.operands
        known = operands.get(key)
        if known is None:
            known = operands[key] = term, write(term)
        return known[1]

    def _truth(self, term: Expression) -> str:
        if isinstance(term, Apply):
            operator, arguments = term.operator, term.arguments
            if operator in ("and", "or"):
                return reduce(lambda a, b: self.logic(operator, a, b), [self.truth(a) for a in arguments])
            if operator in _COMPARISONS:
                left, right = map(self.number, arguments)
                return self.operation(f"icmp {_COMPARISONS[operator]}", left, right)
            if operator in _TRUTHS and (operator != "if" or is_boolean(term)):
                return self._other_truth(operator, arguments)
        elif isinstance(term, Int):
            return self.truth_constant(bool(term.value))
        elif isinstance(term, Switch):
            return self.switch(term.name)
        return self.operation("icmp ne", self.number(term), 0)

    def _other_truth(self, operator: Operator, arguments: tuple[Expression, ...]) -> str:
        first = arguments[0]
        if operator == "not":
            return self.logic("xor", self.truth(first), self.truth_constant(True))
        if operator == "is_empty":
            return self.operation("icmp eq", self.number(first), 0)
        if operator == "has":
            return self._has(first, arguments[1])
        condition, a, b = map(self.truth, arguments)
        kind = self.truth_type
        return self.code.value(f"select {kind} {condition}, {kind} {a}, {kind} {b}")

    def _has(self, members: Expression, member: Expression) -> str:
        at = self.number(member)
        bit = self.operation("lshr", self.number(members), self._amount(at, self.range(member)))
        is_member = self.operation("icmp ne", self.operation("and", bit, 1), 0)
        if self.range(member)[0] >= 0:
            return is_member
        return self.logic("and", self.operation("icmp sge", at, 0), is_member)

    def _number(self, term: Expression) -> str:
        match term:
            case Int(value):
                return self.constant(value)
            case LocalTerm(name):
                return self.names[name]
            case Read(path, index):
                return self._read(path, index)
            case Apply("+" | "-" as operator, (left, right)):
                return self.operation("add" if operator == "+" else "sub", self.number(left), self.number(right))
            case Apply("if", (test, then, otherwise)) if not is_boolean(term):
                return self.select(self.truth(test), self.number(then), self.number(otherwise))
            case Apply("only", (member,)):
                return self._only(member)
            case Apply("union", (left, right)):
                return self.operation("or", self.number(left), self.number(right))
            case Apply("minus", (left, right)):
                return self.operation("and", self.number(left), self.operation("xor", self.number(right), -1))
        return self.code.value(f"zext {self.truth_type} {self.truth(term)} to {self.number_type}")

    def _only(self, member: Expression) -> str:
        """One bit; -1, which is no set, when the member is absent: the write is then refused."""
        at, reach = self.number(member), self.range(member)
        bit = self.operation("shl", self.constant(1), self._amount(at, reach))
        if reach[0] >= 0:
            return bit
        return self.select(self.operation("icmp sge", at, 0), bit, self.constant(-1))

    def switch(self, name: str) -> str:
        """Whether a switch is on."""
        address = self.code.at_entry(f"getelementptr inbounds i64, ptr %K, i64 {self.module.switches[name]}")
        is_on = self.code.at_entry(f"icmp ne i64 {self.code.at_entry(f'load i64, ptr {address}')}, 0")
        return self.code.splat(self.lanes, "i1", is_on) if self.lanes else is_on

    def slack(self, path: Path) -> str | None:
        """The condition under which the floor of an instant is the low end of its range; None without slack."""
        slack = self.module.slots[path].slack
        if slack is None:
            return None
        if slack in self.module.switches:
            return self.switch(slack)
        return self.truth_constant(bool(getattr(self.module.constants, slack)))

    # --- fields -------------------------------------------------------------------------------------------------------

    def all_words(self) -> list[str]:
        """All words of the state."""
        return [self.word(i) for i in range(self.packing.words)]

    def word(self, number: int) -> str:
        """A word of the state."""
        word = self.words[number]
        if word is not None:
            return word
        code = self.code
        if self.lanes:
            alignment = ALIGNMENT if self.lanes == RUN else EIGHT * BYTE
            return code.value(f"load <{self.lanes} x i64>, ptr {self.column(number)}, align {alignment}")
        first = code.value(f"mul nsw i64 %x, {self.packing.words}")
        place = code.value(f"add nsw i64 {first}, {number}")
        return code.value(f"load i64, ptr {code.value(f'getelementptr inbounds i64, ptr %states, i64 {place}')}")

    def column(self, number: int) -> str:
        """The address of a word of all states in the lanes."""
        return column_address(self.code, number, 0 if self.lanes == RUN else "%lane")

    def _read(self, path: Path, index: Expression | None) -> str:
        if path not in self.packing.places:
            return self.constant(self.packing.clock)
        places = self.packing.places[path]
        if not places:
            return self.constant(0)  # an array of no places; the read is not reached
        if self.bits < WORD_BITS and not isinstance(index, Int | None):
            return self._gather(places, index)
        if index is None or len(places) == 1:
            return self._load(places[0], index)
        if isinstance(index, Int):
            return self._load(place_of(places, index), index)
        at, value = self.number(index), self._load(places[-1], index)
        for place in reversed(places[:-1]):
            is_here = self.operation("icmp slt", at, place.first + place.length)
            value = self.select(is_here, self._load(place, index), value)
        return value

    def _gather(self, places: tuple[PackedPlace, ...], index: Expression) -> str:
        """The element of an array at an index that differs from lane to lane: selected from all elements."""
        at, value = self.number(index), ""
        for place in reversed(places):
            for i in reversed(range(place.first, place.first + place.length)):
                element = self._load(place, Int(i))
                value = self.select(self.operation("icmp eq", at, i), element, value) if value else element
        return value

    def _load(self, place: PackedPlace, index: Expression | None) -> str:
        if place.width == 0:
            return self.constant(place.low)
        if self.bits < WORD_BITS:
            bits = self._part(place, self.shift(place, index))
        else:
            bits = self.operation("lshr", self.word(place.word), self.shift(place, index))
        bits = self.operation("and", bits, (1 << place.width) - 1)
        return self.operation("add", bits, place.low) if place.low else bits

    def _part(self, place: PackedPlace, shift: str | int) -> str:
        """The bits of a word from `shift` on, as many as a lane has: extracted once for all fields that lie in them."""
        if isinstance(shift, str):
            raise AssertionError(place)  # see `bits_for`
        number, within = divmod(shift, self.bits)
        is_split = within + place.width > self.bits
        if self.bits == BYTE:
            low = self._byte(place.word, number)
            part = self.operation("lshr", low, within) if within else low
            if not is_split:
                return part
            return self.operation("or", part, self.operation("shl", self._byte(place.word, number + 1), BYTE - within))
        if is_split:
            within = 0
        words = f"<{self.lanes} x i64>"
        moved = self.code.value(f"lshr {words} {self.word(place.word)}, splat (i64 {shift - within})")
        part = self.code.value(f"trunc {words} {moved} to {self.number_type}")
        return self.operation("lshr", part, within) if within else part

    def _byte(self, word: int, number: int) -> str:
        if self.has_bytes:
            return stored_byte(self.code, self.packing.words, word, number)
        return extracted_byte(self.code, word, number)

    def shift(self, place: PackedPlace, index: Expression | None) -> str | int:
        """The lowest bit of an element of an array in its word; a number where it is known."""
        if index is None:
            return place.shift
        start = place.shift - place.width * place.first
        if isinstance(index, Int):
            return (start + place.width * index.value) % 64
        least, most = self.range(index)
        amount = self.number(index)
        if place.width != 1:
            amount = self.operation("mul", amount, place.width)
        if start:
            amount = self.operation("add", amount, start)
        return self._amount(amount, (start + place.width * least, start + place.width * most))

    def _amount(self, amount: str, reach: Range) -> str:
        """The amount of a shift, masked if it may exceed the bits of a number."""
        if reach[0] >= 0 and reach[1] < self.bits:
            return amount
        return self.operation("and", amount, self.bits - 1)


def place_of(places: tuple[PackedPlace, ...], index: Int) -> PackedPlace:
    """The part of an array in which a known index lies."""
    return next(p for p in places if p.first <= index.value < p.first + p.length)


@cache
def _splat(bits: int, number: int) -> str:
    return f"splat (i{bits} {signed(number)})"


@cache
def _scalar(number: int) -> str:
    return str(signed(number))


def signed(value: int) -> int:
    """The 64-bit two's complement number with the same bits."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)
