"""Which sums of a configuration's times the specification compares: what a choice of ticks must keep in order.

A guard compares the difference of two instants with one time; a path adds such differences up. Of two sums that a
comparison names, the ticks have the same one larger, or both equal, as the milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

AGE = "an age"
OTHER_AGE = "another age"
IMMUNITY = "an immunity"
TIMEOUT = "timeout"
CHECK_INTERVAL = "check interval"
OP_BATCH_INTERVAL = "op batch interval"
ROUND_LIMIT = "round limit"
LOCAL = "local transaction"
RESERVED = "reserved time"
CHECK_MAX = "check max"
ALL_BUT_ONE_CHECK = "check max less one"

Sum = tuple[tuple[int | str, str], ...]
"""Terms: a factor, which may be `CHECK_MAX` or `ALL_BUT_ONE_CHECK`, and the name of a time or of a group of times."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sums whose order is kept.

    Attributes
    ----------
    left, right : Sum
    why : str
        What in the specification compares them.
    needs : str or None
        The switch or fault without which nothing does.
    """

    left: Sum
    right: Sum
    why: str
    needs: str | None = None


COMPARED = (
    Comparison(((1, AGE),), ((1, OTHER_AGE),), "which half is old first; when an END_TRANSACTION is late"),
    Comparison(((1, CHECK_INTERVAL),), ((1, AGE),), "whether a round must come while a half is young"),
    Comparison(((CHECK_MAX, CHECK_INTERVAL),), ((1, IMMUNITY),), "whether immune rounds use up all checks (A09)"),
    Comparison(((ALL_BUT_ONE_CHECK, CHECK_INTERVAL),), ((1, IMMUNITY),), "the same, from the first of these rounds on"),
    Comparison(((1, AGE),), ((1, RESERVED),), "whether a half is old before it is too old to be kept (B45)"),
    Comparison(((1, CHECK_INTERVAL),), ((1, RESERVED),), "whether a round must come before a half is too old"),
    Comparison(((CHECK_MAX, CHECK_INTERVAL),), ((1, RESERVED),), "whether a half has all its checks before"),
    Comparison(((ALL_BUT_ONE_CHECK, CHECK_INTERVAL),), ((1, RESERVED),), "the same, from the first check on"),
    Comparison(
        ((1, AGE), (CHECK_MAX, CHECK_INTERVAL)), ((1, RESERVED),), "the same, where the first check is when it is old"
    ),
    Comparison(
        ((1, OP_BATCH_INTERVAL),), ((1, AGE),), "whether an op is written before its half is old", "batches_ops"
    ),
    Comparison(((2, OP_BATCH_INTERVAL),), ((1, AGE),), "the same, when the batch thread just slept", "batches_ops"),
    Comparison(
        ((1, AGE), (1, OP_BATCH_INTERVAL)),
        ((1, OTHER_AGE),),
        "whether the op of an END_TRANSACTION at one age is written before another",
        "batches_ops",
    ),
    Comparison(
        ((1, AGE), (2, OP_BATCH_INTERVAL)),
        ((1, OTHER_AGE),),
        "the same, when the batch thread just slept (B05, A16)",
        "batches_ops",
    ),
    Comparison(
        ((1, OP_BATCH_INTERVAL),), ((1, CHECK_INTERVAL),), "whether each round sees new ops", needs="batches_ops"
    ),
    Comparison(
        ((2, OP_BATCH_INTERVAL),), ((1, CHECK_INTERVAL),), "the same, when the batch thread just slept", "batches_ops"
    ),
    Comparison(
        ((1, AGE), (1, OP_BATCH_INTERVAL)),
        ((1, CHECK_INTERVAL),),
        "whether the op of an END_TRANSACTION at an age is written before the next round",
        "batches_ops",
    ),
    Comparison(
        ((1, AGE), (2, OP_BATCH_INTERVAL)),
        ((1, CHECK_INTERVAL),),
        "the same, when the batch thread just slept",
        "batches_ops",
    ),
    Comparison(((1, ROUND_LIMIT),), ((1, AGE),), "whether halves grow old, or ops late, within a round", "slow_round"),
    Comparison(((1, ROUND_LIMIT),), ((1, CHECK_INTERVAL),), "whether a round outlasts the interval", "slow_round"),
)
"""Every comparison, over the groups `AGE` (the timeout, each immunity, the limit) and `IMMUNITY`."""


@dataclass(frozen=True, slots=True)
class Order:
    """A comparison of two sums of named times: coefficients by name, and which is the larger in the configuration."""

    left: tuple[tuple[int, str], ...]
    right: tuple[tuple[int, str], ...]
    sign: int
    why: str

    def __str__(self) -> str:
        relation = {-1: "<", 0: "=", 1: ">"}[self.sign]
        return f"{_show(self.left)} {relation} {_show(self.right)}"


def orders(
    real: Mapping[str, int], check_max: tuple[int, int], on: Iterable[str]
) -> list[tuple[Order, tuple[tuple[int, str], ...]]]:
    """The comparisons of a configuration, each with its left sum as it is written for ticks.

    Parameters
    ----------
    real
        Each time by its name, in milliseconds.
    check_max
        `transactionCheckMax` of the configuration, and of the instance of ticks.
    on
        Names of the switches and faults that are on.
    """
    active = set(on)
    found: dict[tuple[object, ...], tuple[Order, tuple[tuple[int, str], ...]]] = {}
    for comparison in COMPARED:
        if comparison.needs is not None and comparison.needs not in active:
            continue
        if any(factor == ALL_BUT_ONE_CHECK for factor, _ in comparison.left) and (
            check_max[1] == 1 or 2 == check_max[1] < check_max[0]
        ):
            continue  # one interval cannot stand for itself and for many
        for named in _bindings(comparison, real):
            left = _bound(comparison.left, named, check_max[0])
            right = _bound(comparison.right, named, check_max[0])
            if any(name not in real for _, name in left + right):
                continue
            difference = _value(left, real) - _value(right, real)
            sign = (difference > 0) - (difference < 0)
            found.setdefault(
                (left, right), (Order(left, right, sign, comparison.why), _bound(comparison.left, named, check_max[1]))
            )
    return list(found.values())


def _bindings(comparison: Comparison, real: Mapping[str, int]) -> list[dict[str, str]]:
    names = {name for _, name in comparison.left + comparison.right}
    immunities = [name for name in real if name.startswith("immunity")]
    ages = [name for name in (TIMEOUT, *immunities, LOCAL) if name in real]
    if OTHER_AGE in names:
        is_symmetric = len(comparison.left) == 1
        return [
            {AGE: one, OTHER_AGE: other}
            for i, one in enumerate(ages)
            for j, other in enumerate(ages)
            if (i < j if is_symmetric else i != j)
        ]
    if AGE in names:
        return [{AGE: one} for one in ages]
    if IMMUNITY in names:
        return [{IMMUNITY: one} for one in immunities]
    return [{}]


def _bound(terms: Sum, named: Mapping[str, str], check_max: int) -> tuple[tuple[int, str], ...]:
    numbers = {CHECK_MAX: check_max, ALL_BUT_ONE_CHECK: check_max - 1}
    return tuple(
        (factor if isinstance(factor, int) else numbers[factor], named.get(name, name)) for factor, name in terms
    )


def _value(terms: Iterable[tuple[int, str]], real: Mapping[str, int]) -> int:
    return sum(factor * real[name] for factor, name in terms)


def _show(terms: tuple[tuple[int, str], ...]) -> str:
    return " + ".join(name if factor == 1 else f"{factor} × {name}" for factor, name in terms)
