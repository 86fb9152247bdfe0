"""Which sums of a configuration's times a run may compare: what a choice of ticks must keep in order.

A run with given outcomes of all comparisons is a system of differences, `later - earlier >= times + strict`, and it has
instants exactly if no cycle of such bounds adds up to more than zero. So ticks may stand for milliseconds if each sum
of times that a cycle can add up, with as many strict steps as it can have, is at most zero in ticks where it is in
milliseconds. The sums are made from the bounds that the rules ask about (`compared_instants`): see docs/broker-conf.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations_with_replacement, permutations, product
from typing import NamedTuple

import numpy as np

from model_check.broker_conf.compared_instants import OWN_IMMUNITY, InstantBound, bounds_of
from spec.constants import FAULTS, SWITCHES, Instance

TIMEOUT = "timeout"
CHECK_INTERVAL = "check interval"
OP_BATCH_INTERVAL = "op batch interval"
ROUND_LIMIT = "round limit"
LOCAL = "local transaction"
CHECKS = "all checks but one"
RESERVED = "reserved time"
IMMUNITY = "immunity"

_NAMES = {
    "timeout": TIMEOUT,
    "check_interval": CHECK_INTERVAL,
    "op_batch_interval": OP_BATCH_INTERVAL,
    "round_limit": ROUND_LIMIT,
    "reserved_time": RESERVED,
    "local_limit": LOCAL,
    "checks_time": CHECKS,
}
"""Constant of the instance → what the time is called."""

BIRTH = "half.born_at"
ROUND_END = "round_ended_at"
ROUND_START = "round.started_at"
BATCH = ("batch.written_at", "batch.waiting_since")

_WHY = {
    TIMEOUT: ("a half is old", "a half is young, or its END_TRANSACTION in time"),
    IMMUNITY: ("a half is old", "a half is young, or its END_TRANSACTION in time"),
    LOCAL: ("a local transaction is over", "a local transaction runs"),
    RESERVED: ("a half is too old to be kept", "a half is not too old to be kept"),
    CHECKS: ("all checks are used up", "checks are left"),
    CHECK_INTERVAL: ("the next round comes", "no round comes"),
    OP_BATCH_INTERVAL: ("the op batch is written", "an op waits for the batch"),
    ROUND_LIMIT: ("a round is over its limit", "a round goes on"),
}
"""The meaning of a time as the least distance of two instants, and as the largest."""

MOST_BIRTHS = 2
MOST_LIMITS = 2
"""So many halves, and durations of rounds, are looked at in one cycle."""


@dataclass(frozen=True, slots=True)
class Order:
    """Two sums of named times, and which is the larger in the configuration: coefficients by name."""

    left: tuple[tuple[int, str], ...]
    right: tuple[tuple[int, str], ...]
    sign: int
    """Of left less right."""
    why: str
    """The rules of the specification that compare them, in words."""

    def __str__(self) -> str:
        relation = {-1: "<", 0: "=", 1: ">"}[self.sign]
        return f"{_show(self.left)} {relation} {_show(self.right)}"


class Sums(NamedTuple):
    """Sums that cycles add up."""

    names: tuple[str, ...]
    """Of the times."""
    factors: np.ndarray
    """Of the times, int (sums, names)."""
    strict: np.ndarray
    """How many strict steps there may be besides, int (sums,)."""
    is_short: np.ndarray
    """Whether it adds up no more than a user would compare, bool (sums,): an age to each side, two op batch intervals,
    one round or all."""


class _SumPart(NamedTuple):
    """A sum of some bounds, all from above or all from below."""

    factors: tuple[int, ...]
    """Of the times."""
    strict: int = 0
    """Of the bounds that are."""
    ages: tuple[int, ...] = ()
    """Which ages, by number."""
    written: int = 0
    """How many bounds have to do with when the op batch was written last."""
    waiting: int = 0
    """How many have to do with how long an op waits."""
    limits: int = 0
    """How many with the duration of a round."""

    def and_also(self, other: _SumPart) -> _SumPart:
        """The sum of both."""
        factors = tuple(one + another for one, another in zip(self.factors, other.factors, strict=True))
        return _SumPart(
            factors,
            self.strict + other.strict,
            self.ages + other.ages,
            self.written + other.written,
            self.waiting + other.waiting,
            self.limits + other.limits,
        )


def compared(real: Mapping[str, int], on: Iterable[str], sizes: Instance) -> Sums:
    """All sums of times that a cycle may add up.

    `real` has each time by its name, in milliseconds; `on` names the switches and faults that are on; of the sizes the
    numbers of transactions, halves and op messages count.
    """
    active = frozenset(on) & {*SWITCHES, *FAULTS}
    bounds = bounds_of(active, may_be_over_age=RESERVED in real, is_limited=LOCAL in real)
    return _Cycles(real, active, sizes, bounds).sums()


class _Cycles:
    """The cycles of one configuration in one instance: ways forward in time, and ways back."""

    def __init__(
        self, real: Mapping[str, int], on: frozenset[str], sizes: Instance, bounds: Iterable[InstantBound]
    ) -> None:
        self.names = tuple(real)
        self.values = np.array([real[name] for name in self.names])
        self.interval = self.names.index(CHECK_INTERVAL)
        rounds_take_time = "slow_round" in on or sizes.endless == 1
        self.bounds = [
            bound for bound in bounds if bound.times and (rounds_take_time or ROUND_START not in bound.references)
        ]
        births = sizes.half_slots if "ages_from_storing" in on else sizes.transactions * (1 + ("twin_send" in on))
        self.births = min(births, MOST_BIRTHS)
        self.most_ways = 2 if births == 1 else 1
        self.op_slots = sizes.op_slots
        self.most_rounds = sizes.half_slots - sizes.transactions + 1

    def sums(self) -> Sums:
        """Every way forward with every way back, and so many rounds on it."""
        lowers, uppers = self._parts(is_upper=False), self._parts(is_upper=True)
        forward = np.array([part.factors for part in lowers])
        outlasts = forward @ self.values + 1 > self.values[self.interval]
        counts = np.array([[len(part.ages), part.written, part.waiting, part.limits] for part in lowers])
        batch = self.values[self.names.index(OP_BATCH_INTERVAL)]
        batch_outlasts = (counts[:, 1] + counts[:, 2]) * batch + 1 > self.values[self.interval]
        checks = self.names.index(CHECKS) if CHECKS in self.names else None
        has_checks = np.array([checks in part.ages for part in lowers])
        most_steps = self.births + counts[:, 2] + counts[:, 3]
        passes_alone = self._pairs_of_ages(lowers, uppers)
        rows = [self._between_rounds(forward, counts), self._of_times_alone()]
        for upper in uppers:
            waits = upper.written + upper.waiting
            ways = max(1, len(upper.ages) + upper.limits + (waits > 0))
            if len(upper.ages) > self.most_ways or upper.limits > self.most_ways:
                continue
            within = self.births - len(upper.ages) + counts[:, 3] + np.where(batch_outlasts, counts[:, 2], 0)
            steps = upper.strict + np.minimum(ways + np.where(outlasts, within, 0), most_steps)
            if self.births > 1:
                steps = np.full(len(lowers), upper.strict + 1)
            windows = counts[:, 1] + upper.waiting + np.maximum(counts[:, 2], upper.written)
            is_cycle = (windows <= self.op_slots) & passes_alone[upper.ages]
            is_cycle &= outlasts | (counts[:, 0] <= min(ways, self.most_ways))
            is_plain = (len(upper.ages) <= 1) & (waits + counts[:, 2] <= 1) & (counts[:, 0] <= 1)
            is_plain &= upper.limits + counts[:, 3] <= 1
            is_plain &= ~has_checks | (counts.sum(axis=1) + waits + upper.limits == 1)
            for count in range(self.most_rounds + 1):
                factors = forward + np.array(upper.factors)
                factors[:, self.interval] += count
                is_short = is_plain & ((count <= 1) | (counts.sum(axis=1) + waits == 0))
                rows.append(Sums(self.names, *(column[is_cycle] for column in (factors, steps, is_short))))
        return Sums(self.names, *(np.concatenate([row[column] for row in rows]) for column in (1, 2, 3)))

    def _parts(self, *, is_upper: bool) -> list[_SumPart]:
        """The sums of so many bounds of each kind as a cycle can have, all from above or all from below."""
        none = _SumPart((0,) * len(self.names))
        kinds: list[dict[tuple[int, ...], int]] = [{}, {}, {}, {}]
        for bound in self.bounds:
            if bound.references and bound.is_upper == is_upper and ROUND_END not in bound.references:
                kind = _KINDS.get(bound.references[0], 3) if BIRTH not in bound.references else 0
                for factors in self._factors(bound):
                    kinds[kind][factors] = max(kinds[kind].get(factors, 0), bound.strict)
        each = [
            [
                _SumPart(
                    factors,
                    strict if is_upper else 0,
                    (next(place for place, factor in enumerate(factors) if factor),) if kind == 0 else (),
                    *(int(kind == one) for one in (1, 2, 3)),
                )
                for factors, strict in kinds[kind].items()
            ]
            for kind in range(4)
        ]
        most = (self.births, self.op_slots, self.op_slots, MOST_LIMITS)
        several = [
            [
                reduce(_SumPart.and_also, chosen, none)
                for count in range(many + 1)
                for chosen in combinations_with_replacement(one, count)
            ]
            for one, many in zip(each, most, strict=True)
        ]
        together = (reduce(_SumPart.and_also, chosen, none) for chosen in product(*several))
        return [part for part in together if part.written + part.waiting <= self.op_slots]

    def _pairs_of_ages(
        self, lowers: Sequence[_SumPart], uppers: Sequence[_SumPart]
    ) -> dict[tuple[int, ...], np.ndarray]:
        """For the ages that lead back, which ways forward can go on from their births.

        Not one that goes on by the age by which it came: it is young at one round and old at another, and those are a
        check interval apart.
        """
        found = {}
        for back in {upper.ages for upper in uppers}:
            births = [*back, *(None for _ in range(self.births - len(back)))]
            places = [permutations(births, len(part.ages)) for part in lowers]
            found[back] = np.array(
                [
                    any(all(one != other for one, other in zip(part.ages, births, strict=True)) for births in some)
                    for part, some in zip(lowers, places, strict=True)
                ]
            )
        return found

    def _between_rounds(self, forward: np.ndarray, counts: np.ndarray) -> Sums:
        """Sums that last no longer than the check interval, be it by a step: two rounds are farther apart than that."""
        chosen = forward[(counts.sum(axis=1) > 0) & (counts[:, 0] <= 1)]
        chosen[:, self.interval] -= 1
        ones = np.ones(len(chosen), dtype=int)
        checks = chosen[:, self.names.index(CHECKS)] if CHECKS in self.names else 0 * ones
        return Sums(self.names, chosen, ones, checks == 0)

    def _of_times_alone(self) -> Sums:
        """Times that a rule compares with each other: the outcome is that of the configuration, either way."""
        signed = [
            (factors, sign, bound.strict)
            for bound in self.bounds
            if not bound.references
            for factors in self._factors(bound)
            for sign in (1, -1)
        ]
        factors = np.array([[sign * one for one in some] for some, sign, _ in signed], dtype=int)
        strict = np.array([step if sign > 0 else 1 - step for _, sign, step in signed], dtype=int)
        return Sums(self.names, factors.reshape(len(signed), len(self.names)), strict, strict < 0)

    def _factors(self, bound: InstantBound) -> list[tuple[int, ...]]:
        """The factors of the configuration's times in a bound, once for each immunity if it names one."""
        found = [(0,) * len(self.names)]
        for constant, factor in bound.times:
            wanted = IMMUNITY if constant == OWN_IMMUNITY else _NAMES[constant]
            places = [place for place, name in enumerate(self.names) if name.startswith(wanted)]
            found = [(*one[:place], one[place] + factor, *one[place + 1 :]) for one in found for place in places]
        return found


