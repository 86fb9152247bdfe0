"""States of any number of transactions, with queues of any length, and what one of the transactions sees of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import z3

from model_check.any_number.shapes import AT_REST, LEFT_OUT, NEVER_FILLED
from model_check.any_number.unbounded.formulas import (
    BOOL,
    INT,
    Field,
    Number,
    Path,
    PlaceSet,
    State,
    Truth,
    Value,
    choice,
    conjunction,
    for_all,
    formula,
    reads_at,
    within,
)
from model_check.any_number.unbounded.values import LONG_AGO
from model_check.any_number.views import MET, OF_OTHERS
from spec.language import Kind, Slot, slots_of_fields

if TYPE_CHECKING:
    from spec.constants import Constants
    from spec.language import Machine

Slots = dict[Path, Slot]
"""Of each field the slot; of an array, that of its first place."""

TRACKED: Final = z3.Int("tracked")
"""The transaction that is looked at."""

_NAMED: Final = z3.Function("named", INT, INT)
"""The half that an op message names."""


def slots_of(machine: Machine, constants: Constants) -> Slots:
    """The slots of a machine's fields."""
    return {path: slots[0] for path, slots in slots_of_fields(machine.state, constants) if slots}


def lowest(slot: Slot) -> Value:
    """The value of a field of which nothing is there."""
    if slot.kind is Kind.BITS:
        return PlaceSet.of()
    if slot.kind is Kind.INSTANT:
        return LONG_AGO
    return False if slot.kind is Kind.FLAG else slot.low


def is_constant(slot: Slot) -> bool:
    """Whether a field has one value only, in the instance or as long as no other fault is asked for."""
    is_single = slot.low == slot.high and slot.kind is not Kind.CLOCK and slot.places is None
    return is_single or slot.path[0] in AT_REST or slot.path in NEVER_FILLED


def _anything(slot: Slot) -> Field:
    """A field of which nothing is known; an op message names one half, and has none to meet but that."""
    name, sort = ".".join(slot.path), BOOL if slot.kind is Kind.FLAG else INT
    if slot.path == ("op", "names"):
        return lambda o: PlaceSet.of([(_NAMED(o), True)])
    if slot.path == ("pulled_op", "unresolved"):
        is_open = z3.Function("is_open", INT, BOOL)
        return lambda o: PlaceSet.of([(_NAMED(o), is_open(o))])
    if is_constant(slot):
        return lowest(slot) if slot.array is None else lambda _: lowest(slot)
    if slot.kind is Kind.BITS:
        return PlaceSet(z3.Function(name, INT, BOOL))
    return z3.Const(name, sort) if slot.array is None else z3.Function(name, INT, sort)


@dataclass(frozen=True, slots=True)
class Queue:
    """The places of a queue that are the tracked transaction's own, in their order."""

    length: Number
    is_own: Callable[[Number], Truth]
    rank: Callable[[Number], Number]
    """How many of its own stand before a position."""
    nth: Callable[[Number], Number]
    """Where its own with this number stands; the end of the queue where there is none."""

    @classmethod
    def of(cls, name: str, length: Number, is_own: Callable[[Number], Truth]) -> Queue:
        """One of which nothing else is known."""
        rank, nth = (z3.Function(f"{name}.{what}", INT, INT) for what in ("rank", "nth"))
        return cls(length, is_own, rank, nth)

    def grown(self, length: Number, is_own: Callable[[Number], Truth]) -> Queue:
        """The queue with one message more, or none, at its end."""
        count, end = self.count, self.length
        added = z3.If(formula(is_own(end)), 1, 0)
        return Queue(
            length,
            is_own,
            lambda position: z3.If(position <= end, self.rank(position), count + added),
            lambda number: z3.If(number < count, self.nth(number), end),
        )

    @property
    def count(self) -> Number:
        """How many are its own."""
        return self.rank(self.length)

    def has(self, place: Number) -> Truth:
        """Whether one of its own stands at a place."""
        return conjunction((within(0, place, self.length), self.is_own(place)))

    def laws(self) -> Iterator[Truth]:
        """What ranks are; true of each finite queue (`tests/model_check/any_number/unbounded/test_laws.py`)."""
        place, other, number = z3.Ints("place other number")
        rank, nth, own = self.rank, self.nth, formula(self.is_own(place))
        one_more = z3.If(own, 1, 0)
        yield self.length >= 0
        yield rank(0) == 0
        is_position = z3.And(place >= 0, place <= self.length)
        yield for_all(place, z3.Implies(is_position, z3.And(rank(place) >= 0, rank(place) <= place)), [rank(place)])
        in_order = z3.And(place >= 0, place < other, other <= self.length)
        is_next = z3.Implies(other == place + 1, rank(other) == rank(place) + one_more)
        at_most = rank(other) <= rank(place) + other - place
        grows = z3.Implies(in_order, z3.And(rank(place) + one_more <= rank(other), at_most, is_next))
        yield z3.ForAll([place, other], grows, patterns=[z3.MultiPattern(rank(place), rank(other))])
        is_own = z3.And(within(0, place, self.length), own)
        yield for_all(place, z3.Implies(is_own, nth(rank(place)) == place), reads_at(place, own))
        there = z3.And(
            within(0, nth(number), self.length), formula(self.is_own(nth(number))), rank(nth(number)) == number
        )
        found = z3.If(within(0, number, self.count), there, nth(number) == self.length)
        yield for_all(number, z3.And(found, nth(rank(nth(number))) == nth(number)), [nth(number)])


