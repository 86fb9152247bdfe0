"""A state as one of its transactions sees it: what instances of any size can have in common.

The halves of other transactions are left out, and so are op messages that name none of its own; what is left moves up,
and every place in a queue, index and set is renumbered. So a state of two transactions is seen by each as one of a
world that has no other. The meaning of a number (a place among halves, a set of op messages, …) follows from the range
with which `spec.state` declares it.
"""

from __future__ import annotations

from enum import IntEnum
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from model_check.explicit.code_generation.compile_lock import cached_njit
from model_check.front_end.source import declared_fields
from spec.language import Kind, Slot
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from model_check.explicit.code_generation.compile import Compiled
    from spec.language.fields import Field

Words = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]


class Grain(IntEnum):
    """How much a view tells, from the least to the most."""

    MESSAGES = 0
    """The transaction, its halves, and the broker's role and mishaps."""
    QUEUES = 1
    """Besides, its op messages, the op batch, the round and all offsets."""
    AGES = 2
    """Everything."""


GRAINS: Final = len(Grain)

NUMBER, INSTANT, OTHER, HALF, HALVES_BEFORE, HALVES, OP, OPS_BEFORE, OPS = range(9)
"""The meaning of a field's number. `OTHER` is in no view, as whose it is, or how often the clock stepped."""

ALONE, OF_TRANSACTION, OF_HALF, OF_OP = range(4)
"""The owner of a field."""

_BELONGS: Final = {"transactions": OF_TRANSACTION, "half_slots": OF_HALF, "op_slots": OF_OP}
_MEANS: Final = {"half_slots": (HALF, HALVES_BEFORE, HALVES), "op_slots": (OP, OPS_BEFORE, OPS)}
_OF_MESSAGES: Final = frozenset({"transaction", "half", "mishaps", "stray_ends", "role", "producer"})
_STRANGER: Final = 62  # the half or op message of another transaction, where one is named


class ViewTable(NamedTuple):
    """The fields of a packed state and what they mean; one element a field, but for the last five."""

    words: Words  # where the field lies
    shifts: Hashes
    masks: Hashes
    lows: Words  # the value that 0 stands for; of an instant counted from the clock
    belongs: Words  # to which transaction, half or op message
    places: Words
    means: Words  # one of `NUMBER` … `OPS`
    grains: Words  # the coarsest `Grain` that tells it
    salts: Hashes  # a number for its name, the same in all instances
    transactions: int
    owners: Words  # which fields are the transactions of the halves
    names: Words  # which are the sets of halves that the op messages name
    unreadable: Words  # which say whether these can be decoded
    lengths: Words  # shape (2,): which fields are the lengths of the half and of the op queue


_UNSIGNED: Final = frozenset({"shifts", "masks", "salts"})


def view_table(compiled: Compiled, transactions: int) -> ViewTable:
    """The table of a machine in one instance, which has so many transactions."""
    packing = compiled.packing
    cells = [
        (slot, cell) for slot, cell in zip(packing.slots, packing.cells, strict=True) if slot.kind is not Kind.CLOCK
    ]
    declared = {
        p: (length or field.length, field) for p, field, length in declared_fields(TRANSACTIONAL_MESSAGES.state)
    }
    rows = []
    for slot, (word, shift, mask, low) in cells:
        array, field = declared[slot.path]
        means = _meaning(slot, field)
        base = low - packing.clock if means == INSTANT else low
        salt = int.from_bytes(blake2b(".".join(slot.path).encode(), digest_size=8).digest(), "little")
        grain = Grain.MESSAGES if slot.path[0] in _OF_MESSAGES else Grain.QUEUES
        grain = Grain.AGES if means == INSTANT else grain
        rows.append((word, shift, mask, base, _BELONGS.get(array or "", ALONE), slot.index or 0, means, grain, salt))
    columns: dict[str, Any] = {
        name: np.array(column, dtype=np.uint64 if name in _UNSIGNED else np.int64)
        for name, column in zip(ViewTable._fields, zip(*rows, strict=True), strict=False)
    }

    def numbers(*path: str) -> Words:
        return np.array([i for i, (slot, _) in enumerate(cells) if slot.path == path], dtype=np.int64)

    return ViewTable(
        **columns,
        transactions=transactions,
        owners=numbers("half", "transaction"),
        names=numbers("op", "names"),
        unreadable=numbers("op", "undecodable"),
        lengths=np.concatenate([numbers("half_length"), numbers("op_length")]),
    )


def _meaning(slot: Slot, field: Field) -> int:
    if slot.kind is Kind.INSTANT:
        return INSTANT
    if field.high.constant in {"transactions", "clock_steps"}:
        return OTHER
    if field.high.constant not in _MEANS:
        return NUMBER
    one, before, some = _MEANS[field.high.constant]
    if slot.kind is Kind.BITS:
        return some
    return one if field.high.offset < 0 else before


STRIDE: Final = np.uint64(0x9E3779B97F4A7C15)
_WHOLE: Final = np.uint64(1)  # tells the whole from the view of its only transaction


