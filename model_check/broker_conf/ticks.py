"""The smallest whole numbers of ticks that keep the order of a configuration's times and of their sums."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from files.durations import duration
from model_check.broker_conf.compared_sums import (
    CHECK_INTERVAL,
    CHECKS,
    LOCAL,
    OP_BATCH_INTERVAL,
    RESERVED,
    ROUND_LIMIT,
    TIMEOUT,
    Order,
    Sums,
    compared,
    orders_of,
)
from spec.constants import SWITCHES, Instance
from spec.language import NONE

if TYPE_CHECKING:
    from model_check.configuration import Configuration
    from model_check.world import Environment, Profile

MOST_TICKS = 126
"""No time of an instance is longer."""

NO_TICKS = f"no times of at most {MOST_TICKS} ticks keep the order of all sums that a run may compare"
"""Why what holds in ticks is unknown."""

_MOST_TIMES = 12
"""For more times, none are looked for."""

_AT_ONCE = 12
"""So many of the demands that are missed most are made before the next try."""

_SPOKEN = 3
"""A sentence tells the orders of so many times."""

UNASKED: dict[str, Any] = {"first_checks": (0,), "skews": (0,), "clock_steps": 0, "persist_interval": NONE}
"""Constants that no broker.conf and no option sets: check counts that producers send, clocks that differ or step back.

