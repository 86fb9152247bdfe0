"""The points of a sweep: each value with each other one or a Latin hypercube, in each release; what each simulates.

A Latin hypercube (McKay, Beckman and Conover, Technometrics 1979) of so many points has one in each of as many equal
parts of every range, so that few points say something of many settings.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from random import Random
from typing import TYPE_CHECKING, Any, Final

from files.durations import read_milliseconds
from reference.format.broker_keys import any_key, keys_of
from reference.format.java_properties import Setting
from reference.format.setting_values import value_of
from traffic.errors import TrafficError
from traffic.simulation.replications import Replication, replications_of
from traffic.sweep.swept_setting import BROKER_KEYS, SweptSetting, SweptValue, time_text
from traffic.workload.defaults import default_of
from traffic.workload.reading import workload_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from traffic.simulation.simulated_broker import SimulatedBroker
    from traffic.workload.workload import TrafficWorkload

MOST_POINTS: Final = 500
"""The most that may be asked for: beyond them stands a slip of the finger, and a day of waiting."""

Values = tuple[SweptValue, ...]
"""A value for each swept setting, in their order."""


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """A release and a value of each setting, with the broker and the workload that they make.

    Attributes
    ----------
    values
        In the order of the settings.
    is_yours
        It has what the files say, nothing swept.
    """

    release: str
    values: Values
    broker: SimulatedBroker
    workload: TrafficWorkload
    is_yours: bool = False

    def replications(self, seed: int, transactions: int, number: int) -> list[Replication]:
        """Its simulations: those of the same place have the same seed in all points."""
        return replications_of(self.broker, replace(self.workload, name=""), seed, transactions, number)


@dataclass(frozen=True, slots=True)
class AsGiven:
    """What a sweep begins with.

    Attributes
    ----------
    broker_of
        Makes the broker of a release with settings behind those of the file.
    workload
        The workload's file as plain data.
    """

    releases: tuple[str, ...]
    broker_of: Callable[[str, Iterable[Setting]], SimulatedBroker]
    workload: Mapping[str, Any]
    file: Path
    """Of the workload."""


def values_of(settings: Sequence[SweptSetting], points: int | None, seed: int, releases: int) -> list[Values]:
    """The values at each point; raises `TrafficError` for more points than make sense, or two of one setting."""
    names = [setting.name for setting in settings]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        message = f"--sweep {twice}: it is given twice; give all its values in one"
        raise TrafficError(message)
    number = points or prod(len(setting.values) for setting in settings)
    if number * releases > MOST_POINTS:
        how = f"--points {points}" if points else f"--sweep of {' x '.join(str(len(one.values)) for one in settings)}"
        of = f" in {releases} releases" if releases > 1 else ""
        message = (
            f"{how} values{of}: {number * releases:,} points, more than {MOST_POINTS:,}; sweep fewer values, or take "
            "--points N for a Latin hypercube"
        )
        raise TrafficError(message)
    if points is None:
        return list(product(*(setting.values for setting in settings)))
    columns = [_stratified(setting, points, seed) for setting in settings]
    return list(dict.fromkeys(zip(*columns, strict=True)))


def points_of(settings: Sequence[SweptSetting], values: Iterable[Values], given: AsGiven) -> list[SweepPoint]:
    """What the files say first, in each release, then the values in each release.

    Raises
    ------
    TrafficError
        A value that the broker, or the workload, can't have.
    """
    found = []
    workload = workload_of(deepcopy(dict(given.workload)), given.file.stem, str(given.file))
    for release in given.releases:
        broker = given.broker_of(release, ())
        now = tuple(_value_now(setting, broker, given.workload) for setting in settings)
        found.append(SweepPoint(release, now, broker, workload, is_yours=True))
    seen = {(point.release, point.broker, point.workload) for point in found}
    for row in values:
        table = deepcopy(dict(given.workload))
        said = ", ".join(f"{setting.name}={value.text}" for setting, value in zip(settings, row, strict=True))
        keys = []
        for line, (setting, value) in enumerate(zip(settings, row, strict=True)):
            if setting.is_of_broker:
                keys.append(_broker_setting(setting.name, value, line))
            else:
                _put(table, setting.name, value)
        swept = workload_of(table, given.file.stem, f"--sweep {said}") if said else workload
        for release in given.releases:
            point = SweepPoint(release, row, given.broker_of(release, keys), swept)
            key = point.release, point.broker, point.workload
            if key not in seen:
                seen.add(key)
                found.append(point)
    return found


def ignored_by(settings: Sequence[SweptSetting], releases: Iterable[str]) -> list[str]:
    """One line for each release that does not read a setting that is swept."""
    return [
        f"{release} does not read {setting.name}: no value of it makes a difference there"
        for release in releases
        for setting in settings
        if setting.is_of_broker and setting.name not in keys_of(release)
    ]


def _stratified(setting: SweptSetting, points: int, seed: int) -> list[SweptValue]:
    random = Random(f"{seed} {setting.name}")
    order = list(range(points))
    random.shuffle(order)
    if setting.range is None:
        return [setting.values[place * len(setting.values) // points] for place in order]
    return [setting.range.at((place + random.random()) / points) for place in order]


def _broker_setting(name: str, value: SweptValue, line: int) -> Setting:
    """A setting as ``broker.conf`` has it; raises `TrafficError` where a broker would swallow the value."""
    unit, text = BROKER_KEYS[name], value.text
    milliseconds = read_milliseconds(text)
    if milliseconds is not None:
        if not unit or milliseconds % unit:
            whole = "" if not unit else f"; expected whole {'milliseconds' if unit == 1 else 'hours'}"
            message = (
                f"--sweep {name}={text}: {f'{text} does not fit it' if unit else 'it is no length of time'}{whole}"
            )
            raise TrafficError(message)
        text = str(round(milliseconds / unit))
    key = any_key(name)
    taken = None if key is None else value_of(key, text, None)
    is_truth = key is not None and key.kind == "boolean"
    is_known = key is None or "|" not in key.kind or text in key.kind.split("|")
    if taken is None or not is_known or (is_truth and text.lower() not in {"true", "false"}):
        number = "a length of time above 0, such as 500ms or 10s" if unit else "a whole number"
        kind = number if key is None or "|" not in key.kind else key.kind.replace("|", " or ")
        message = f"--sweep {name}={value.text}: expected {'true or false' if is_truth else kind}"
        raise TrafficError(message)
    if not isinstance(taken, str | bool) and taken <= 0:
        message = f"--sweep {name}={value.text}: expected more than 0"
        raise TrafficError(message)
    return Setting(1_000_000 + line, name, text)


def _put(table: dict[str, Any], name: str, value: SweptValue) -> None:
    """Put a value where a workload's file has it; of a distribution that is always the same, the other end stays."""
    *sections, key = name.split(".")
    for section in sections[:-1] if key in {"p50", "p99"} else sections:
        table = table.setdefault(section, {})
    entry: Any = value.text
    if value.number is not None and read_milliseconds(value.text) is None:
        entry = int(value.number) if value.number == int(value.number) and "." not in value.text else value.number
    if key not in {"p50", "p99"}:
        table[key] = entry
        return
    before = table.get(sections[-1])
    ends = dict(before) if isinstance(before, dict) else {"p50": before, "p99": before} if before is not None else {}
    table[sections[-1]] = ends | {key: entry}


