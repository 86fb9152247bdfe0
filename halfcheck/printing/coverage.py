"""Coverage as tables, for `halfcheck coverage`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from halfcheck.printing.fitting_table import FittingTable

if TYPE_CHECKING:
    from model_check.guard_coverage import ActionCoverage, Coverage


def action_table(coverage: Coverage) -> FittingTable:
    """A row an action: how often it was enabled, and, as warnings, which of its rules were never the first false."""
    table = FittingTable("action", ">enabled", ">rules", f"~warnings, in {coverage.states:,} states")
    for action in coverage.actions:
        table.add_row(action.name, f"{action.enabled:,}", str(len(action.conjuncts)), _warnings(action))
    return table


def claim_table(coverage: Coverage) -> FittingTable:
    """A row a clause and a witness: in how many states it is violated, or seen."""
    table = FittingTable("clause or witness", "", ">states")
    for clause, states in coverage.violated.items():
        table.add_row(clause, "violated in", f"{states:,}")
    for witness, states in coverage.witnessed.items():
        table.add_row(witness, "seen in", f"{states:,}" if states else Text("0", style="yellow"))
    return table


def _warnings(action: ActionCoverage) -> Text:
    idle = [f"never the first false: {c.kind}: {c.label}" for c in action.conjuncts if c.first_false == 0]
    return Text("\n".join(["never enabled"] * (action.enabled == 0) + idle), style="yellow")