How soon offsets are saved is asked of schedules only (`timed_path.Habits`): ticks do not count it.
"""

UNASKED_FAULTS = ("clock_skew", "clock_step")
"""The faults that need some of it."""


@dataclass(frozen=True, slots=True)
class Quotient:
    """A configuration in ticks."""

    real_ms: dict[str, int]
    """Each time by its name, in milliseconds."""
    ticks: dict[str, int]
    """The same in ticks."""
    check_max: tuple[int, int]
    """`transactionCheckMax` of the configuration and of the instance of ticks."""
    orders: tuple[Order, ...]
    """The orders of times that the ticks keep."""
    instance: Instance
    """The sizes of the instance that was asked for, with these times."""
    doubt: str = ""
    """Why a clause that holds in ticks may be broken in milliseconds; empty where it can not."""

    def times_in_ticks(self) -> str:
        """The ticks, in words."""
        named = {name for order in self.orders for _, name in order.left + order.right}
        times = ", ".join(f"{name}={count}" for name, count in self.ticks.items() if name in named)
        scaled = ""
        if self.check_max[0] != self.check_max[1]:
            scaled = f" and transactionCheckMax={self.check_max[1]} (really {self.check_max[0]})"
        return f"with {times} in ticks{scaled}"

    def sentence(self) -> str:
        """The orders to which a verdict "holds" is, in a sentence."""
        orders = "; ".join(str(order) for order in self.orders if len(order.left + order.right) <= _SPOKEN)
        return f"{self.times_in_ticks()}: the order of each of these is that of the configuration: {orders}"

    def to_json(self) -> dict[str, Any]:
        """Which ticks stand for which times, and which orders they keep, as plain data."""
        return {
            "milliseconds": self.real_ms,
            "ticks": self.ticks,
            "transactionCheckMax": {"real": self.check_max[0], "scaled": self.check_max[1]},
            "orders": [{"order": str(order), "why": order.why} for order in self.orders],
            "sentence": self.sentence(),
        }


def switched_on(profile: Profile, environment: Environment) -> tuple[str, ...]:
    """The switches of the profile that are on, and the faults."""
    return (*(name for name in SWITCHES if getattr(profile.switches, name)), *environment)


def quotient_of(configuration: Configuration, base: Instance, on: Iterable[str]) -> Quotient:
    """The instance of ticks for a configuration.

    The base gives the sizes, and the times that no setting speaks of. What is not compared without the switches and
    faults that are `on` needs no order.
    """
    real = times_of(configuration)
    check_max = (configuration.check_max, min(configuration.check_max, base.check_max))
    orders: tuple[Order, ...] = ()
    if len(real) > _MOST_TIMES:
        ticks, doubt = _near_ticks(real), f"{NO_TICKS}, or none are looked for among so many times"
    else:
        sums = compared(real, on, base)
        ticks, doubt = _ticks(sums, real)
        orders = tuple(orders_of(sums, real))
    if base.forgets:
        doubt = "an instance that forgets has runs of more rounds than its ticks keep in order"
    instance = replace(
        base,
        name=f"{base.name} with the times of the broker.conf",
        check_max=check_max[1],
        timeout=ticks[TIMEOUT],
        immunities=(NONE, *sorted({count for name, count in ticks.items() if name.startswith("immunity")})),
        check_interval=ticks[CHECK_INTERVAL],
        op_batch_interval=ticks[OP_BATCH_INTERVAL],
        op_batch_size=min(configuration.ops_in_a_batch, base.half_slots + 1),
        round_limit=ticks[ROUND_LIMIT],
        reserved_time=ticks.get(RESERVED, NONE),
        **UNASKED,
    )
    return Quotient(real, ticks, check_max, orders, instance, doubt)


def times_of(configuration: Configuration) -> dict[str, int]:
    """Each time of a configuration by its name in `compared_sums`, in milliseconds."""
    found = {
        TIMEOUT: configuration.timeout_ms,
        CHECK_INTERVAL: configuration.check_interval_ms,
        OP_BATCH_INTERVAL: configuration.op_batch_interval_ms,
        ROUND_LIMIT: configuration.round_limit_ms,
    }
    if configuration.check_max > 1:
        found[CHECKS] = (configuration.check_max - 1) * configuration.check_interval_ms
    for milliseconds in sorted(set(configuration.immunities_ms)):
        found[f"immunity of {duration(milliseconds)}"] = milliseconds
    if configuration.local_ms is not None:
        found[LOCAL] = configuration.local_ms
    if configuration.reserved_ms is not None:
        found[RESERVED] = configuration.reserved_ms
    return found


def smallest_ticks(names: Sequence[str], least: np.ndarray, factors: np.ndarray) -> dict[str, int] | None:
    """Positive numbers with `factors @ numbers >= least`: the largest is as small as can be, then each in turn.

    The names are in the order in which their times are made small; `least` is an int array (sums,), `factors` one of
    (sums, names). None when there are no such numbers up to `MOST_TICKS`.
    """
    import z3

    counts = [z3.Int(name) for name in names]
    largest = z3.Int("largest")
    needed: list[Any] = [largest <= MOST_TICKS, *(z3.And(count >= 1, count <= largest) for count in counts)]
    while True:
        solver = z3.Optimize()
        solver.add(*needed)
        for goal in (largest, *counts):
            solver.minimize(goal)
        if solver.check() != z3.sat:
            return None
        model = solver.model()
        found = np.array([model.eval(count, model_completion=True).as_long() for count in counts])
        missing = least - factors @ found
        wanting = [row for row in np.argsort(-missing, kind="stable")[:_AT_ONCE] if missing[row] > 0]
        if not wanting:
            return dict(zip(names, found.tolist(), strict=True))
        for row in wanting:
            total = z3.Sum([int(factor) * count for factor, count in zip(factors[row], counts, strict=True)])
            needed.append(total >= int(least[row]))


def _ticks(sums: Sums, real: Mapping[str, int]) -> tuple[dict[str, int], str]:
    """The ticks that keep every order, or else the short ones, or else what is near; and what follows from that."""
    values = np.array([real[name] for name in sums.names])
    short = Sums(sums.names, *(column[sums.is_short] for column in sums[1:]))
    for some, doubt in ((sums, ""), (short, NO_TICKS)):
        for both_ways in (True, False):
            factors, least = _demands(some, values, both_ways=both_ways)
            ticks = smallest_ticks(sums.names, least, factors)
            if ticks is not None:
                return ticks, doubt
    return _near_ticks(real), NO_TICKS


def _near_ticks(real: Mapping[str, int]) -> dict[str, int]:
    """Ticks as long as the times allow; all checks take longer than the rest, as far as anybody sees."""
    longest = max(value for name, value in real.items() if name != CHECKS)
    return {name: min(-(-value * MOST_TICKS // longest), MOST_TICKS) for name, value in real.items()}


def _demands(sums: Sums, values: np.ndarray, *, both_ways: bool) -> tuple[np.ndarray, np.ndarray]:
    """Demands on the ticks: factors, and the least that they add up to.

    A sum that the milliseconds allow, with so many strict steps as fit, the ticks allow, too. Both ways, they also
    refuse of the short sums what the milliseconds refuse, so that a violation in ticks is one in milliseconds.
    """
    real = sums.factors @ values
    allowed = real <= 0
    factors, least = [-sums.factors[allowed]], [np.minimum(sums.strict, -real)[allowed]]
    if both_ways:
        refused = sums.is_short & ((real > 0) | (-real < sums.strict))
        factors.append(sums.factors[refused])
        least.append(np.where(real > 0, 1, real)[refused])
    rows = np.unique(np.hstack([np.concatenate(least)[:, None], np.vstack(factors)]), axis=0)
    return rows[:, 1:], rows[:, 0]
