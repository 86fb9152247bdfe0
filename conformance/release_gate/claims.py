"""The project's claims about releases, held against their bytecode: a modelled method changes where a switch turns."""

from __future__ import annotations

import re
from dataclasses import fields
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from conformance.release_gate.cited import cited, of_defect
from model_check.defects.catalogue import catalogue
from model_check.releases import profile_for
from model_check.switches import switch_records
from model_check.world import Profile
from spec.releases.broker_defaults import DEFAULTS, defaults_of
from spec.switches import VersionSwitches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from conformance.release_gate.recorded import Column

_FIELD: Final = re.compile(r"(?:\w+\.)*(?P<class>\w+)#(?P<field>\w+)(?:, (?P<old>\w+) up to [\d.]+)?(?:;.*)?")
_RELEASE: Final = re.compile(r"\d+\.\d+\.\d+")


def default_fields() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The defaults that stand in a field: the name, the class, and the field's names."""
    for default in DEFAULTS:
        match = _FIELD.fullmatch(default.java)
        if match:
            yield default.name, match["class"], tuple(name for name in (match["field"], match["old"]) if name)


def wrong_claims(columns: Mapping[str, Column]) -> list[str]:
    """The claims that the columns of consecutive releases contradict, a sentence each."""
    return [*_nameless(columns), *_wrong_edges(columns), *_wrong_defaults(columns), *_wrong_repairs(columns)]


def _nameless(columns: Mapping[str, Column]) -> Iterator[str]:
    for name, speakers in cited().items():
        if not any(column.digests.get(name) for column in columns.values()):
            who = ", ".join((*speakers.specification, *speakers.reference, *speakers.catalogue))
            yield f"{name} is in no release; {who} names it"


def _wrong_edges(columns: Mapping[str, Column]) -> Iterator[str]:
    """Switches that turn between two releases with the same digests of all that is modelled by their users."""
    for before, after in pairwise(columns):
        older, newer = (Profile.of(profile_for(release, with_switches=True)[0]).switches for release in (before, after))
        for name in (each.name for each in fields(VersionSwitches)):
            java = switch_records()[name].java
            if getattr(older, name) != getattr(newer, name) and not _changed(columns, before, after, java):
                yield f"the switch {name} turns between {before} and {after}, but there none of {_listed(java)} changes"


def _wrong_defaults(columns: Mapping[str, Column]) -> Iterator[str]:
    for release, column in columns.items():
        stated = defaults_of(release)
        for name, value in column.defaults.items():
            if stated[name] != value:
                yield f"{name} of {release} is {stated[name]} by spec/releases/broker_defaults.py, {value} in its class"


def _wrong_repairs(columns: Mapping[str, Column]) -> Iterator[str]:
    """Defects that end with a release that has the same digests of all that they cite as the one before."""
    releases = list(columns)
    for identifier, defect in catalogue().items():
        java = of_defect(identifier)
        if java and _RELEASE.fullmatch(defect.fixed) and defect.fixed in releases[1:]:
            before = releases[releases.index(defect.fixed) - 1]
            if not _changed(columns, before, defect.fixed, java):
                yield f"{identifier} is repaired in {defect.fixed}, but there none of {_listed(java)} changes"


def _changed(columns: Mapping[str, Column], before: str, after: str, names: Iterable[str]) -> bool:
    return any(columns[before].digests.get(name) != columns[after].digests.get(name) for name in names)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
