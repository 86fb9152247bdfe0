"""What guided walks met, in a table: rare violations first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from model_check.walks.guided.account import Account, Met


def print_account(account: Account) -> None:
    """Print which clauses the walks violate, by which trace, and in what share of plain walks each is violated."""
    from rich.console import Console
    from rich.table import Table

    searched = " and ".join(f"{states:,} of {instance.name}" for instance, states in account.searched.items())
    cost = f"{account.cost:,} states" + (f", {searched} in searches" if searched else "")
    walks = f"{account.walks:,} walks" if account.walks != 1 else "1 walk"
    console = Console(highlight=False)
    rare = sorted((one for one in account.met if one.is_rare), key=lambda one: one.name)
    console.print(f"guided: {walks} ({cost}) violate {len(account.met)} clauses, {len(rare)} of them rare")
    if rare:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for column in ("rare clause", "share of plain walks", "95 % interval", "trace"):
            table.add_column(column, justify="right" if column == "trace" else "left")
        for one in rare:
            table.add_row(*_cells(one))
        console.print(table)
        console.print(
            "An interval knows of the ways to a violation that these walks found, and of no others. "
            "Shares are of random walks: no rate of a real system."
        )
    others = sorted(one.name for one in account.met if not one.is_rare)
    if others:
        console.print(f"not rare: {', '.join(others)}")


def _cells(one: Met) -> tuple[str, str, str, str]:
    trace = "-" if one.trace is None else str(one.trace)
    if one.estimate is None:
        return one.name, "-", "-", trace
    low, high = one.estimate.interval
    return one.name, f"{one.estimate.share:.2e}", f"{low:.2e} to {high:.2e}", trace