@dataclass(frozen=True, slots=True)
class Many:
    """States of any number of transactions, with the queues as one of these sees them."""

    fields: State
    halves: Queue
    ops: Queue
    named: Callable[[Number], Number]
    """The half that an op message names."""

    @classmethod
    def anything(cls, slots: Slots) -> Many:
        """All states that no other fault has touched."""
        fields = {path: _anything(slot) for path, slot in slots.items()}
        owner = fields["half", "transaction"]
        halves = Queue.of("half", fields["half_length",], lambda h: owner(h) == TRACKED)
        return cls(fields, halves, Queue.of("op", fields["op_length",], lambda o: owner(_NAMED(o)) == TRACKED), _NAMED)

    def after(self, fields: State) -> Many:
        """The states behind a step, which adds one half at most, and one op message."""
        owner, names, halves = fields["half", "transaction"], fields["op", "names"], self.halves
        if fields["half_length",] is not halves.length:
            halves = halves.grown(fields["half_length",], lambda h: owner(h) == TRACKED)
        if fields["op_length",] is self.ops.length:
            return Many(fields, halves, self.ops, self.named)

        def named(o: Number) -> Number:
            (*others, (found, _)) = names(o).listed
            for member, condition in others:
                found = choice(condition, member, found)
            return found

        return Many(fields, halves, self.ops.grown(fields["op_length",], lambda o: owner(named(o)) == TRACKED), named)

    @property
    def queues(self) -> dict[str | None, Queue]:
        """By the constant of the instance that is the capacity."""
        return {"half_slots": self.halves, "op_slots": self.ops}

    def stands_on_its_own(self) -> Truth:
        """Whether a round stands on a half of the tracked transaction."""
        return conjunction((self.fields["round", "running"], self.halves.has(self.fields["round", "cursor"])))


def view(many: Many, slots: Slots) -> State:
    """The states of one among others that the tracked transaction sees; `round.met` is at its lowest."""
    return {path: _seen(many, slot) for path, slot in slots.items()}


def knowing(many: Many, seen: State) -> State:
    """The same, and that the round stands on a half of its own where it does."""
    return {**seen, MET: choice(many.stands_on_its_own(), seen["round", "cursor"] + 1, 0)}


def _seen(many: Many, slot: Slot) -> Field:
    if slot.path in LEFT_OUT or slot.path in OF_OTHERS or slot.places == "transactions":
        return lowest(slot) if slot.array is None else lambda _: lowest(slot)
    source, places = many.fields[slot.path], many.queues.get(slot.places)
    if slot.array is None:
        return _converted(slot, source, places)
    if slot.array == "transactions":
        return lambda _: _converted(slot, source(TRACKED), places)
    array = many.queues[slot.array]
    return lambda i: choice(within(0, i, array.count), _converted(slot, source(array.nth(i)), places), lowest(slot))


def _converted(slot: Slot, value: Value, queue: Queue | None) -> Value:
    """A place, a position or a set of places, as the transaction numbers them."""
    if queue is None:
        return value
    if isinstance(value, PlaceSet):
        if value.listed is not None:
            return PlaceSet.of((queue.rank(m), conjunction((c, queue.has(m)))) for m, c in value.listed)
        return PlaceSet(lambda i: conjunction((within(0, i, queue.count), value.has(queue.nth(i)))))
    return queue.rank(value) if slot.is_position else choice(queue.has(value), queue.rank(value), slot.low)
