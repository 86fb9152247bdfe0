"""What to change in a configuration: each change is searched as the configuration itself was, none is guessed.

A verdict depends on the order of times and of their sums, not on their lengths. So a setting has few values to try: one
between each two lengths at which an order turns, the nearest of its kind to today's. A change says what it costs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, Any

from files.durations import duration
from model_check.broker_conf.compared_sums import CHECK_INTERVAL, OP_BATCH_INTERVAL, TIMEOUT, compared, orders_of
from model_check.broker_conf.judgement import ConfJudgement, is_besides, search_size
from model_check.broker_conf.ticks import quotient_of, switched_on, times_of
from model_check.clauses import name_of
from model_check.configuration import Configuration, changed_settings
from model_check.finding import Holds
from model_check.instances import load_instance
from model_check.remedies.advice import upgrade_remark
from spec.profiles import VERSIONS, distinct
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from model_check.broker_conf.answer import ConfAnswer
    from model_check.explicit.search import Progress
    from model_check.world import Environment
    from spec.constants import Instance
    from spec.language import Property

_NICE_MS = (3_600_000, 1_800_000, 600_000, 300_000, 60_000, 30_000, 10_000, 5_000, 1_000, 500, 100, 50, 10, 1)
_MOST_NEIGHBOURS = 3
"""So many orders to each side of today's are tried."""

_SIZES = load_instance("tiny")
"""Whose sizes say which sums there are."""

_HOUR_MS = 3_600_000
_LEAST_TIMEOUT_MS = 1_000
_TIMES = 1.5
"""From here on more is given as times, below in per cent."""

MOST_SECONDS = 180.0
"""Behind so much time no further change is begun."""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing, or two, that could be changed."""

    settings: dict[str, int | str | None]
    """What to change, under RocketMQ's names: keys of `broker.conf`, `version`, CHECK_IMMUNITY_TIME_IN_SECONDS (None:
    no message carries it); values in the unit of the file. `local_ms` is how long local transactions take."""
    configuration: Configuration
    """With the change."""
    cost: str
    """What it costs, in words and numbers."""

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
        _immunities(configuration),
        _times(configuration, environment, OP_BATCH_INTERVAL) if batches_ops else (),
        _times(configuration, environment, TIMEOUT),
        _op_sizes(configuration) if batches_ops else (),
        _versions(configuration),
        _times(configuration, environment, CHECK_INTERVAL),
        _check_maxima(configuration),
        _longer_retention(configuration),
    ]
    return [change for one_of_each in zip_longest(*kinds) for change in one_of_each if change is not None]


def _times(configuration: Configuration, environment: Environment, name: str) -> Iterator[Change]:
    field, key = {
        TIMEOUT: ("timeout_ms", "transactionTimeOut"),
        CHECK_INTERVAL: ("check_interval_ms", "transactionCheckInterval"),
        OP_BATCH_INTERVAL: ("op_batch_interval_ms", "transactionOpBatchInterval"),
    }[name]
    now: int = getattr(configuration, field)
    for value in neighbours(now, _turning_points(configuration, environment, name)):
        changed: dict[str, Any] = {field: value}
        yield Change({key: value}, replace(configuration, **changed), _cost_of_time(name, now, value))


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
    return [value for pair in zip_longest(below, above) for value in pair if value is not None]


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
        remark = upgrade_remark(configuration.release or now, version)
        upgraded = configuration.upgraded(version)
        moved = changed_settings(configuration, upgraded)
        parts = ["an upgrade of the brokers", f"with the default {' and '.join(moved)}" if moved else "", remark]
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


def _longer_retention(configuration: Configuration) -> Iterator[Change]:
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


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change that mends something."""

    change: Change
    mends: tuple[Property, ...]
    """Clauses that are broken without the change and hold with it."""
    breaks: tuple[Property, ...]
    """Clauses that are broken with it only."""
    leaves_open: tuple[Property, ...] = ()
    """Clauses that hold without it, and are not decided with it."""

    @property
    def is_safe(self) -> bool:
        """Whether all that holds without the change holds with it."""
        return not (self.breaks or self.leaves_open)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "change": dict(self.change.settings),
            "mends": list(map(name_of, self.mends)),
            "breaks": list(map(name_of, self.breaks)),
            "leaves_open": list(map(name_of, self.leaves_open)),
            "cost": self.change.cost,
        }


