"""Comparison of releases: the cited classes and methods that changed, the evidence for each change, and the page."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.release_gate.cited import Speakers, cited
from conformance.release_gate.claims import default_fields
from conformance.release_gate.digests import Classes
from conformance.release_gate.recorded import Column, Evidence
from document.markdown import markdown
from document.parts import Heading, Part, Table, prose, tabulated
from model_check.releases import profile_for
from model_check.world import Profile
from spec.releases.broker_defaults import release_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PAGE: Final = Path(__file__).parents[2] / "docs" / "generated" / "releases.md"

_HEAD: Final = """# What each release changed of what rules speak of

The specification, the reference broker and the catalogue of defects name {names} classes and methods of RocketMQ. Of
each one and each of {releases} releases a digest of the bytecode is kept; [releases.md](../releases.md) says how, and
`make releases ARGS=--update` writes it and this page.

**Changed** is what is not as it was in the release before. **Without evidence** is the part of it that is not as in a
release from whose source the specification was written ({written_from}), and of which no reading is
kept. Before {watched_from} it is only counted: the profiles were chosen by reading those sources, and what was
read of each method is not on record.
"""


@dataclass(frozen=True, slots=True)
class DigestChange:
    """A class or method that is not as it was in the release before."""

    name: str
    digest: str
    """Of this release; empty where it has none of that name."""
    evidence: str
    """The fact on record of this digest; empty where there is none."""
    speakers: Speakers
    members: tuple[str, ...] = ()
    """Of a class, the methods that changed, as far as the jars were read."""

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "name": self.name,
            "digest": self.digest,
            "evidence": self.evidence or None,
            "members": list(self.members),
            **asdict(self.speakers),
        }


@dataclass(frozen=True, slots=True)
class ReleaseComparison:
    """A release beside the one before."""

    release: str
    profile: Profile
    """By which it is judged, with the switches that are turned."""
    before: str
    """Empty for the oldest."""
    changes: tuple[DigestChange, ...]
    must_be_looked_at: bool
    """Whether changes without evidence are held against this release; the older ones are only counted."""

    @property
    def without_evidence(self) -> tuple[DigestChange, ...]:
        """The changes with no fact on record."""
        return tuple(change for change in self.changes if not change.evidence)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "release": self.release,
            "profile": self.profile.name,
            "before": self.before or None,
            "must_be_looked_at": self.must_be_looked_at,
            "changes": [change.to_json() for change in self.changes],
        }


def column_of(classes: Classes) -> Column:
    """Digests and defaults of a release for all that is cited."""
    column = Column({name: classes.digest(name) for name in cited()})
    for name, java_class, spellings in default_fields():
        for spelling in spellings:
            value = classes.initial_value(java_class, spelling)
            if value is not None:
                column.defaults[name] = value
                break
    return column


def compared(columns: Mapping[str, Column], evidence: Evidence, release: str) -> ReleaseComparison:
    """A release beside the one before it in the columns, which are in the order of releases."""
    releases = list(columns)
    number = releases.index(release)
    before = releases[number - 1] if number else ""
    older = columns[before].digests if before else {}
    changes = [
        DigestChange(name, digest, _evidence(columns, evidence, name, digest), speakers)
        for name, speakers in cited().items()
        if before and (digest := columns[release].digests.get(name, "")) != older.get(name, "")
    ]
    watched = release_numbers(release) >= release_numbers(evidence.watched_from)
    profile = Profile.of(profile_for(release, with_switches=True)[0])
    return ReleaseComparison(release, profile, before, tuple(changes), watched)


def _evidence(columns: Mapping[str, Column], evidence: Evidence, name: str, digest: str) -> str:
    """The fact on record of a digest, or a release that has the digest and was read as a whole."""
    for release in evidence.written_from:
        if release in columns and columns[release].digests.get(name, "") == digest:
            return f"as in {release}"
    return evidence.facts.get(name, {}).get(digest, "")


def stale_evidence(columns: Mapping[str, Column], evidence: Evidence) -> list[str]:
    """The facts on record for digests that no release has, a sentence each."""
    return [
        f"the reading of {name} is for {digest}, which no release has: “{fact}”"
        for name, facts in evidence.facts.items()
        for digest, fact in facts.items()
        if not any(column.digests.get(name) == digest for column in columns.values())
    ]


def without_digest(recorded: Mapping[str, Column]) -> list[str]:
    """The names that are cited and of which no release has a digest on record."""
    return [name for name in cited() if not any(name in column.digests for column in recorded.values())]


def differences(recorded: Mapping[str, Column], found: Mapping[str, Column]) -> list[str]:
    """Where the classes of a release differ from its record, a sentence each."""
    different: list[str] = []
    unknown = set(without_digest(recorded))
    for release in (one for one in found if one in recorded):
        old, new = recorded[release], found[release]
        for name, digest in new.digests.items():
            was = old.digests.get(name, "")
            if name not in unknown and was != digest:
                different.append(f"{name} of {release} is {digest or 'not there'}, and kept as {was or 'not there'}")
        different += [
            f"{name} of {release} is {new.defaults.get(name)}, and kept as {old.defaults.get(name)}"
            for name in sorted(old.defaults.keys() | new.defaults.keys())
            if old.defaults.get(name) != new.defaults.get(name)
        ]
    return different


def members(comparison: ReleaseComparison, jars: Mapping[str, Sequence[Path]]) -> ReleaseComparison:
    """The comparison, and of each changed class without evidence the methods that changed."""
    wanted = [change for change in comparison.without_evidence if "#" not in change.name]
    if not wanted:
        return comparison
    old, new = Classes(jars[comparison.before]), Classes(jars[comparison.release])
    changed = {}
    for change in wanted:
        before, after = old.methods(change.name), new.methods(change.name)
        changed[change.name] = tuple(
            sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        )
    return replace(
        comparison,
        changes=tuple(replace(change, members=changed.get(change.name, ())) for change in comparison.changes),
    )


def page(columns: Mapping[str, Column], evidence: Evidence) -> str:
    """The page's text."""
    comparisons = [compared(columns, evidence, release) for release in columns]
    head = _HEAD.format(
        names=len(cited()),
        releases=len(columns),
        written_from=", ".join(evidence.written_from),
        watched_from=evidence.watched_from,
    )
    rows = [
        (each.release, each.profile, *((len(each.changes), len(each.without_evidence)) if each.before else "––"))
        for each in comparisons
    ]
    parts: list[Part] = [*prose(head), tabulated("release", "judged by", "changed", "without evidence", rows=rows)]
    for each in comparisons:
        if each.must_be_looked_at:
            parts += [Heading(f"{each.release} beside {each.before}"), _changes(each)]
    return markdown(parts)


def _changes(comparison: ReleaseComparison) -> Table:
    """The changes of a release, each with the evidence and who speaks of it."""
    rows = []
    for change in comparison.changes:
        speakers = change.speakers
        code = ", ".join(f"`{name}`" for name in (*speakers.specification, *speakers.reference, *speakers.switches))
        who = ", ".join(part for part in (code, *speakers.catalogue) if part)
        rows.append((f"`{change.name}`", who, change.evidence or "**nothing**"))
    return tabulated("class or method", "who speaks of it", "what is known", rows=rows)
