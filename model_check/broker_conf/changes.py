"""What could be changed in a configuration: a value for each neighbouring order of its times, and what it costs.

A verdict depends on the order of times and of their sums, not on their lengths. So a setting has few values to try: one
between each two lengths at which an order turns, the nearest of its kind to today's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from files.durations import duration
from model_check.broker_conf.compared_sums import CHECK_INTERVAL, OP_BATCH_INTERVAL, TIMEOUT, compared, orders_of
from model_check.broker_conf.ticks import switched_on, times_of
from model_check.configuration import changed_settings
from model_check.instances import load_instance
from model_check.remedies.upgrades import said_of_an_upgrade
from spec.profiles import VERSIONS, distinct

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from model_check.configuration import Configuration
    from model_check.world import Environment

_NICE_MS = (3_600_000, 1_800_000, 600_000, 300_000, 60_000, 30_000, 10_000, 5_000, 1_000, 500, 100, 50, 10, 1)
_MOST_NEIGHBOURS = 3
"""So many orders to each side of today's are tried."""

_SIZES = load_instance("tiny")
"""Whose sizes say which sums there are."""

_HOUR_MS = 3_600_000
_LEAST_TIMEOUT_MS = 1_000
_TIMES = 1.5
"""From here on more is told as times, below in per cent."""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing, or two, that could be changed.

    Attributes
    ----------
    settings : dict
        What to change, under RocketMQ's names: keys of `broker.conf`, `version`, CHECK_IMMUNITY_TIME_IN_SECONDS
        (None: no message carries it); values in the unit of the file. `local_ms` is how long local transactions take.
    configuration : Configuration
        With the change.
    cost : str
        What it costs, in words and numbers.
    """

    settings: dict[str, int | str | None]
    configuration: Configuration
    cost: str

    def __str__(self) -> str:
        return ", ".join(_show(key, value) for key, value in self.settings.items())


def _show(key: str, value: int | str | None) -> str:
    if value is None:
        return f"no {key}"
    if key == "local_ms":
        return f"local transactions of at most {duration(int(value))}"
    return f"RocketMQ {value}" if key == "version" else f"{key}={value}"


def changes_of(configuration: Configuration, environment: Environment) -> list[Change]:
    """What to try, the nearest first, one of each kind in turn."""
    batches_ops = configuration.profile.switches.batches_ops
    kinds = [
        list(_immunities(configuration)),
        list(_times(configuration, environment, OP_BATCH_INTERVAL)) if batches_ops else [],
        list(_times(configuration, environment, TIMEOUT)),
        list(_op_sizes(configuration)) if batches_ops else [],
        list(_versions(configuration)),
        list(_times(configuration, environment, CHECK_INTERVAL)),
        list(_check_maxima(configuration)),
        list(_kept_longer(configuration)),
    ]
    longest = max(len(kind) for kind in kinds)
    return [kind[place] for place in range(longest) for kind in kinds if place < len(kind)]


def _times(configuration: Configuration, environment: Environment, name: str) -> Iterator[Change]:
    field, key = {
        TIMEOUT: ("timeout_ms", "transactionTimeOut"),
        CHECK_INTERVAL: ("check_interval_ms", "transactionCheckInterval"),
        OP_BATCH_INTERVAL: ("op_batch_interval_ms", "transactionOpBatchInterval"),
    }[name]
    now: int = getattr(configuration, field)
    for value in neighbours(now, _turning_points(configuration, environment, name)):
        yield Change({key: value}, _with(configuration, {field: value}), _cost_of_time(name, now, value))


def _with(configuration: Configuration, fields: dict[str, Any]) -> Configuration:
    return replace(configuration, **fields)


def _turning_points(configuration: Configuration, environment: Environment, name: str) -> set[int]:
    """The lengths of one time at which an order of sums turns, the others being as they are."""
    real = times_of(configuration)
    sums = compared(real, switched_on(configuration.profile, environment), _SIZES)
    found = set()
    for order in orders_of(sums, real):
        terms = [*order.left, *((-factor, other) for factor, other in order.right)]
        slope = sum(factor for factor, other in terms if other == name)
        rest = sum(factor * real[other] for factor, other in terms if other != name)
        if slope and (point := -rest / slope) > 0:
            found.add(round(point))
    return found


def neighbours(now: int, points: Iterable[int]) -> list[int]:
    """A round value between each two turning points, the nearest to today's in each, the nearest first.

    Examples
    --------
    >>> neighbours(6_000, {3_000, 6_000, 24_000, 27_000, 30_000})
    [5000, 10000, 2000, 25000, 28000]
    """
    ordered = sorted({0, *points})
    regions = [*pairwise(ordered), (ordered[-1], max(4 * ordered[-1], 4 * now))]
    below = [_round_value(low, high, now) for low, high in regions if high <= now][::-1][:_MOST_NEIGHBOURS]
    above = [_round_value(low, high, now) for low, high in regions if low >= now][:_MOST_NEIGHBOURS]
    mixed = [pair[place] for place in range(_MOST_NEIGHBOURS) for pair in (below, above) if place < len(pair)]
    return [value for value in mixed if value is not None]


def _round_value(low: int, high: int, now: int) -> int | None:
    """The roundest number of milliseconds strictly between two, the nearest to today's of those."""
    for unit in _NICE_MS:
        if unit > max(now, 1_000):
            continue
        least, most = (low // unit + 1) * unit, (high - 1) // unit * unit
        if least <= most:
            return most if high <= now else least
    return None


def _immunities(configuration: Configuration) -> Iterator[Change]:
    """No message carries CHECK_IMMUNITY_TIME_IN_SECONDS any more; all are young for as long instead, or not."""
    if not configuration.immunities_ms:
        return
    key, longest = "CHECK_IMMUNITY_TIME_IN_SECONDS", max(configuration.immunities_ms)
    without = replace(configuration, immunities_ms=())
    earlier = longest - configuration.timeout_ms
    if earlier > 0:
        cost = f"messages that carried it are checked up to {duration(earlier)} earlier"
        yield Change({key: None}, without, cost)
        cost = f"every message, not only those that carried it, is first checked {duration(earlier)} later"
        yield Change({key: None, "transactionTimeOut": longest}, replace(without, timeout_ms=longest), cost)
    else:
        later = f"{duration(-earlier)} later" if earlier else "at the same age"
        yield Change({key: None}, without, f"messages that carried it are checked {later}")


def _op_sizes(configuration: Configuration) -> Iterator[Change]:
    if configuration.op_message_max_size > 1:
        cost = "an op message for each END_TRANSACTION, as before 5.1.0: about as many more writes as commits"
        yield Change({"transactionOpMsgMaxSize": 1}, replace(configuration, op_message_max_size=1), cost)


def _versions(configuration: Configuration) -> Iterator[Change]:
    now = configuration.profile.unturned
    for version in distinct(VERSIONS[VERSIONS.index(now) :])[1:]:
        brought = said_of_an_upgrade(configuration.release or now, version)
        upgraded = configuration.upgraded(version)
        moved = changed_settings(configuration, upgraded)
        parts = ["an upgrade of the brokers", f"with the default {' and '.join(moved)}" if moved else "", brought]
        yield Change({"version": version}, upgraded, ", ".join(part for part in parts if part))


def _check_maxima(configuration: Configuration) -> Iterator[Change]:
    """So few checks that one round uses them up, and so many that no immunity or age does."""
    now, interval = configuration.check_max, configuration.check_interval_ms
    enough = max((-(-length // interval) for length in configuration.immunities_ms), default=0)
    for value in dict.fromkeys((enough + now if enough >= now else 0, 1)):
        if value and value != now:
            later = (value - now) * interval
            cost = (
                f"a transaction that nobody answers for is given up {duration(later)} later, "
                f"after {value - now} more checks and as many more copies"
                if later > 0
                else f"a transaction that nobody answers for is given up {duration(-later)} earlier, after {value}"
            )
            yield Change({"transactionCheckMax": value}, replace(configuration, check_max=value), cost)


def _kept_longer(configuration: Configuration) -> Iterator[Change]:
    if configuration.reserved_ms is None:
        return
    hours = configuration.oldest_ms // _HOUR_MS + 1
    more = hours - configuration.file_reserved_ms // _HOUR_MS
    cost = f"the commit log keeps {more} h more on disk"
    yield Change({"fileReservedTime": hours}, replace(configuration, file_reserved_ms=hours * _HOUR_MS), cost)


def _cost_of_time(name: str, now: int, value: int) -> str:
    difference = duration(abs(value - now))
    if name == TIMEOUT:
        return (
            f"the first check of a half comes {difference} later"
            if value > now
            else f"the first check comes {difference} earlier, to slower local transactions while they still run"
        )
    ratio = max(value, now) / min(value, now)
    more = (
        f"{ratio:.1f}".removesuffix(".0") + " times as many" if ratio >= _TIMES else f"{100 * ratio - 100:.0f} % more"
    )
    if name == CHECK_INTERVAL:
        return (
            f"each further check comes {difference} later"
            if value > now
            else f"{more} rounds, and a transaction that nobody answers for is given up so much earlier"
        )
    return (
        f"up to {more} op messages"
        if value < now
        else f"an op entry waits up to {difference} longer, and is lost with the process so long"
    )


def with_local(configuration: Configuration, environment: Environment) -> list[Change]:
    """For a configuration without a limit on local transactions: one, with an op batch that is written in time."""
    if configuration.local_ms is not None or configuration.timeout_ms < _LEAST_TIMEOUT_MS:
        return []
    limit = _round_value(0, configuration.timeout_ms // 3, configuration.timeout_ms // 4) or 1
    cost = f"producers must see to it that each END_TRANSACTION arrives within {duration(limit)} of its half"
    limited = replace(configuration, local_ms=limit)
    found = [Change({"local_ms": limit}, limited, cost)]
    if configuration.profile.switches.batches_ops:
        points = _turning_points(limited, environment, OP_BATCH_INTERVAL)
        now = configuration.op_batch_interval_ms
        for value in [value for value in neighbours(now, points) if value < now][:2]:
            quicker = replace(limited, op_batch_interval_ms=value)
            both = f"{cost}; {_cost_of_time(OP_BATCH_INTERVAL, now, value)}"
            found.append(Change({"local_ms": limit, "transactionOpBatchInterval": value}, quicker, both))
    return found