_KINDS = {BATCH[0]: 1, BATCH[1]: 2}


def orders_of(sums: Sums, values: Mapping[str, int]) -> list[Order]:
    """The short ones of the sums in words, each once."""
    found = {}
    for factors in sums.factors[sums.is_short]:
        left = tuple((int(f), name) for f, name in zip(factors, sums.names, strict=True) if f > 0)
        right = tuple((-int(f), name) for f, name in zip(factors, sums.names, strict=True) if f < 0)
        if left and right:
            difference = sum(int(f) * values[name] for f, name in zip(factors, sums.names, strict=True))
            found[left, right] = Order(left, right, (difference > 0) - (difference < 0), _why(left, right))
    return list(found.values())


def _why(left: tuple[tuple[int, str], ...], right: tuple[tuple[int, str], ...]) -> str:
    def words(terms: tuple[tuple[int, str], ...], column: int) -> str:
        times = (IMMUNITY if name.startswith(IMMUNITY) else name for _, name in terms)
        return " and ".join(dict.fromkeys(_WHY[time][column] for time in times))

    return f"whether {words(left, 0)} while {words(right, 1)}"


def _show(terms: tuple[tuple[int, str], ...]) -> str:
    return " + ".join(name if factor == 1 else f"{factor} × {name}" for factor, name in terms)
