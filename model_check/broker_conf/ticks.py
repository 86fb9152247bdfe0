"""The smallest whole numbers of ticks that keep the order of a configuration's times and of their sums."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from model_check.broker_conf.compared_sums import (
    CHECK_INTERVAL,
    LOCAL,
    OP_BATCH_INTERVAL,
    RESERVED,
    ROUND_LIMIT,
    TIMEOUT,
    Order,
    orders,
)
from model_check.broker_conf.configuration import show_duration
from model_check.errors import ModelCheckError
from spec.language import NONE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from model_check.broker_conf.configuration import Configuration
    from spec.constants import Instance

MOST_TICKS = 62
"""No time of an instance is longer."""

UNASKED: dict[str, Any] = {"first_checks": (0,), "skews": (0,), "clock_steps": 0}
"""What no broker.conf and no option speaks of: check counts that producers send, clocks that differ or step back."""

UNASKED_FAULTS = ("clock_skew", "clock_step")
"""The faults that need some of it."""


@dataclass(frozen=True, slots=True)
class Quotient:
    """A configuration in ticks.

    Attributes
    ----------
    real_ms, ticks : dict
        Each time by its name, in milliseconds and in ticks.
    check_max : tuple of int
        `transactionCheckMax` of the configuration and of the instance of ticks.
    orders : tuple of Order
        What the ticks keep.
    instance : Instance
        The sizes of the instance that was asked for, with these times.
    """

    real_ms: dict[str, int]
    ticks: dict[str, int]
    check_max: tuple[int, int]
    orders: tuple[Order, ...]
    instance: Instance

    def times_in_ticks(self) -> str:
        """The ticks, in words."""
        compared = {name for order in self.orders for _, name in order.left + order.right}
        times = ", ".join(f"{name}={count}" for name, count in self.ticks.items() if name in compared)
        scaled = ""
        if self.check_max[0] != self.check_max[1]:
            scaled = f" and transactionCheckMax={self.check_max[1]} (really {self.check_max[0]})"
        return f"with {times} in ticks{scaled}"

    def sentence(self) -> str:
        """What a verdict "holds" stands for."""
        kept = "; ".join(str(order) for order in self.orders)
        return f"{self.times_in_ticks()}: the order of each of these is that of the configuration: {kept}"

    def to_json(self) -> dict[str, Any]:
        """Which ticks stand for which times, and which orders they keep, as plain data."""
        return {
            "milliseconds": self.real_ms,
            "ticks": self.ticks,
            "transactionCheckMax": {"real": self.check_max[0], "scaled": self.check_max[1]},
            "orders": [{"order": str(order), "why": order.why} for order in self.orders],
            "sentence": self.sentence(),
        }


def quotient_of(configuration: Configuration, base: Instance, on: Iterable[str]) -> Quotient:
    """The instance of ticks for a configuration.

    Parameters
    ----------
    configuration
    base
        Gives the sizes, and the times that no setting speaks of.
    on
        The switches of the profile and the faults that are on: what is not compared without them needs no order.

    Raises
    ------
    ModelCheckError
        When no choice with at most `MOST_TICKS` ticks keeps every order.
    """
    active = tuple(on)
    real = times_of(configuration)
    check_max = (configuration.check_max, min(configuration.check_max, base.check_max))
    compared = orders(real, check_max, active)
    ticks = smallest_ticks(real, compared)
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
    return Quotient(real, ticks, check_max, tuple(order for order, _ in compared), instance)


def times_of(configuration: Configuration) -> dict[str, int]:
    """Each time of a configuration by its name in `compared_sums`, in milliseconds."""
    found = {
        TIMEOUT: configuration.timeout_ms,
        CHECK_INTERVAL: configuration.check_interval_ms,
        OP_BATCH_INTERVAL: configuration.op_batch_interval_ms,
        ROUND_LIMIT: configuration.round_limit_ms,
    }
    for milliseconds in sorted(set(configuration.immunities_ms)):
        found[f"immunity of {show_duration(milliseconds)}"] = milliseconds
    if configuration.local_ms is not None:
        found[LOCAL] = configuration.local_ms
    if configuration.reserved_ms is not None:
        found[RESERVED] = configuration.reserved_ms
    return found


def smallest_ticks(
    real: Mapping[str, int], compared: Iterable[tuple[Order, tuple[tuple[int, str], ...]]]
) -> dict[str, int]:
    """Positive numbers that keep every order: the largest of them is as small as can be, then each in turn.

    Parameters
    ----------
    real
        The times, in the order in which they are made small.
    compared
        Each order, and its left sum in ticks.

    Raises
    ------
    ModelCheckError
        When there are none up to `MOST_TICKS`.
    """
    import z3

    counts = {name: z3.Int(name) for name in real}
    largest = z3.Int("largest")
    solver = z3.Optimize()
    for count in counts.values():
        solver.add(count >= 1, count <= largest)
    solver.add(largest <= MOST_TICKS)
    for order, left in compared:
        difference = z3.Sum([factor * counts[name] for factor, name in left]) - z3.Sum(
            [factor * counts[name] for factor, name in order.right]
        )
        solver.add(difference < 0 if order.sign < 0 else difference > 0 if order.sign > 0 else difference == 0)
    for goal in (largest, *counts.values()):
        solver.minimize(goal)
    if solver.check() != z3.sat:
        times = ", ".join(f"{name} {show_duration(value)}" for name, value in real.items())
        msg = (
            f"no instance with at most {MOST_TICKS} ticks keeps the order of these times and their sums: {times}; "
            f"give fewer immunities, or times that are nearer to each other"
        )
        raise ModelCheckError(msg)
    model = solver.model()
    return {name: model.eval(count).as_long() for name, count in counts.items()}
