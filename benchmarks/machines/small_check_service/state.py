"""The state of the small check service, and the constants that bound it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from spec.language import (
    Bits,
    MachineState,
    Record,
    bits,
    count,
    flag,
    index,
    maybe_index,
    number,
    one_of,
    record,
    records,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Constants:
    """How large the queues are, and the delays in ticks."""

    transactions: int = 2
    half_slots: int = 3
    op_slots: int = 2
    check_max: int = 2
    timeout: int = 1
    immunities: tuple[int, ...] = (0, 2)  # 0: the message has none of its own
    round_limit: int = 2
    oldest: int = 3  # ages are not told apart from here on

    @property
    def most_immunity(self) -> int:
        """The longest immunity that a message can have."""
        return max(0, *self.immunities)

    @property
    def round_age_cap(self) -> int:
        """From this age on, a round is over its time limit."""
        return self.round_limit + 1


class Phase(IntEnum):
    """What the producer has done and decided."""

    NEW = 0
    SENT = 1
    UNKNOWN = 2
    COMMITTED = 3
    ROLLED_BACK = 4


class End(IntEnum):
    """An END_TRANSACTION under way."""

    NONE = 0
    COMMIT = 1
    ROLLBACK = 2


class Transaction(Record):
    """One message, seen from its producer."""

    phase: Phase = one_of(Phase)
    age: int = count("oldest")
    immunity: int = count("most_immunity")
    delivered: int = number(0, 2)
    discarded: bool = flag()
    end: End = one_of(End)
    first_half: int = index("half_slots")


class Half(Record):
    """One place of the half queue."""

    transaction: int = index("transactions")
    checks: int = count("check_max")
    original: int = maybe_index("half_slots")
    age: int = count("oldest")
    check_in_flight: bool = flag()
    end: End = one_of(End)
    removed_by: int = maybe_index("op_slots")  # the op message of this round that names it


class Op(Record):
    """One place of the op queue."""

    names: Bits = bits("half_slots")
    age: int = count("oldest")
    unresolved: Bits = bits("half_slots")  # named, and not yet passed in this round


class Offsets(Record):
    """Where a round begins to read."""

    half: int = count("half_slots")
    op: int = count("op_slots")


class Round(Record):
    """The memory of the round that runs."""

    running: bool = flag()
    cursor: int = count("half_slots")
    new_half_offset: int = count("half_slots")
    next_op: int = count("op_slots")
    last_pull: int = count("op_slots")  # the end of the last pull that found something; 0 when it found nothing
    done: Bits = bits("op_slots")
    age: int = count("round_age_cap")


class State(MachineState):
    """One state of the machine."""

    transaction: Sequence[Transaction] = records("transactions", Transaction)
    half: Sequence[Half] = records("half_slots", Half)
    half_length: int = count("half_slots")
    op: Sequence[Op] = records("op_slots", Op)
    op_length: int = count("op_slots")
    batch: Bits = bits("half_slots")
    offsets: Offsets = record(Offsets)
    saved: Offsets = record(Offsets)
    round: Round = record(Round)
