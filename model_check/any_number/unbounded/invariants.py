"""Invariants of any number of transactions: those of `model_check.any_number.invariants`, for queues of any length.

They hold initially, and each step of 4.9.7 and `fixed` preserves them, with any of the faults of
`model_check.any_number.unbounded.proofs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import z3

from model_check.any_number.shapes import LEFT_OUT
from model_check.any_number.unbounded.formulas import (
    Number,
    PlaceSet,
    Truth,
    Value,
    conjunction,
    disjunction,
    equal,
    for_all,
    formula,
    implied,
    negation,
    same,
    within,
)
from model_check.any_number.unbounded.states import Many, Slots, is_constant, lowest
from spec import language
from spec.language import NONE, Slot
from spec.state import Kind, Local, Pull

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Claim:
    """That something holds of a state, whatever the variables are."""

    name: str
    variables: tuple[Any, ...]
    body: Truth
    """What is to be shown, of variables of which nothing is known."""
    reads: tuple[Any, ...] = ()
    """The terms at which a solver uses it, all of them; where arrays are read at the variable, if none is given."""

    def assumed(self) -> Truth:
        """The claim as a hypothesis."""
        if self.body is True:
            return True
        if len(self.variables) < 2:
            return for_all(self.variables[0], self.body, self.reads) if self.variables else self.body
        return z3.ForAll(list(self.variables), formula(self.body), patterns=[z3.MultiPattern(*self.reads)])


def invariants(many: Many, slots: Slots, constants: Mapping[str, Number]) -> Iterator[Claim]:
    """All of them, of some states."""
    yield from _of_halves(many)
    yield from _of_positions(many, constants)
    yield from _of_a_round(many)
    yield from _of_what_is_stored(many, constants)
    yield from _of_empty_places(many, slots)


def _of_halves(many: Many) -> Iterator[Claim]:
    s, halves, now = many.fields, many.halves.length, many.fields["now",]
    h, k, o, t = z3.Ints("h k o t")
    is_half, is_op = within(0, h, halves), within(0, o, many.ops.length)
    owner, local, first = s["half", "transaction"], s["transaction", "local"], s["transaction", "first_half"]
    is_its_own = z3.And(within(0, first(t), halves), owner(first(t)) == t)
    is_sent = z3.If(local(t) == Local.NOT_SENT, first(t) == NONE, is_its_own)
    yield Claim("first_half_is_its_own", (t,), is_sent)
    yield Claim("first_half_is_its_own", (h,), implied(is_half, local(owner(h)) != Local.NOT_SENT), (local(owner(h)),))
    original, stored, born = s["half", "original"](h), s["half", "stored_at"], s["op", "born_at"](o)
    earlier = z3.And(within(0, original, h), owner(original) == owner(h))
    is_earlier = implied(is_half, z3.Or(original == NONE, earlier))
    yield Claim("original_is_of_same_transaction", (h,), is_earlier, (original,))
    in_order = implied(z3.And(h >= 0, h <= k, k < halves), stored(h) <= stored(k))
    yield Claim("halves_are_stored_in_order", (h, k), in_order, (stored(h), stored(k)))
    yield Claim("halves_are_stored_in_order", (h,), implied(is_half, stored(h) <= now))
    named = within(0, many.named(o), halves)
    yield Claim("op_message_names_a_half", (o,), implied(is_op, named), (many.named(o),))
    yield Claim("op_message_is_not_of_the_future", (o,), implied(is_op, born <= now))


def _of_positions(many: Many, constants: Mapping[str, Number]) -> Iterator[Claim]:
    s, halves, ops, o = many.fields, many.halves.length, many.ops.length, z3.Int("o")
    name = "positions_are_in_their_queues"
    positions = [(s["offsets", "half"], halves), (s["saved", "half"], halves), (s["round", "cursor"], halves)]
    positions += [(s["offsets", "op"], ops), (s["saved", "op"], ops), (s["round", "next_op"], ops)]
    positions += [(halves, constants["half_slots"]), (ops, constants["op_slots"])]
    yield from (Claim(name, (), z3.And(position >= 0, position <= length)) for position, length in positions)
    before = s["op", "halves_before"](o)
    yield Claim(name, (o,), implied(within(0, o, ops), z3.And(before >= 0, before <= halves)))


def _of_a_round(many: Many) -> Iterator[Claim]:
    s, ops, h, o = many.fields, many.ops.length, z3.Int("h"), z3.Int("o")
    running, first, behind = s["round", "running"], s["round", "first_op"], s["round", "next_op"]
    yield Claim("round_takes_no_time", (), implied(running, s["round", "started_at"] == s["now",]))
    yield Claim("round_reads_forward", (), z3.And(first >= 0, first <= behind))
    yield Claim("round_began_at_op_offset", (), implied(running, first == s["offsets", "op"]))
    removed = s["round", "removed_by"](h)
    names_it = z3.And(within(0, removed, ops), many.named(removed) == h)
    yield Claim("removed_by_an_op_that_names_it", (h,), implied(removed != NONE, names_it))
    yield Claim("settled_by_what_was_read", (h,), implied(removed != NONE, within(first, removed, behind)))
    for member, condition in s["pulled_op", "unresolved"](o).listed:
        is_named = conjunction((within(0, o, ops), same(member, many.named(o))))
        yield Claim("unresolved_is_named", (o,), implied(condition, is_named))
        yield Claim("settled_by_what_was_read", (o,), implied(condition, within(first, o, behind)))
    done, twice = s["round", "done"].has(o), s["round", "done_twice"].has(o)
    yield Claim("done_was_read", (o,), implied(done, within(first, o, behind)))
    yield Claim("done_was_read", (o,), implied(twice, done))


def _of_what_is_stored(many: Many, constants: Mapping[str, Number]) -> Iterator[Claim]:
    s, t, o = many.fields, z3.Int("t"), z3.Int("o")
    kind, undecodable, last_pull = s["transaction", "kind"](t), s["op", "undecodable"](o), s["round", "last_pull"]
    name = "only_faults_spoil_what_is_stored"
    yield Claim(name, (t,), implied(equal(kind, Kind.POISON), constants["put_failure"]))
    yield Claim(name, (t,), implied(equal(kind, Kind.UNDECODABLE), constants["undecodable_half"]))
    yield Claim(name, (o,), implied(undecodable, constants["undecodable_op"]))
    yield Claim(name, (), implied(equal(last_pull, Pull.UNREADABLE), constants["undecodable_op"]))


def _of_empty_places(many: Many, slots: Slots) -> Iterator[Claim]:
    """What is not there is at its lowest, an enumeration has no other value, and no fault has touched anything."""
    place, running = z3.Int("place"), many.fields["round", "running"]
    for path, slot in slots.items():
        value, queue = many.fields[path], many.queues.get(slot.array)
        if path in LEFT_OUT or slot.kind is language.Kind.CLOCK:
            continue
        variables = () if slot.array is None and not isinstance(value, PlaceSet) else (place,)
        value = value(place) if slot.array is not None else value
        if is_constant(slot):
            yield Claim("no_other_fault", variables, _is_lowest(slot, value, place))
        elif path[0] in ("round", "pulled_op"):
            yield Claim("nothing_without_a_round", variables, disjunction((running, _is_lowest(slot, value, place))))
        elif queue is not None and path != ("op", "names"):
            is_behind = place >= queue.length
            yield Claim("nothing_behind_the_end", variables, implied(is_behind, _is_lowest(slot, value, place)))
        if slot.choices is not None and not is_constant(slot):
            yield Claim("enumerations", variables, within(slot.low, value, slot.high + 1))


def _is_lowest(slot: Slot, value: Value, place: Number) -> Truth:
    if not isinstance(value, PlaceSet):
        return equal(value, lowest(slot))
    listed = ((place, value.has(place)),) if value.listed is None else value.listed
    return negation(disjunction(condition for _, condition in listed))
