"""Remarks on a ``broker.conf``, line by line: ignored keys, swallowed values, settings that surprise.

All commands give the same remarks. The rows about settings are data, in
``broker_conf_remarks.toml``; a remark names the line, the key and the value that is in force.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from files.content import parse_toml
from files.durations import duration
from reference.format.broker_conf import Taken, mqadmin_broker, settings, taken_settings
from reference.format.broker_keys import UnknownKey, all_keys, any_key, keys_of, unknown_keys
from reference.format.java_properties import Setting, as_written
from reference.format.setting_values import Value, value_of
from spec.releases.broker_defaults import release_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


_EXPECTED: Final = {
    "int": "a whole number below 2147483648", "long": "a whole number", "double": "a number", "float": "a number",
}  # fmt: skip
_OF_A_LOG: Final = re.compile(r".*\d\d:\d\d:\d\d\S* (INFO|WARN|ERROR) .*", re.DOTALL)
_MOST_FOREIGN: Final = 3
_MOST_SHOWN: Final = 60


@dataclass(frozen=True, slots=True)
class _Row:
    key: str
    when: Mapping[str, str]
    says: str
    since: str = ""
    until: str = ""

    def is_of(self, release: str) -> bool:
        numbers = release_numbers(release)
        return release_numbers(self.since) <= numbers and (not self.until or numbers <= release_numbers(self.until))


def remarks_on_file(path: Path, release: str, *, with_keys_of_others: bool = True) -> list[str]:
    """The remarks on a file as the ``broker.conf`` of a release, a line each, in the order of its lines.

    Keys that only other releases read are not spoken of where the release is guessed.

    Raises
    ------
    BrokenConfigError
        The path is no file, or one with which no broker starts.
    """
    given = settings(path)
    unknown = [key for key in unread_keys(path, release) if with_keys_of_others or not key.versions]
    found = [*_repeated(given), *((key.line, key.remark(release)) for key in unknown), *remarks_on(given, release)]
    whole = _of_the_whole(given, release, mqadmin_broker(path), len(unknown))
    if whole and len(unknown) == len(given):
        found = [*sorted(found)[:_MOST_FOREIGN]]
    return [text for _, text in sorted(found, key=lambda remark: remark[0])] + whole


def unread_keys(path: Path, release: str) -> tuple[UnknownKey, ...]:
    """The keys of a file that the broker of a release ignores.

    ``mqadmin getBrokerConfig`` prints fields without a setter, too: of its output only those are given that another
    release reads.

    Raises
    ------
    BrokenConfigError
        The path is no file, or one with which no broker starts.
    """
    found = unknown_keys(settings(path), release)
    return tuple(key for key in found if key.versions) if mqadmin_broker(path) else found


def remarks_on(given: Sequence[Setting], release: str) -> Iterator[tuple[int, str]]:
    """The remarks on settings that the broker of a release reads, each with its line number."""
    taken = taken_settings(given, release)
    values = {name: each.value for name, each in taken.items() if each.value is not None}
    remarked = set()
    yield from swallowed_values(given, release)
    for row in _rows():
        if row.key in values and row.key not in remarked and row.is_of(release) and _fits(row, values, release):
            remarked.add(row.key)
            line = taken[row.key].setting.line
            remark = _filled(row, values, release)
            between = " " if remark.startswith("is ") else ": "
            yield line, f"line {line}: {row.key}={_shown(values[row.key])}{between}{remark}"


def swallowed_values(given: Sequence[Setting], release: str) -> Iterator[tuple[int, str]]:
    """The remarks on values that the broker of a release passes over or takes for false, each with its line number."""
    for each in taken_settings(given, release).values():
        swallowed = _swallowed(each)
        if swallowed:
            yield each.setting.line, swallowed


def _repeated(given: Sequence[Setting]) -> Iterator[tuple[int, str]]:
    last: dict[str, Setting] = {}
    for setting in given:
        if setting.key in last:
            yield (
                setting.line,
                f"line {setting.line}: {setting.key} stands in line {last[setting.key].line} already; "
                f"the broker takes the later one, {as_written(setting.value)[:_MOST_SHOWN]!r}",
            )
        last[setting.key] = setting


def _swallowed(taken: Taken) -> str:
    """The remark on a value that is not what its text looks like; '' where it is."""
    setting, kind = taken.setting, taken.key.kind
    place, value = (
        f"line {setting.line}: {setting.key} is {as_written(setting.value)[:_MOST_SHOWN]!r}",
        setting.value.strip(),
    )
    behind = ""
    if setting.value != setting.value.rstrip():
        behind = " (a blank stands behind it)"
    elif "#" in setting.value:
        behind = " (a comment has a line of its own)"
    if kind == "boolean":
        if value.lower() in {"true", "false"} and not behind:
            return ""
        return "" if value.lower() == "false" else f"{place}, and what is not true is false to the broker{behind}"
    if taken.value is not None:
        return ""
    expected = _EXPECTED.get(kind) or " or ".join(kind.removesuffix("|int").split("|"))
    default = f"its default, {taken.key.default}" if taken.key.default else "its default"
    return f"{place}, not {expected}{behind}: the broker swallows it and runs with {default}"


def _of_the_whole(given: Sequence[Setting], release: str, mqadmin: str, unknown: int) -> list[str]:
    """The kind of file that this seems to be, if it is no broker.conf."""
    keys = {setting.key for setting in given}
    if any("\0" in setting.key for setting in given):
        return ["it holds zero bytes, which Java takes for letters of a key: is it no text, or UTF-16?"]
    if {"apiVersion", "kind"} <= keys:
        return ["it looks like a Kubernetes manifest: the broker.conf is the text in it; put that into a file"]
    if any(_OF_A_LOG.match(f"{setting.key} {setting.value}") for setting in given):
        return ["it looks like a log: a broker.conf has lines key=value with nothing before them"]
    if mqadmin and unknown:
        return [f"it is what mqadmin getBrokerConfig printed of {mqadmin}: is {release} the release of that broker?"]
    if given and not any(map(any_key, keys)):
        return ["no line of it is a setting of the broker's, which takes its defaults: is it a broker.conf?"]
    return []


def _fits(row: _Row, values: Mapping[str, Value], release: str) -> bool:
    return all(_holds(_in_force(key, values, release), wanted, values, release) for key, wanted in row.when.items())


def _in_force(key: str, values: Mapping[str, Value], release: str) -> Value:
    """The value of a key, or its default; what the release does not have is false, and so 0."""
    known = keys_of(release).get(key)
    if known is None or key in values:
        return values.get(key, False)
    default = value_of(known, known.default, release)
    return False if default is None else default


def _holds(value: Value, wanted: str, values: Mapping[str, Value], release: str) -> bool:
    if wanted == "several":
        return len([part for part in str(value).split(",") if part.strip()]) > 1
    if wanted == "no addresses":
        return not _are_addresses(str(value), release)
    if wanted[0] in "<>":
        limit = wanted[2:]
        other = _in_force(limit, values, release) if limit.isalpha() else int(limit)
        return float(value) < float(other) if wanted[0] == "<" else float(value) > float(other)
    return str(value).lower() == wanted.lower()


def _are_addresses(text: str, release: str) -> bool:
    """Whether ``BrokerStartup`` takes name servers (``RemotingUtil#string2SocketAddress``, ``String#split``)."""
    if not text.strip() and release_numbers(release) >= (5, 0, 0):
        return True
    parts = re.sub(";+$", "", text).split(";")
    ports = [
        part.rpartition(":")[2] if release_numbers(release) >= (4, 6, 0) else [*part.split(":"), ""][1]
        for part in parts
    ]
    return all(
        ":" in part and re.fullmatch(r"\+?\d{1,9}", port) and int(port) < 1 << 16
        for part, port in zip(parts, ports, strict=True)
    )


def _filled(row: _Row, values: Mapping[str, Value], release: str) -> str:
    names = {name: _shown(_in_force(name, values, release)) for name in re.findall(r"{(\w+)}", row.says)}
    value = values[row.key]
    times = {"as_time": duration(value) if isinstance(value, int) else "", "checks_time": _checks_time(values, release)}
    return row.says.format(**{**names, **times})


def _checks_time(values: Mapping[str, Value], release: str) -> str:
    factors = (_in_force(key, values, release) for key in ("transactionCheckMax", "transactionCheckInterval"))
    return duration(math.prod(max(0, int(factor)) for factor in factors))


def _shown(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else as_written(str(value))[:_MOST_SHOWN]


@cache
def _rows() -> tuple[_Row, ...]:
    text = resources.files("reference.format").joinpath("broker_conf_remarks.toml").read_text(encoding="utf-8")
    content: dict[str, Any] = parse_toml(text)
    return tuple(row for fields in content["rows"] for row in _with_its_keys(_Row(**fields)))


def _with_its_keys(row: _Row) -> Iterator[_Row]:
    """The row, or where its key begins with a star, one for each key that ends so."""
    ending = row.key.removeprefix("*")
    for key in [row.key] if ending == row.key else [name for name in all_keys() if name.endswith(ending)]:
        yield replace(row, key=key, when={key if name == row.key else name: need for name, need in row.when.items()})
