"""One search of a run, and whether the table of verdicts says the same of that environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.verdicts.environment import name_of
from spark_trace_analysis.report.data import Searched
from spark_trace_analysis.traces.manifest import options_of

if TYPE_CHECKING:
    from model_check.check import CheckResult
    from model_check.verdicts.table import Table


def searched(result: CheckResult) -> Searched:
    """What the page shows of a search."""
    violated = _violated(result)
    return Searched(
        profile=result.profile,
        environment=result.faults,
        instance=result.instance.name,
        violated=violated,
        others=len(result.clauses) - len(violated),
        distinct=result.distinct,
        depth=result.depth,
        seconds=result.seconds,
        command=f"halfcheck check {options_of(result.profile, result.instance.name, result.faults)}",
    )


def contradictions(result: CheckResult, table: Table) -> list[str]:
    """Where a search and the table of verdicts differ, a line each.

    An environment of which the table does not speak contradicts nothing.
    """
    entry = table.of(result.profile, result.instance.name).get(name_of(result.faults))
    if entry is None:
        return []
    found, said = _violated(result), entry.violated
    lines = [
        f"{clause}: {_steps(found.get(clause))} by the search, {_steps(said.get(clause))} by the table"
        for clause in sorted(found.keys() | said.keys())
        if found.get(clause) != said.get(clause)
    ]
    if not entry.unknown and result.distinct != entry.distinct:
        lines.append(f"{result.distinct:,} states by the search, {entry.distinct:,} by the table")
    return lines


def _violated(result: CheckResult) -> dict[str, int]:
    return {row.name: row.depth for row in result.clauses if row.depth is not None}


def _steps(depth: int | None) -> str:
    return "not violated" if depth is None else f"violated in {depth} steps"
