"""Coverage as tables, for `halfcheck coverage`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from document.parts import Paragraph, Tone, tabulated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from document.parts import Table
    from model_check.guard_coverage import ActionCoverage, Coverage


def coverage_tables(coverage: Coverage) -> Iterator[Table]:
    """A row an action, with its rules that were never the first false; a row a clause or witness, with its states."""
    rows = [(one.name, f"{one.enabled:,}", len(one.conjuncts), _warnings(one)) for one in coverage.actions]
    yield tabulated("action", ">enabled", ">rules", f"~warnings, in {coverage.states:,} states", rows=rows)
    violated = [(clause, "violated in", f"{states:,}") for clause, states in coverage.violated.items()]
    witnessed = [
        (witness, "seen in", f"{states:,}" if states else Paragraph("0", Tone.WARNING))
        for witness, states in coverage.witnessed.items()
    ]
    yield tabulated("clause or witness", "", ">states", rows=(*violated, *witnessed))


def _warnings(action: ActionCoverage) -> Paragraph:
    idle = [f"never the first false: {c.kind}: {c.label}" for c in action.conjuncts if c.first_false == 0]
    return Paragraph("\n".join(["never enabled"] * (action.enabled == 0) + idle), Tone.WARNING)
