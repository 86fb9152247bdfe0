"""Releases beside each other: what of that which rules cite has changed, and of what nobody has said what it means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from conformance.release_gate.cited import cited
from conformance.release_gate.claims import default_fields
from conformance.release_gate.digests import Classes
from conformance.release_gate.kept import Column
from model_check.releases import profile_for
from spec.releases.broker_defaults import release_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from conformance.release_gate.cited import Speakers
    from conformance.release_gate.kept import Readings


@dataclass(frozen=True, slots=True)
class Change:
    """A class or method that is not as it was in the release before.

    Attributes
    ----------
    digest : str
        Of this release; empty where it has none of that name.
    evidence : str
        What is known of this digest; empty where nothing is.
    members : tuple of str
        Of a class, the methods that changed, as far as the jars were read.
    """

    name: str
    digest: str
    evidence: str
    speakers: Speakers
    members: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "name": self.name,
            "digest": self.digest,
            "evidence": self.evidence or None,
            "members": list(self.members),
            **self.speakers.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """A release beside the one before.

    Attributes
    ----------
    profile : str
        By which it is judged, with the switches that are turned.
    before : str
        Empty for the oldest.
    changes : tuple of Change
    must_be_looked_at : bool
        Whether changes without evidence are held against this release; the older ones are only counted.
    """

    release: str
    profile: str
    before: str
    changes: tuple[Change, ...]
    must_be_looked_at: bool

    @property
    def without_evidence(self) -> tuple[Change, ...]:
        """The changes of which nothing is known."""
        return tuple(change for change in self.changes if not change.evidence)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "release": self.release,
            "profile": self.profile,
            "before": self.before or None,
            "must_be_looked_at": self.must_be_looked_at,
            "changes": [change.to_json() for change in self.changes],
        }


def column_of(classes: Classes) -> Column:
    """What a release's classes say of all that is cited."""
    column = Column({name: classes.digest(name) for name in cited()})
    for name, java_class, spellings in default_fields():
        for spelling in spellings:
            value = classes.initial_value(java_class, spelling)
            if value is not None:
                column.defaults[name] = value
                break
    return column


def compared(columns: Mapping[str, Column], readings: Readings, release: str) -> Comparison:
    """A release beside the one before it in the columns, which are in the order of releases."""
    releases = list(columns)
    number = releases.index(release)
    before = releases[number - 1] if number else ""
    older = columns[before].digests if before else {}
    changes = [
        Change(name, digest, _evidence(columns, readings, name, digest), speakers)
        for name, speakers in cited().items()
        if before and (digest := columns[release].digests.get(name, "")) != older.get(name, "")
    ]
    watched = release_numbers(release) >= release_numbers(readings.watched_from)
    return Comparison(release, profile_for(release, with_switches=True)[0], before, tuple(changes), watched)


def _evidence(columns: Mapping[str, Column], readings: Readings, name: str, digest: str) -> str:
    """What is known of a digest: a reading, or a release that has it and was read as a whole."""
    for release in readings.written_from:
        if release in columns and columns[release].digests.get(name, "") == digest:
            return f"as in {release}"
    return readings.facts.get(name, {}).get(digest, "")


def stale_readings(columns: Mapping[str, Column], readings: Readings) -> list[str]:
    """The readings that were made for a digest that no release has, a sentence each."""
    return [
        f"the reading of {name} is for {digest}, which no release has: “{fact}”"
        for name, facts in readings.facts.items()
        for digest, fact in facts.items()
        if not any(column.digests.get(name) == digest for column in columns.values())
    ]


def not_kept(kept: Mapping[str, Column]) -> list[str]:
    """The names that are cited and of which no release has a digest on record."""
    return [name for name in cited() if not any(name in column.digests for column in kept.values())]


def differences(kept: Mapping[str, Column], found: Mapping[str, Column]) -> list[str]:
    """Where the classes of a release are not what is kept of it, a sentence each."""
    told: list[str] = []
    unknown = set(not_kept(kept))
    for release in (one for one in found if one in kept):
        old, new = kept[release], found[release]
        for name, digest in new.digests.items():
            was = old.digests.get(name, "")
            if name not in unknown and was != digest:
                told.append(f"{name} of {release} is {digest or 'not there'}, and kept as {was or 'not there'}")
        told += [
            f"{name} of {release} is {new.defaults.get(name)}, and kept as {old.defaults.get(name)}"
            for name in sorted(old.defaults.keys() | new.defaults.keys())
            if old.defaults.get(name) != new.defaults.get(name)
        ]
    return told


def members(comparison: Comparison, jars: Mapping[str, Sequence[Path]]) -> Comparison:
    """The comparison, and of each changed class without evidence the methods that changed."""
    wanted = [change for change in comparison.without_evidence if "#" not in change.name]
    if not wanted:
        return comparison
    old, new = Classes(jars[comparison.before]), Classes(jars[comparison.release])
    told = {}
    for change in wanted:
        before, after = old.methods(change.name), new.methods(change.name)
        told[change.name] = tuple(
            sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        )
    return replace(
        comparison,
        changes=tuple(replace(change, members=told.get(change.name, ())) for change in comparison.changes),
    )
