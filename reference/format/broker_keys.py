"""The keys that a broker reads from its ``broker.conf``, version by version, and what a key that it ignores may mean.

RocketMQ reads a key where one of its configuration classes has a setter of that name (``MixAll#properties2Object``),
and passes over every other key in silence: ``transactionTimeout`` changes nothing, ``transactionTimeOut`` does (#7415).
``broker_keys.json`` lists the setters of ``BrokerConfig``, ``BrokerIdentity``, ``MessageStoreConfig``,
``NettyServerConfig``, ``NettyClientConfig``, of the class for authentication and of the tiered store's
``MessageStoreConfig``, and the two keys that ``BrokerStartup#properties2SystemEnv`` reads.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from reference.format.broker_conf import settings

if TYPE_CHECKING:
    from pathlib import Path

_LEAST_LIKENESS = 0.75


@dataclass(frozen=True, slots=True)
class UnknownKey:
    """A key of a file that the broker of a version ignores."""

    line: int
    """Where the setting ends in the file, from 1."""
    key: str
    nearest: str | None
    """The key of that version that looks most like it; None where none looks like it."""
    versions: tuple[str, ...]
    """Other versions that do read the key."""

    def told(self, version: str) -> str:
        """In one line, for whoever has written the file for the broker of that version."""
        told = f"line {self.line}: {self.key} is no setting of {version}, whose broker ignores it"
        if self.versions:
            return f"{told}; {', '.join(self.versions)} {'has' if len(self.versions) == 1 else 'have'} it"
        return told if self.nearest is None else f"{told}; did you mean {self.nearest}?"


def known_keys(version: str) -> frozenset[str]:
    """The keys that the broker of a version reads; empty for a version that the table does not have."""
    return frozenset(key for key, versions in _versions_of_keys().items() if version in versions)


def unknown_keys(path: Path, version: str) -> tuple[UnknownKey, ...]:
    """The keys of a file that the broker of a version ignores, in the order of the file.

    Raises
    ------
    BrokenConfigError
        The path is no file, or a line of it is not ``key=value``.
    """
    known = known_keys(version)
    return tuple(
        UnknownKey(
            setting.line, setting.key, nearest_key(setting.key, version), _versions_of_keys().get(setting.key, ())
        )
        for setting in settings(path)
        if setting.key not in known
    )


def nearest_key(key: str, version: str) -> str | None:
    """The key of a version that is spelled most like `key`, letter case aside; of two the first in the alphabet.

    Examples
    --------
    >>> nearest_key("transactionTimeout", "5.3.3"), nearest_key("colour", "5.3.3")
    ('transactionTimeOut', None)
    """
    lowered = key.lower()
    likeness, nearest = max(
        ((SequenceMatcher(None, lowered, known.lower()).ratio(), known) for known in sorted(known_keys(version))),
        key=lambda found: found[0],
        default=(0.0, ""),
    )
    return nearest if likeness >= _LEAST_LIKENESS else None


@cache
def _versions_of_keys() -> dict[str, tuple[str, ...]]:
    groups = json.loads(resources.files("reference.format").joinpath("broker_keys.json").read_text(encoding="utf-8"))
    return {key: tuple(versions.split()) for versions, keys in groups.items() for key in keys}
