"""The page docs/generated/releases.md: each release beside the one before, and the evidence for the newest ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.release_gate.cited import cited
from conformance.release_gate.comparison import compared
from document.markdown import markdown
from document.parts import Heading, prose, tabulated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.release_gate.comparison import ReleaseComparison
    from conformance.release_gate.recorded_digests import Column, Evidence
    from document.parts import Part, Table

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
    """What changed in a release, what that means, and who speaks of it."""
    rows = []
    for change in comparison.changes:
        speakers = change.speakers
        code = ", ".join(f"`{name}`" for name in (*speakers.specification, *speakers.reference, *speakers.switches))
        who = ", ".join(part for part in (code, *speakers.catalogue) if part)
        rows.append((f"`{change.name}`", who, change.evidence or "**nothing**"))
    return tabulated("class or method", "who speaks of it", "what is known", rows=rows)