@dataclass(frozen=True, slots=True)
class Suggestions:
    """The changes that were tried for a configuration, and those that help."""

    found: tuple[Suggestion, ...]
    """First the changes that break nothing else and leave nothing open, then those that mend most."""
    beyond_help: tuple[Property, ...]
    """Broken clauses that nothing which was tried mends without breaking another."""
    tried: int
    """How many changes were searched, those that give the same order of times together."""
    untried: tuple[Change, ...]
    """Changes for which the time did not suffice."""

    def to_json(self) -> dict[str, Any]:
        """As plain data, the key `suggestions`."""
        return {
            "found": [one.to_json() for one in self.found],
            "beyond_help": list(map(name_of, self.beyond_help)),
            "tried": self.tried,
            "untried": [dict(change.settings) for change in self.untried],
        }


def suggest(
    judgement: ConfJudgement,
    *,
    clauses: tuple[Property, ...] = TRANSACTIONAL_MESSAGES.clauses,
    changes: Sequence[Change] | None = None,
    most_seconds: float = MOST_SECONDS,
    report: Callable[[str, Progress], None] | None = None,
    **question: Any,
) -> Suggestions:
    """Search every change of a configuration that has broken something.

    The clauses and the question are those of the judgement (`model_check.broker_conf.judgement.judge_configuration`).
    Without `changes` all that are known are tried; behind so many seconds none is begun any more. `report` is called
    now and then with the change that is being searched, and how far its search is.
    """
    configuration, environment = judgement.configuration, judgement.whole.world.environment
    if changes is None:
        changes = [*changes_of(configuration, environment), *with_local(configuration, environment)]
    groups = _of_different_orders(judgement, changes)
    until, found, searched = time.monotonic() + most_seconds, list[Suggestion](), 0
    for group in groups:
        if time.monotonic() > until:
            break
        searched += 1
        titled = None if report is None else _named(report, f"{group[0]} ({searched} of {len(groups)})")
        tried_one = _tried(group[0], judgement, titled, {"clauses": clauses, **question})
        found += [replace(tried_one, change=change) for change in group if tried_one.mends]
    found.sort(key=lambda one: (len(one.breaks), len(one.leaves_open), -len(one.mends), len(one.change.settings)))
    mended = {clause for one in found if one.is_safe for clause in one.mends}
    beyond = tuple(row.clause for row in judgement.broken if row.clause not in mended)
    tried = sum(len(group) for group in groups[:searched])
    return Suggestions(tuple(found), beyond, tried, tuple(change for group in groups[searched:] for change in group))


def _tried(
    change: Change, judgement: ConfJudgement, report: Callable[[str, Progress], None] | None, question: dict[str, Any]
) -> Suggestion:
    """What holds with a change that is broken without it; and where it mends something, what does not hold with it.

    First the sizes are searched that show what is broken; the others only if some of it is not broken there any more.
    """
    broken = [row.clause for row in judgement.broken]
    bases = _bases(judgement)
    answers: dict[Instance, ConfAnswer] = {}
    intact = set(broken)
    for is_first_pass in (True, False):
        for base in bases:
            is_wanted = base in {judgement.shown_by[clause].base for clause in intact} if is_first_pass else intact
            if base in answers or not is_wanted:
                continue
            answers[base] = answer = search_size(
                change.configuration,
                judgement.whole.world.environment,
                base,
                besides=is_besides(base, bases[0]),
                unscheduled=broken,
                report=None if report is None else partial(report, base.name),
                **question,
            )
            intact -= {row.clause for row in answer.finding.rows if not isinstance(row, Holds)}
    if not intact:
        return Suggestion(change, (), ())
    with_it = ConfJudgement(change.configuration, tuple(answers.values()))
    breaks = tuple(row.clause for row in with_it.broken if row.clause not in broken)
    held = {row.clause for row in judgement.holding}
    leaves_open = tuple(row.clause for row in with_it.open if row.clause in held)
    return Suggestion(change, tuple(clause for clause in broken if clause in intact), breaks, leaves_open)


def _bases(judgement: ConfJudgement) -> tuple[Instance, ...]:
    return tuple(dict.fromkeys((*judgement.bases, *judgement.left_out)))


def _of_different_orders(judgement: ConfJudgement, changes: Iterable[Change]) -> list[list[Change]]:
    """The changes by their instances of ticks, without those that change no order in any size."""
    environment = judgement.whole.world.environment

    def key(one: Configuration) -> object:
        found: list[object] = [one.profile.name, len(one.immunities_ms)]
        for base in _bases(judgement):
            quotient = quotient_of(one, base, switched_on(one.profile, environment))
            found += [quotient.instance, tuple(quotient.ticks.items())]
        return tuple(found)

    groups: dict[object, list[Change]] = {key(judgement.configuration): []}
    for change in changes:
        groups.setdefault(key(change.configuration), []).append(change)
    return [group for group in list(groups.values())[1:] if group]


def _named(report: Callable[[str, Progress], None], title: str) -> Callable[[str, Progress], None]:
    return lambda base, progress: report(f"{title}, {base}", progress)
