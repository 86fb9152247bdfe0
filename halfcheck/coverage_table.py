"""Coverage as tables, for `check --coverage` and `coverage`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from model_check.coverage import ActionCoverage, Coverage


def action_table(coverage: Coverage) -> Table:
    """A row an action: how often it was enabled, and, as warnings, which of its rules were never the first false."""
    table = Table("action", box=None, pad_edge=False)
    table.add_column("enabled", justify="right")
    table.add_column("rules", justify="right")
    table.add_column(f"warnings, in {coverage.states:,} states")
    for action in coverage.actions:
        table.add_row(action.name, f"{action.enabled:,}", str(len(action.conjuncts)), _warnings(action))
    return table


def claim_table(coverage: Coverage) -> Table:
    """A row a clause and a witness: in how many states it is violated, or seen."""
    table = Table("clause or witness", "", box=None, pad_edge=False)
    table.add_column("states", justify="right")
    for clause, states in coverage.violated.items():
        table.add_row(clause, "violated in", f"{states:,}")
    for witness, states in coverage.witnessed.items():
        table.add_row(witness, "seen in", f"{states:,}" if states else Text("0", style="yellow"))
    return table


def _warnings(action: ActionCoverage) -> Text:
    idle = [f"never the first false: {c.kind}: {c.label}" for c in action.conjuncts if c.first_false == 0]
    return Text("\n".join(["never enabled"] * (action.enabled == 0) + idle), style="yellow")
