"""The keys that a broker reads from its ``broker.conf``, release by release, and what a key that it ignores may mean.

RocketMQ reads a key where one of its configuration classes has a setter of that name (``MixAll#properties2Object``),
and passes over every other key in silence: ``transactionTimeout`` changes nothing, ``transactionTimeOut`` does (#7415).
``broker_keys.json`` is written by ``make releases ARGS=--update`` out of the jars: the setters of ``BrokerConfig``,
``BrokerIdentity``, ``MessageStoreConfig``, ``NettyServerConfig``, ``NettyClientConfig``, of the class for
authentication and of the tiered store's ``MessageStoreConfig``, and what ``BrokerStartup#properties2SystemEnv`` reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Final, Self

from files.content import parse_json
from reference.format.java_properties import Setting, as_written
from spec.releases.broker_defaults import release_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


TABLE: Final = "broker_keys.json"
_LEAST_LIKENESS: Final = 0.75
_LONGEST: Final = 100
_MOST_SHOWN: Final = 60


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a release."""

    name: str
    kind: str
    """The type of its setter: `int`, `long`, `double`, `float`, `boolean` or `String` as in Java, or the names of an
    enum with `|` between them."""
    default: str
    """As Java writes it; empty where it is null, or worked out when the broker starts."""


@dataclass(frozen=True, slots=True)
class KeyTable:
    """All keys of all releases: of each the releases from which on something of it is new, the oldest first."""

    releases: tuple[str, ...]
    runs: Mapping[str, tuple[tuple[str, Key | None], ...]]
    """None from the first release on that has the key no more."""

    @classmethod
    def of_text(cls, text: str) -> Self:
        """Read the table."""
        content = parse_json(text)
        runs = {}
        for name, changes in content["keys"].items():
            parts = [run.split(" ", 2) for run in changes]
            runs[name] = tuple(
                (release, Key(name, kind[0], "".join(kind[1:])) if kind else None) for release, *kind in parts
            )
        return cls(tuple(content["releases"]), runs)

    def keys_of(self, release: str | None) -> dict[str, Key]:
        """The keys of a release; of one that is not in the table, those of the one before it, else of the oldest.

        A name without a number, and None, stand for the newest.
        """
        numbers = release_numbers(release or "") or release_numbers(self.releases[-1])
        numbers = max(numbers, release_numbers(self.releases[0]))
        found = {}
        for name, runs in self.runs.items():
            key = next((key for first, key in reversed(runs) if release_numbers(first) <= numbers), None)
            if key is not None:
                found[name] = key
        return found

    def releases_of(self, name: str) -> tuple[str, ...]:
        """The releases that read a key; none for one that no release reads."""
        return tuple(release for release in self.releases if name in _keys_of(release)) if name in self.runs else ()


@dataclass(frozen=True, slots=True)
class UnknownKey:
    """A key of a file that the broker of a release ignores."""

    line: int
    """Where the setting ends in the file, from 1."""
    key: str
    nearest: str | None
    """The key of that release that looks most like it; None where none looks like it."""
    versions: tuple[str, ...]
    """Other releases that do read the key."""

    def remark(self, version: str) -> str:
        """One line for the author of the file, whose broker is of that release."""
        name = as_written(self.key)
        name = name if name.isprintable() else repr(name)
        name = name[:_MOST_SHOWN] or "a value without a key"
        text = f"line {self.line}: {name} is no setting of {version}, whose broker ignores it"
        if self.versions:
            text += f"; {_which(self.versions)} it"
        gone = not self.versions or release_numbers(self.versions[-1]) < release_numbers(version)
        return text if self.nearest is None or not gone else f"{text}; did you mean {self.nearest}?"


def _which(releases: tuple[str, ...]) -> str:
    """The releases between the first and the last of a key."""
    first, last = releases[0], releases[-1]
    if first == last:
        return f"{first} alone has"
    if last == _table().releases[-1]:
        return f"releases from {first} on have"
    return f"releases up to {last} have" if first == _table().releases[0] else f"releases from {first} to {last} have"


def keys_of(version: str | None) -> Mapping[str, Key]:
    """The keys that the broker of a release reads, by name (:meth:`KeyTable.keys_of`); without one the newest's."""
    return _keys_of(version or _table().releases[-1])


def any_key(name: str) -> Key | None:
    """A key as the newest release has it that reads it; None for one that no release reads."""
    return next((key for _, key in reversed(_table().runs.get(name, ())) if key is not None), None)


def all_keys() -> tuple[str, ...]:
    """The names of the keys of all releases, in the order of the alphabet."""
    return tuple(_table().runs)


def known_keys(version: str) -> frozenset[str]:
    """The names of the keys that the broker of a release reads."""
    return frozenset(_keys_of(version))


def unknown_keys(given: Iterable[Setting], version: str) -> tuple[UnknownKey, ...]:
    """The keys of a file that the broker of a release ignores, in the order of the file."""
    known = _keys_of(version)
    return tuple(
        UnknownKey(setting.line, setting.key, nearest_key(setting.key, version), _table().releases_of(setting.key))
        for setting in given
        if setting.key not in known
    )


def nearest_key(key: str, version: str) -> str | None:
    """The key of that release that is spelled most like `key`, letter case aside; of two the first in the alphabet.

    Examples
    --------
    >>> nearest_key("transactionTimeout", "5.3.3"), nearest_key("colour", "5.3.3")
    ('transactionTimeOut', None)
    """
    if len(key) > _LONGEST:
        return None
    likeness, nearest = _LEAST_LIKENESS, None
    matcher = SequenceMatcher(None, "", key.lower())
    for known in sorted(known_keys(version)):
        matcher.set_seq1(known.lower())
        if matcher.real_quick_ratio() >= likeness and matcher.quick_ratio() >= likeness:
            ratio = matcher.ratio()
            if ratio > likeness or (nearest is None and ratio == likeness):
                likeness, nearest = ratio, known
    return nearest


@cache
def _keys_of(release: str) -> Mapping[str, Key]:
    return _table().keys_of(release)


@cache
def _table() -> KeyTable:
    return KeyTable.of_text(resources.files("reference.format").joinpath(TABLE).read_text(encoding="utf-8"))