def _value_now(setting: SweptSetting, broker: SimulatedBroker, workload: Mapping[str, Any]) -> SweptValue:
    """What the files, or their defaults, say of a setting."""
    if setting.is_of_broker:
        return _broker_value_now(setting.name, broker)
    *sections, key = setting.name.split(".")
    found: Any = workload
    for part in (*sections, key):
        found = found.get(part) if isinstance(found, dict) else found if part in {"p50", "p99"} else None
    if found is None:
        section = ".".join(sections)
        kind = workload.get("client", {}).get("kind") if section == "client" else None
        default = default_of(f"client.{kind}" if kind else section, key)
        found = "not set" if default is None else default.value
    if isinstance(found, int | float) and not isinstance(found, bool):
        return SweptValue(f"{found:g}", float(found))
    return SweptValue(str(found), read_milliseconds(str(found)))


def _broker_value_now(name: str, broker: SimulatedBroker) -> SweptValue:
    settings = broker.settings
    if name == "flushDiskType":
        return SweptValue("SYNC_FLUSH" if broker.flushes_each_message else "ASYNC_FLUSH", None)
    if name == "rejectTransactionMessage":
        return SweptValue(str(settings.reject_transaction_message).lower(), None)
    number = {
        "transactionTimeOut": settings.transaction_timeout_ms,
        "transactionCheckMax": settings.transaction_check_max,
        "transactionCheckInterval": settings.transaction_check_interval_ms,
        "transactionOpBatchInterval": settings.op_batch_interval_ms,
        "transactionOpMsgMaxSize": settings.op_msg_max_size,
        "fileReservedTime": settings.file_reserved_time_ms,
        "flushConsumerOffsetInterval": settings.flush_consumer_offset_interval_ms,
    }[name]
    return SweptValue(time_text(number) if BROKER_KEYS[name] else str(number), float(number))