@cached_njit
def scrambled(z: np.uint64) -> np.uint64:
    """The output function of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint64(z ^ (z >> np.uint64(31)))


@cached_njit
def _bits_of(state: Words, table: ViewTable, field: int) -> np.uint64:
    return np.uint64((np.uint64(state[table.words[field]]) >> table.shifts[field]) & table.masks[field])


@cached_njit
def _rank(members: int, ranks: Words) -> None:
    """How many of a set stand before each place, and before the end."""
    found = 0
    for place in range(ranks.shape[0]):
        ranks[place] = found
        found += members >> place & 1


@cached_njit
def _own_halves(state: Words, transaction: int, table: ViewTable) -> int:
    length = np.int64(_bits_of(state, table, table.lengths[0])) + table.lows[table.lengths[0]]
    members = 0
    for place in range(length):
        field = table.owners[place]
        if np.int64(_bits_of(state, table, field)) + table.lows[field] == transaction:
            members |= 1 << place
    return members


@cached_njit
def _own_ops(state: Words, halves: int, table: ViewTable) -> int:
    """The op messages that name one of these halves, and those that cannot be decoded, which concern everybody."""
    length = np.int64(_bits_of(state, table, table.lengths[1])) + table.lows[table.lengths[1]]
    members = 0
    for place in range(length):
        named = np.int64(_bits_of(state, table, table.names[place])) & halves
        if named != 0 or _bits_of(state, table, table.unreadable[place]) != np.uint64(0):
            members |= 1 << place
    return members


@cached_njit
def _renumbered(value: int, means: int, members: int, ranks: Words) -> int:
    """A place, an index or a set among all halves or op messages as one among the members."""
    if means in (HALVES_BEFORE, OPS_BEFORE):
        return int(ranks[value])
    if means in (HALF, OP):
        if value < 0:
            return value
        return int(ranks[value]) if members >> value & 1 else _STRANGER
    found = 0
    for place in range(ranks.shape[0]):
        if (value & members) >> place & 1:
            found |= 1 << ranks[place]
    return found


@cached_njit
def _add_fields(
    state: Words, transaction: int, table: ViewTable, members: tuple[int, int], ranks: tuple[Words, Words], keys: Hashes
) -> bool:
    """Make the keys of a transaction's views, one a grain, of all fields that these tell; whether it has begun."""
    keys[:] = np.uint64(0)
    has_begun = members[0] != 0
    for field in range(table.words.shape[0]):
        belongs, place, means = table.belongs[field], table.places[field], table.means[field]
        if means == OTHER:
            continue
        if belongs == OF_TRANSACTION:
            if place != transaction:
                continue
            has_begun = has_begun or _bits_of(state, table, field) != np.uint64(0)
            place = 0
        elif belongs in (OF_HALF, OF_OP):
            kind = 0 if belongs == OF_HALF else 1
            if members[kind] >> place & 1 == 0:
                continue
            place = ranks[kind][place] + 1
        stored = _bits_of(state, table, field)
        if stored == np.uint64(0) and means != INSTANT:
            continue
        value = np.int64(stored) + table.lows[field]
        if means in (HALF, HALVES_BEFORE, HALVES):
            value = _renumbered(value, means, members[0], ranks[0])
        elif means in (OP, OPS_BEFORE, OPS):
            value = _renumbered(value, means, members[1], ranks[1])
        if value == table.lows[field] and means != INSTANT:
            continue  # as when nothing is stored
        hashed = scrambled(table.salts[field] + (np.uint64(place << 40) ^ np.uint64(value)) * STRIDE)
        for grain in range(table.grains[field], GRAINS):
            keys[grain] ^= hashed
    return has_begun


@cached_njit
def view_keys(states: Words, table: ViewTable, keys: Hashes) -> None:
    """The hash of each view of each state.

    Parameters
    ----------
    states : array, shape (count, words)
    keys : array, shape (count, transactions + 1, grains)
        Filled; views of different grains have different hashes. Behind the views of the transactions is the whole:
        those of all transactions that have begun, in any order.
    """
    ranks = np.empty(table.owners.shape[0] + 1, np.int64), np.empty(table.names.shape[0] + 1, np.int64)
    key = np.empty(GRAINS, dtype=np.uint64)
    for x in range(states.shape[0]):
        begun = 0
        keys[x] = np.uint64(0)
        for transaction in range(table.transactions):
            halves = _own_halves(states[x], transaction, table)
            ops = _own_ops(states[x], halves, table)
            _rank(halves, ranks[0])
            _rank(ops, ranks[1])
            has_begun = _add_fields(states[x], transaction, table, (halves, ops), ranks, key)
            begun += has_begun
            for grain in range(GRAINS):
                keys[x, transaction, grain] = scrambled(key[grain] + np.uint64(grain + 1) * STRIDE)
                if has_begun or (begun == 0 and transaction == table.transactions - 1):
                    keys[x, table.transactions, grain] += scrambled(keys[x, transaction, grain] + _WHOLE)
