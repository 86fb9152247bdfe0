"""Kernels of the simulation for ANY number of halves and op messages, with quantifiers over places.

Written by hand, not read from the specification: what `model_check.any_number.obligations` shows for all states of one
size is shown here for queues of any length, of the questions and the writes on which a round is built. The halves of
one transaction are known by their ranks: how many of them stand before a place, and where the i-th of them stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import z3

if TYPE_CHECKING:
    from collections.abc import Iterator

Term = Any  # a Z3 expression

EFFORT: Final = 20_000_000
"""Steps of the solver until it gives up on a kernel; it never takes as long on one that it proves."""

NONE: Final = -1

_INT, _BOOL = z3.IntSort(), z3.BoolSort()

_place, _other, _number, _half, _op = z3.Ints("place other number half op")
_halves, _ops, _cursor, _first_op, _next_op = z3.Ints("halves ops cursor first_op next_op")

_is_own, _is_done, _op_is_own = (z3.Function(name, _INT, _BOOL) for name in ("is_own", "is_done", "op_is_own"))
_original, _left, _checks, _stored_at, _removed_by, _named = (
    z3.Function(name, _INT, _INT) for name in ("original", "left", "checks", "stored_at", "removed_by", "named")
)
_rank, _nth, _op_rank, _nth_op = (z3.Function(name, _INT, _INT) for name in ("rank", "nth", "op_rank", "nth_op"))


@dataclass(frozen=True, slots=True)
class Kernel:
    """Something that holds of queues of any length."""

    name: str
    hypotheses: tuple[Term, ...]
    goal: Term

    def is_proved(self, effort: int = EFFORT) -> bool:
        """Whether the goal follows from the hypotheses; False, too, where the solver gives up."""
        return _answer((*self.hypotheses, z3.Not(self.goal)), effort) == "unsat"

    def can_occur(self, halves: int, ops: int) -> bool:
        """Whether queues of these lengths meet the hypotheses, so that not everything follows from them."""
        return _answer((*self.hypotheses, _halves == halves, _ops == ops), EFFORT) == "sat"


def _answer(formulas: tuple[Term, ...], effort: int) -> str:
    solver = z3.Solver()
    solver.set("random_seed", 1)
    solver.set("rlimit", effort)
    solver.add(*formulas)
    return str(solver.check())


def kernels() -> Iterator[Kernel]:
    """All of them, each with its hypotheses."""
    at_own = (*_QUEUES, *_ROUND, _cursor < _halves, _is_own(_cursor))
    yield from _copies(at_own)
    yield from _putting_back(at_own)
    entry_after = z3.If(_nth(_number) == _cursor, NONE, _removed_by(_nth(_number)))
    is_settled = _removed_by(_cursor) != NONE
    yield Kernel(
        "settling an own half takes its entry, and no other, out of removeMap",
        (*at_own, is_settled, _within(_number, 0, _rank(_halves))),
        _seen_op(entry_after) == z3.If(_number == _rank(_cursor), NONE, _seen_op(_removed_by(_nth(_number)))),
    )
    yield Kernel(
        "what settles an own half is an own op message",
        (*at_own, is_settled),
        z3.And(_op_is_own(_removed_by(_cursor)), _nth_op(_op_rank(_removed_by(_cursor))) == _removed_by(_cursor)),
    )
    yield from _reading()
    position = z3.And(_place >= 0, _place <= _halves)
    yield Kernel(
        "an own half stands before a position if its number is below the position's rank",
        (*_QUEUES, *_ROUND, _within(_half, 0, _halves), _is_own(_half), position),
        (_half < _place) == (_rank(_half) < _rank(_place)),
    )
    started = z3.Int("started")
    yield Kernel(
        "what stands before an old half is old",
        (*_QUEUES, _ORDERED, _cursor < _halves, _stored_at(_cursor) < started, _within(_half, 0, _cursor)),
        _stored_at(_half) < started,
    )


def op_offset(*, exactly: bool = False) -> Kernel:
    """The op offset is never beyond what own op messages allow; that it is `exactly` there is false."""
    end, own_end = z3.Ints("end own_end")
    walked = z3.Implies(_within(_op, _first_op, end), _is_done(_op))
    own_walked = z3.Implies(_within(_number, _op_rank(_first_op), own_end), _is_done(_nth_op(_number)))
    hypotheses = (
        z3.And(_first_op <= end, end <= _ops, z3.Or(end == _ops, z3.Not(_is_done(end)))),
        z3.ForAll([_op], walked, patterns=[_is_done(_op)]),
        z3.And(_op_rank(_first_op) <= own_end, own_end <= _op_rank(_ops)),
        z3.Or(own_end == _op_rank(_ops), z3.Not(_is_done(_nth_op(own_end)))),
        z3.ForAll([_number], own_walked, patterns=[_nth_op(_number)]),
    )
    goal = _op_rank(end) == own_end if exactly else _op_rank(end) <= own_end
    return Kernel("the op offset is not beyond what own op messages allow", (*_QUEUES, *_ROUND, *hypotheses), goal)


def _copies(at_own: tuple[Term, ...]) -> Iterator[Kernel]:
    base, seen_base = _base(_cursor)
    ahead = z3.And(_place > _cursor, _place < _halves, _original(_place) == base)
    seen_original = _seen(_original(_nth(_number)))
    seen_ahead = z3.And(_number > _rank(_cursor), _number < _rank(_halves), seen_original == seen_base)
    rank = _rank(_place)
    as_seen = z3.And(rank > _rank(_cursor), rank < _rank(_halves), _seen(_original(_nth(rank))) == seen_base)
    yield Kernel("a copy ahead of an own half is seen", (*at_own, ahead), as_seen)
    place = _nth(_number)
    as_is = z3.And(place > _cursor, place < _halves, _original(place) == base)
    yield Kernel("a copy that is seen ahead of an own half is one", (*at_own, seen_ahead), as_is)
    same = z3.Exists([_place], ahead) == z3.Exists([_number], seen_ahead)
    yield Kernel("an own half has a copy ahead if one is seen", at_own, same)


def _putting_back(at_own: tuple[Term, ...]) -> Iterator[Kernel]:
    base, seen_base = _base(_cursor)
    new, at = _rank(_halves), _rank(_cursor)
    place = z3.If(_number == new, _halves, _nth(_number))
    original = z3.If(place == _halves, base, _original(place))
    fields = z3.And(
        z3.If(place == _cursor, 1, _left(place))
        == z3.If(_number == at, 1, z3.If(_number == new, _left(_halves), _left(_nth(_number)))),
        _seen(original) == z3.If(_number == new, seen_base, _seen(_original(_nth(_number)))),
        z3.If(place == _halves, _checks(_cursor) + 1, _checks(place))
        == z3.If(_number == new, _checks(_nth(at)) + 1, _checks(_nth(_number))),
    )
    yield Kernel("putting an own half back is seen as that", (*at_own, _number >= 0, _number <= new), fields)
    yield Kernel("passing an own half moves the cursor by one", at_own, _rank(_cursor + 1) == at + 1)
    place = _nth(_number)
    stays = z3.And(
        z3.If(place == _cursor, 1, _left(place)) == _left(place),
        z3.If(place == _halves, base, _original(place)) == _original(place),
        _rank(_cursor + 1) == at,
    )
    at_another = (*_QUEUES, *_ROUND, _cursor < _halves, z3.Not(_is_own(_cursor)), _within(_number, 0, new))
    yield Kernel("putting another's half back changes nothing", at_another, stays)


def _reading() -> Iterator[Kernel]:
    size = z3.Int("size")
    end = z3.If(_next_op + size <= _ops, _next_op + size, _ops)
    yield Kernel(
        "a pull reads the next own op messages, up to one of them",
        (*_QUEUES, *_ROUND, size >= 0, _within(_op, 0, _ops), _op_is_own(_op)),
        _within(_op, _next_op, end) == _within(_op_rank(_op), _op_rank(_next_op), _op_rank(end)),
    )
    at_end = (*_QUEUES, *_ROUND, _next_op >= _ops)
    yield Kernel("at the end of the op queue all own ones were read", at_end, _op_rank(_next_op) == _op_rank(_ops))
    yield op_offset()


def _within(term: Term, first: Term, behind: Term) -> Term:
    return z3.And(first <= term, term < behind)


def _seen(half: Term) -> Term:
    return z3.If(half == NONE, NONE, _rank(half))


def _seen_op(op: Term) -> Term:
    return z3.If(op == NONE, NONE, _op_rank(op))


def _base(half: Term) -> tuple[Term, Term]:
    """The original of a half, or itself, and what the transaction sees as that."""
    original, seen = _original(half), _seen(_original(half))
    return z3.If(original == NONE, half, original), z3.If(seen == NONE, _rank(half), seen)


def _ranks(rank: Term, nth: Term, is_own: Term, length: Term) -> tuple[Term, ...]:
    """What ranks are, of a queue of any length."""
    one_more = z3.Implies(_within(_place, 0, length), rank(_place + 1) == rank(_place) + z3.If(is_own(_place), 1, 0))
    grows = z3.Implies(z3.And(_place >= 0, _place <= _other, _other <= length), rank(_place) <= rank(_other))
    there = z3.Implies(z3.And(_within(_place, 0, length), is_own(_place)), nth(rank(_place)) == _place)
    own = z3.And(_within(nth(_number), 0, length), is_own(nth(_number)), rank(nth(_number)) == _number)
    return (
        length >= 0,
        rank(0) == 0,
        z3.ForAll([_place], one_more, patterns=[is_own(_place)]),
        z3.ForAll([_place, _other], grows, patterns=[z3.MultiPattern(rank(_place), rank(_other))]),
        z3.ForAll([_place], there, patterns=[is_own(_place)]),
        z3.ForAll([_number], z3.Implies(_within(_number, 0, rank(length)), own), patterns=[nth(_number)]),
    )


def _queues() -> tuple[Term, ...]:
    """Both queues; an op message names one half, and is of the transaction of that half."""
    names = z3.Implies(_within(_op, 0, _ops), _within(_named(_op), 0, _halves))
    return (
        *_ranks(_rank, _nth, _is_own, _halves),
        *_ranks(_op_rank, _nth_op, _op_is_own, _ops),
        z3.ForAll([_op], _op_is_own(_op) == _is_own(_named(_op)), patterns=[_op_is_own(_op)]),
        z3.ForAll([_op], names, patterns=[_named(_op)]),
    )


def _round() -> tuple[Term, ...]:
    """A round, an original of the same transaction, and removeMap: as in `model_check.any_number.invariants`."""
    original, removed = _original(_half), _removed_by(_half)
    earlier = z3.And(_within(original, 0, _half), _is_own(original) == _is_own(_half))
    was_read = z3.And(_within(removed, _first_op, _next_op), _named(removed) == _half)
    is_there = _within(_half, 0, _halves)
    return (
        z3.And(_cursor >= 0, _cursor <= _halves, _first_op >= 0, _first_op <= _next_op, _next_op <= _ops),
        z3.ForAll([_half], z3.Implies(z3.And(is_there, original != NONE), earlier), patterns=[original]),
        z3.ForAll([_half], z3.Implies(z3.And(is_there, removed != NONE), was_read), patterns=[removed]),
    )


_QUEUES, _ROUND = _queues(), _round()

_ORDERED = z3.ForAll(
    [_place, _other],
    z3.Implies(z3.And(_place >= 0, _place <= _other, _other < _halves), _stored_at(_place) <= _stored_at(_other)),
    patterns=[z3.MultiPattern(_stored_at(_place), _stored_at(_other))],
)
