"""The page docs/generated/releases.md: each release beside the one before, and the evidence for the newest ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.release_gate.cited import cited
from conformance.release_gate.comparison import compared

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.release_gate.comparison import ReleaseComparison
    from conformance.release_gate.recorded_digests import Column, Evidence

PAGE: Final = Path(__file__).parents[2] / "docs" / "generated" / "releases.md"

_HEAD: Final = """# What each release changed of what rules speak of

The specification, the reference broker and the catalogue of defects name {names} classes and methods of RocketMQ. Of
each one and each of {releases} releases a digest of the bytecode is kept; [releases.md](../releases.md) says how, and
`make releases ARGS=--update` writes it and this page.

**Changed** is what is not as it was in the release before. **Without evidence** is the part of it that is not as in a
release from whose source the specification was written ({written_from}), and of which no reading is
kept. Before {watched_from} it is only counted: the profiles were chosen by reading those sources, and what was
read of each method is not on record.

| release | judged by | changed | without evidence |
|---|---|---|---|
"""


def page(columns: Mapping[str, Column], evidence: Evidence) -> str:
    """The page's text."""
    comparisons = [compared(columns, evidence, release) for release in columns]
    lines = [
        _HEAD.format(
            names=len(cited()),
            releases=len(columns),
            written_from=", ".join(evidence.written_from),
            watched_from=evidence.watched_from,
        ).rstrip("\n")
    ]
    for each in comparisons:
        counted = f"{len(each.changes)} | {len(each.without_evidence)}" if each.before else "– | –"
        lines.append(f"| {each.release} | {each.profile} | {counted} |")
    for each in comparisons:
        if each.must_be_looked_at:
            lines += _of_release(each)
    return "\n".join(lines) + "\n"


def _of_release(comparison: ReleaseComparison) -> Iterator[str]:
    """The changes of a release, each with its speakers and its evidence."""
    yield from ("", f"## {comparison.release} beside {comparison.before}", "")
    yield from ("| class or method | who speaks of it | what is known |", "|---|---|---|")
    for change in comparison.changes:
        speakers = change.speakers
        code = ", ".join(f"`{name}`" for name in (*speakers.specification, *speakers.reference, *speakers.switches))
        who = ", ".join(part for part in (code, *speakers.catalogue) if part)
        yield f"| `{change.name}` | {who} | {change.evidence or '**nothing**'} |"
