"""Invariants of many transactions, a field or two each: what the steps need to be followed by one among others.

Each is a function from the states of a shape to conditions that hold of all that are reached. They are inductive
together in the profile `fixed`, in the quiet world and with crashes (`model_check.any_number.obligations`).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from model_check.symbolic.values import Number, Truth, compared, conjunction, disjunction, known, negation
from spec.language import NONE
from spec.state import Local

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from model_check.any_number.shapes import States


def equivalent(left: Truth, right: Truth) -> Truth:
    """Whether both conditions hold or none."""
    if isinstance(left, bool):
        return right if left else negation(right)
    if isinstance(right, bool):
        return left if right else negation(left)
    return left.eq(right) or left == right


def first_half_is_its_own(s: States) -> Iterator[Truth]:
    """A transaction was sent if it has halves, and its first half is one of them."""
    for t in range(s.constants.transactions):
        first, is_unsent = s.number("transaction.first_half", t), _is(s.number("transaction.local", t), Local.NOT_SENT)
        yield equivalent(_is(first, NONE), is_unsent)
        yield _is_among(first, [NONE, *(h for h, owner in enumerate(s.owners) if owner == t)])
        yield equivalent(is_unsent, t not in s.owners)


def original_is_of_same_transaction(s: States) -> Iterator[Truth]:
    """An original stands before its copy, and is of the same transaction (so that S4.foreign_original never occurs)."""
    for h, owner in enumerate(s.owners):
        before = [k for k in range(h) if s.owners[k] == owner]
        yield _is_among(s.number("half.original", h), [NONE, *before])


def halves_are_stored_in_order(s: States) -> Iterator[Truth]:
    """What stands behind was stored later, and nothing in the future."""
    instants = [s.number("half.stored_at", h) for h in range(len(s.owners))]
    for before, behind in pairwise([*instants, known(s.constants.horizon)]):
        yield _at_most(before, behind)


def removed_by_an_op_that_names_it(s: States) -> Iterator[Truth]:
    """In removeMap, a half stands with an op message that names it."""
    for h in range(len(s.owners)):
        naming = [o for o, name in enumerate(s.names) if name == h]
        yield _is_among(s.number("round.removed_by", h), [NONE, *naming])


def unresolved_is_named(s: States) -> Iterator[Truth]:
    """An op message has yet to be met by halves that it names."""
    for o, name in enumerate(s.names):
        yield from (negation(is_in) for h, is_in in enumerate(s.members("pulled_op.unresolved", o)) if h != name)


def positions_are_in_their_queues(s: States) -> Iterator[Truth]:
    """No position lies beyond the end of its queue."""
    halves, ops = known(len(s.owners)), known(len(s.names))
    for name in ("offsets.half", "saved.half"):
        yield _at_most(s.number(name), halves)
    for name in ("offsets.op", "saved.op", "round.next_op"):
        yield _at_most(s.number(name), ops)
    for o in range(len(s.names)):
        yield _at_most(s.number("op.halves_before", o), halves)


def round_reads_forward(s: States) -> Iterator[Truth]:
    """A round reads op messages from its first on."""
    yield _at_most(s.number("round.first_op"), s.number("round.next_op"))


def round_began_at_op_offset(s: States) -> Iterator[Truth]:
    """The op offset stays where the round began to read."""
    if s.runs:
        yield _equal(s.number("round.first_op"), s.number("offsets.op"))


def done_was_read(s: States) -> Iterator[Truth]:
    """An op message is done if it was read in this round; it is listed twice if it is done."""
    done, twice = s.members("round.done"), s.members("round.done_twice")
    for o in range(s.constants.op_slots):
        yield _implies(done[o], _was_read(s, o))
        yield _implies(twice[o], done[o])


def settled_by_what_was_read(s: States) -> Iterator[Truth]:
    """removeMap, and what is to be met, are of op messages that were read in this round."""
    for o in range(s.constants.op_slots):
        was_read = _was_read(s, o)
        for h in range(len(s.owners)):
            yield _implies(_is(s.number("round.removed_by", h), o), was_read)
            yield _implies(s.members("pulled_op.unresolved", o)[h], was_read)


INVARIANTS: Final = (
    first_half_is_its_own,
    original_is_of_same_transaction,
    halves_are_stored_in_order,
    removed_by_an_op_that_names_it,
    unresolved_is_named,
    positions_are_in_their_queues,
    round_reads_forward,
    round_began_at_op_offset,
    done_was_read,
    settled_by_what_was_read,
)
"""All of them."""


def _is(number: Number, value: int) -> Truth:
    return number.cases.get(value, False)


def _is_among(number: Number, values: Iterable[int]) -> Truth:
    return disjunction(_is(number, value) for value in values)


def _at_most(left: Number, right: Number) -> Truth:
    return compared(lambda a, b: a <= b, left, right)


def _equal(left: Number, right: Number) -> Truth:
    return conjunction(equivalent(_is(left, v), _is(right, v)) for v in sorted({*left.cases, *right.cases}))


def _implies(condition: Truth, consequence: Truth) -> Truth:
    return disjunction((negation(condition), consequence))


def _was_read(s: States, o: int) -> Truth:
    first, behind = s.number("round.first_op"), s.number("round.next_op")
    return conjunction((_at_most(first, known(o)), _at_most(known(o + 1), behind)))
