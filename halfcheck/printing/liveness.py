"""The answer of `halfcheck liveness` in words: each violation as a way into a cycle and the cycle, then what holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from files.durations import taken
from halfcheck.printing.check import MOST_COUNTEREXAMPLES
from halfcheck.printing.console import counted, counterexample_table, listed, say, wide_console
from model_check.finding import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from model_check.liveness.check import LivenessFinding, ResponseRow, UnfoldedLasso


def print_responses(finding: LivenessFinding, *, everything: bool = False) -> None:
    """What is violated, with the shortest ways into a cycle; what is unknown and what holds, and under what."""
    console, world, numbers = wide_console(), finding.world, finding.numbers
    violated, size = finding.violated, world.instance
    verb = "is" if len(violated) == 1 else "are"
    say(
        console,
        f"RocketMQ {world.profile} {world.environment.beside_a_profile}, runs of any length, instance {size.name} "
        f"({counted(size.transactions, 'transaction')} at a time, {counted(size.check_max, 'check')}): "
        f"{len(violated) or 'none'} of {counted(len(finding.rows), 'response')} {verb} violated",
        style="bold",
    )
    for row in violated:
        like = f" ({', '.join(row.response.resembles)})" if row.response.resembles else ""
        say(console, f"{row.response.name}{like}, {_extent(row.lasso)}. Claimed: {row.response.sentence}", "bold red")
    shown = violated if everything else violated[:MOST_COUNTEREXAMPLES]
    for row in shown:
        if row.lasso is not None:
            console.print()
            title = f"{row.response.name} is violated; it is owed from step {row.lasso.owed_from} on:"
            say(console, title, style="bold")
            print_lasso(console, row.lasso)
    console.print()
    if len(shown) < len(violated):
        say(console, f"{counted(len(violated) - len(shown), 'more lasso')}: --property ID shows one, --all shows all")
    _print_rest(console, finding.rows)
    extent = "all reachable states" if numbers.complete else "CUT SHORT: not all reachable states"
    say(
        console,
        f"{extent}: {numbers.distinct:,} distinct, {numbers.generated:,} generated, depth {numbers.depth}; "
        f"{taken(numbers.seconds)}",
    )


def _extent(lasso: UnfoldedLasso | None) -> str:
    if lasso is None or not lasso.cycle:
        return f"{len(lasso.stem) if lasso else 0} steps, and nothing more happens"
    return f"{len(lasso.stem)} steps, then {len(lasso.cycle)} again and again"


def print_lasso(console: Console, lasso: UnfoldedLasso) -> None:
    """The way into the cycle, the cycle, and the command that takes both."""
    console.print(counterexample_table(lasso.stem))
    if lasso.cycle:
        say(console, "from here on, again and again:", style="bold")
        console.print(counterexample_table(lasso.cycle))
    renamed = [f"{name} {a} is now {name} {b}" for name, names in lasso.renaming.items() for a, b in names.items()]
    if renamed:
        say(console, f"when it begins anew, {', '.join(renamed)}")
    say(console, lasso.command)


def _print_rest(console: Console, rows: Sequence[ResponseRow]) -> None:
    unknown = [row for row in rows if row.verdict is Verdict.UNKNOWN]
    for reason in dict.fromkeys(row.why for row in unknown):
        names = [row.response.name for row in unknown if row.why == reason]
        listed(console, f"{len(names)} {'is' if len(names) == 1 else 'are'} unknown: {reason}", names)
    for row in rows:
        if row.verdict is Verdict.HOLDS:
            say(console, f"{row.response.name} holds: {row.response.sentence}", style="green")
    promises = dict.fromkeys(promise for row in rows for promise in row.promises)
    told = [f"{promise.name}{' (strong)' if promise.is_strong else ''}: {promise.sentence}" for promise in promises]
    say(console, f"fairness, as far as a response needs it: {'; '.join(told) or 'none'}")
    ends = dict.fromkeys(event for row in rows for event in row.response.once)
    say(console, f"of runs in which these come to an end, as far as a response says so: {', '.join(ends)}")
