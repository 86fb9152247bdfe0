"""Projection of states of many transactions on one of them: what is left without the halves and op messages of others.

Their halves, the op messages that name none of its halves, and their transactions are taken out, as forgetting takes
out what is over (`spec.language.memory.Arrangement.without`): what stands behind them moves up. Ghosts that speak of a
round as a whole are left out; clauses that read them are carried by the choice of the transaction (docs/any-number.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from model_check.explicit.code_generation.compile import Compiled, compile_machine
from model_check.explicit.code_generation.compile_lock import cached_njit
from spec.language import Kind
from spec.transactional_messages import AMONG_OTHERS

if TYPE_CHECKING:
    from spec.constants import Constants
    from spec.language import Machine, Slot

Words = npt.NDArray[np.int64]

LEFT_OUT: Final = ("round.pulls_nothing", "stuck", "stuck_rounds", "op_left_behind")
"""Ghosts of a round as a whole, which no action reads where runs have an end or forget (`endless` asks one)."""

OF_OTHERS: Final = ("round.met", "round.held", "batch.others")
"""What one among others knows of them; many transactions do not."""

PLAIN, OF_HALF, OF_OP, OF_TRANSACTION = range(4)
"""The array in which a field lies."""

SAME, HALF_INDEX, HALF_POSITION, HALF_BITS, OP_INDEX, OP_POSITION, OP_BITS, LOWEST = range(8)
"""The conversion of a value."""

ARRAY, PLACE, CONVERSION, SOURCE, WORD, SHIFT, MASK, LOW = range(8)
"""Columns of `Tables.fields`; `SOURCE` is the cell of the many in which the field of the first place lies."""

HALF_LENGTH, OP_LENGTH, OWNER, NAMES, RUNNING, CURSOR, WAITING, FIRST, NEXT, UNRESOLVED = range(10)
"""Rows of `Tables.asked`."""

_ASKED: Final = (
    "half_length", "op_length", "half[0].transaction", "op[0].names", "round.running", "round.cursor", "batch.names",
    "round.first_op", "round.next_op", "pulled_op[0].unresolved",
)  # fmt: skip

MET, OTHERS, DONE, AT = range(4)
"""Rows of `Tables.marks`."""

_MARKS: Final = ("round.met", "batch.others", "round.done", "round.cursor")


class Tables(NamedTuple):
    """The fields of both sides, as the kernels want them; a cell is a word, a shift, a mask and a low end."""

    fields: Words
    """Of the one, shape (fields, 8)."""
    cells: Words
    """Of the many, shape (cells, 4)."""
    asked: Words
    """The cells of the many for which the kernels ask."""
    marks: Words
    """The cells of the one that they set."""
    blanks: Words
    """(field, another one, number): what nothing reads where the other one is at most that; always, where it is -1."""
    sizes: Words
    """Transactions, half places and op places of the many, and whether op messages are written in batches."""


@dataclass(frozen=True)
class Projection:
    """The projection of states of many transactions on states of one among others."""

    one: Constants
    compiled: Compiled
    """The machine of one transaction among others."""
    tables: Tables
    lowest: Words
    """The initial state of the one."""

    @classmethod
    def of(cls, many: Compiled, constants: Constants, machine: Machine = AMONG_OTHERS) -> Projection:
        """That of an instance that is not crowded and forgets nothing; of the one, places are as many."""
        one = replace(constants, transactions=1, crowded=1)
        compiled = compile_machine(machine, one)
        numbers = {slot.label: number for number, slot in enumerate(many.packing.slots)}
        slots, cells = compiled.packing.slots, compiled.packing.cells
        fields = [
            (*_conversion(slot), numbers[_at_first_place(slot)], *cell)
            for slot, cell in zip(slots, cells, strict=True)
        ]  # fmt: skip
        own = {slot.label: cell for slot, cell in zip(slots, cells, strict=True)}
        tables = (
            fields,
            many.packing.cells,
            [numbers[name] for name in _ASKED],
            [own[name] for name in _MARKS],
            _blanks(slots),
            [constants.transactions, constants.half_slots, constants.op_slots, constants.batches_ops],
        )
        lowest = compiled.packing.pack(AMONG_OTHERS.initial(one).canonical())
        return cls(one, compiled, Tables(*(np.array(table, dtype=np.int64) for table in tables)), lowest)

    def __call__(self, states: Words) -> Words:
        """The projections of states, shape (count, words), on each transaction: (count, transactions, words)."""
        found = np.empty((len(states), int(self.tables.sizes[0]), len(self.lowest)), dtype=np.int64)
        _project(states, self.tables, self.lowest, found)
        return found

    def clear(self, states: Words) -> None:
        """Clear in states of the one what the projection leaves out, and what nothing reads."""
        _clear(states, self.tables.fields, self.tables.blanks, self.lowest)

    def claims(self, states: Words) -> npt.NDArray[np.bool_]:
        """Whether a state of the one knows that the cursor stands on a half of its own."""
        (word, shift, mask, _), (at_word, at_shift, at_mask, _) = self.tables.marks[[MET, AT]]
        met, cursor = states[:, word] >> shift & mask, states[:, at_word] >> at_shift & at_mask
        found: npt.NDArray[np.bool_] = met == cursor + 1
        return found

    def without_claims(self, states: Words) -> Words:
        """The same states without that knowledge."""
        word, shift, mask, _ = self.tables.marks[MET]
        plain = states.copy()
        plain[:, word] &= ~(mask << shift)
        return plain


def _at_first_place(slot: Slot) -> str:
    """The label of the field at the first place of its array."""
    return slot.label if slot.index is None else slot.label.replace(f"[{slot.index}]", "[0]")


def _conversion(slot: Slot) -> tuple[int, int, int]:
    """The array, the place and the conversion of a field of the one."""
    arrays = {None: PLAIN, "half_slots": OF_HALF, "op_slots": OF_OP, "transactions": OF_TRANSACTION}
    array, place = arrays[slot.array], slot.index or 0
    if slot.label in (*LEFT_OUT, *OF_OTHERS) or slot.kind is Kind.CLOCK or slot.places == "transactions":
        return array, place, LOWEST
    if slot.places is None:
        return array, place, SAME
    first = HALF_INDEX if slot.places == "half_slots" else OP_INDEX
    return array, place, first + (2 if slot.kind is Kind.BITS else int(slot.is_position))


def _blanks(slots: tuple[Slot, ...]) -> list[tuple[int, int, int]]:
    """What is left out, and the instants of empty places, of a round that is over, and of a batch that never was."""
    numbers = {slot.label: number for number, slot in enumerate(slots)}
    of_places = [
        (numbers[slot.label], numbers[f"{slot.path[0]}_length"], slot.index or 0)
        for slot in slots
        if slot.kind is Kind.INSTANT and slot.array in ("half_slots", "op_slots")
    ]
    return [
        *((numbers[name], -1, 0) for name in LEFT_OUT),
        *of_places,
        (numbers["round.started_at"], numbers["round.running"], 0),
        (numbers["batch.written_at"], numbers["batch.is_open"], 0),
    ]


# --- kernels ----------------------------------------------------------------------------------------------------------


@cached_njit
def _value(state: Words, cells: Words, cell: int) -> int:
    """The value of a cell."""
    found: int = (state[cells[cell, 0]] >> cells[cell, 1] & cells[cell, 2]) + cells[cell, 3]
    return found


@cached_njit
def _places(state: Words, tables: Tables, t: int, own: Words, ranks: Words) -> tuple[int, int, int]:
    """The places of halves and op messages of a transaction, and of each place how many of them stand before it.

    Both have two rows, of halves and of op messages. Returns the set of the halves, and how many there are of both.
    """
    cells, asked, sizes = tables.cells, tables.asked, tables.sizes
    mine = halves = ops = 0
    for h in range(sizes[1] + 1):
        ranks[0, h] = halves
        if h < _value(state, cells, asked[HALF_LENGTH]) and _value(state, cells, asked[OWNER] + h) == t:
            mine |= 1 << h
            own[0, halves] = h
            halves += 1
    for o in range(sizes[2] + 1):
        ranks[1, o] = ops
        if o < _value(state, cells, asked[OP_LENGTH]) and _value(state, cells, asked[NAMES] + o) & mine:
            own[1, ops] = o
            ops += 1
    return mine, halves, ops


@cached_njit
def _converted(value: int, kind: int, own: Words, count: int, ranks: Words, length: int, low: int) -> int:
    """A place, a position or a set of places, as one transaction numbers them: 0, 1 or 2."""
    if kind == 2:
        bits = 0
        for i in range(count):
            bits |= (value >> own[i] & 1) << i
        return bits
    if kind == 1:
        position: int = ranks[min(value, length)] + max(value - length, 0)
        return position
    place: int = ranks[value] if value >= 0 and ranks[value] < ranks[value + 1] else min(value, low)
    return place


@cached_njit
def _project(states: Words, tables: Tables, lowest: Words, found: Words) -> None:
    """The projections of states on all of their transactions."""
    fields, cells, asked = tables.fields, tables.cells, tables.asked
    most = max(tables.sizes[1], tables.sizes[2]) + 1
    own, ranks, counts = np.empty((2, most), np.int64), np.empty((2, most), np.int64), np.empty(4, np.int64)
    for x in range(states.shape[0]):
        state = states[x]
        lengths = _value(state, cells, asked[HALF_LENGTH]), _value(state, cells, asked[OP_LENGTH])
        for t in range(tables.sizes[0]):
            mine, counts[OF_HALF], counts[OF_OP] = _places(state, tables, t, own, ranks)
            counts[PLAIN], counts[OF_TRANSACTION] = 1, 1
            out = found[x, t]
            out[:] = lowest
            for f in range(fields.shape[0]):
                array, place, conversion = fields[f, ARRAY], fields[f, PLACE], fields[f, CONVERSION]
                if conversion == LOWEST or (array != PLAIN and place >= counts[array]):
                    continue
                source = fields[f, SOURCE]
                if array in (OF_HALF, OF_OP):
                    source += own[array - OF_HALF, place]
                elif array == OF_TRANSACTION:
                    source += t
                value = _value(state, cells, source)
                if conversion != SAME:
                    row, kind = divmod(conversion - HALF_INDEX, 3)
                    count = counts[OF_HALF + row]
                    value = _converted(value, kind, own[row], count, ranks[row], lengths[row], fields[f, LOW])
                word, shift = fields[f, WORD], fields[f, SHIFT]
                out[word] = out[word] & ~(fields[f, MASK] << shift) | (value - fields[f, LOW]) << shift
            _mark(state, tables, mine, own[1], counts[OF_OP], ranks[0], out)
        _clear(found[x], fields, tables.blanks, lowest)


@cached_njit
def _mark(state: Words, tables: Tables, mine: int, own: Words, ops: int, ranks: Words, out: Words) -> None:
    """Set what one among others knows: where the round stands, and of a batch or an op message that it shares.

    An op message that others wait for is done as far as the names of this one go.
    """
    cells, asked, marks = tables.cells, tables.asked, tables.marks
    is_running, cursor = _value(state, cells, asked[RUNNING]), _value(state, cells, asked[CURSOR])
    if is_running and mine >> cursor & 1:
        out[marks[MET, 0]] |= (ranks[cursor] + 1) << marks[MET, 1]
    if tables.sizes[3]:
        if _value(state, cells, asked[WAITING]) & ~mine:
            out[marks[OTHERS, 0]] |= 1 << marks[OTHERS, 1]
        for i in range(ops):
            unresolved = _value(state, cells, asked[UNRESOLVED] + own[i])
            if is_running and unresolved and not unresolved & mine:
                out[marks[DONE, 0]] |= 1 << (marks[DONE, 1] + i)


@cached_njit
def _clear(states: Words, fields: Words, blanks: Words, lowest: Words) -> None:
    """Set to the lowest what nothing reads."""
    for x in range(states.shape[0]):
        state = states[x]
        for b in range(blanks.shape[0]):
            field, other, most = blanks[b]
            shown = state[fields[other, WORD]] >> fields[other, SHIFT] & fields[other, MASK]
            if other < 0 or shown + fields[other, LOW] <= most:
                word, mask = fields[field, WORD], fields[field, MASK] << fields[field, SHIFT]
                state[word] = state[word] & ~mask | lowest[word] & mask
