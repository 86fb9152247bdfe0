"""The answer of `check --compare` in words: what is new, what is mended, what stays, and what it all rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from document.console import PIPE_COLUMNS, listed, say, wide_console
from document.fitting_table import FittingTable
from document.words import counted
from files.durations import moment, taken
from model_check.clauses import name_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import Console

    from model_check.comparison.differences import Comparison, Verdicts
    from model_check.comparison.upgrade_answer import UpgradeAnswer, UpgradeEntry


def print_comparison(
    found: Comparison, answer: UpgradeAnswer, left: Sequence[str], remarks: Sequence[str], file: Path | None
) -> None:
    """The three groups, gravest first, then settings, what is left open, and where the verdicts are from.

    Parameters
    ----------
    found
    answer
    left
        What is left of what the switches of the second profile repair, a sentence a clause.
    remarks
        What the two releases do with settings.
    file
        The broker.conf with which both were judged, if there is one.
    """
    console = wide_console()
    before, after = found.before.asked.name, found.after.asked.name
    conf = f" with {file}" if file is not None else ""
    numbers = f"{len(answer.new)} new, {len(answer.mended)} mended, {len(answer.both)} in both"
    say(console, f"From {before} to {after}{conf}, {found.before.environment.beside_a_profile}: {numbers}", "bold")
    _print_group(console, f"New or worse with {after}", answer.new, "bold red", "Nothing is new")
    for sentence in left:
        say(console, sentence, "yellow")
    _print_group(console, f"Mended by {after}", answer.mended, "green", "Nothing is mended")
    _print_group(console, f"In both, {before} and {after}", answer.both, "yellow", "Nothing is broken in both")
    console.print()
    for sentence in remarks:
        say(console, sentence)
    _print_standing(console, found)
    _print_open(console, found)
    _print_extent(console, found)


def _print_group(console: Console, title: str, entries: Sequence[UpgradeEntry], style: str, otherwise: str) -> None:
    console.print()
    if not entries:
        say(console, otherwise)
        return
    say(console, f"{title}, gravest first:", "bold")
    what = "what happens, and what to do" if any(one.remedy for one in entries) else "what happened"
    between = ": " if console.width >= PIPE_COLUMNS else "\n→ "
    table = FittingTable("what", f"~{what}")
    for one in entries:
        always = " (always)" if one.is_always_there and one.clause is None else ""
        needs = f" (with {', '.join(one.needs)})" if one.needs else always
        when = "" if one.after_ms is None else f", after {moment(one.after_ms)}"
        told = f"{one.happens}{needs}{when}"
        told += f"{between}{one.remedy}" if one.remedy else ""
        table.add_row(Text(one.name, style=style if one.clause is not None else ""), told)
    console.print(table)


def _print_standing(console: Console, found: Comparison) -> None:
    """How many guarantees neither of them breaks; that they hold is to the bounds of what was searched."""
    holding = found.same.get("holds", ())
    if holding:
        verb = "holds" if len(holding) == 1 else "hold"
        say(console, f"{counted(len(holding), 'guarantee')} {verb} in both, to the bounds of {_where(found)}", "green")
    cannot = found.same.get("cannot occur", ())
    if cannot:
        say(console, f"{len(cannot)} cannot be broken there, mostly for want of a fault: --faults asks for some")


def _where(found: Comparison) -> str:
    """The instances that both answers are of, to their ends."""
    cut = {*found.before.cut_short, *found.after.cut_short}
    return ", ".join(one.name for one in found.instances if one not in cut)


def _print_open(console: Console, found: Comparison) -> None:
    for side in (found.before, found.after):
        if side.open:
            title = f"Open in {side.asked.name}, whose search was cut short"
            listed(console, title, list(map(name_of, side.open)))


def _print_extent(console: Console, found: Comparison) -> None:
    for side in (found.before, found.after):
        say(console, f"{side.asked.name}: {_extent(side)}")


def _extent(side: Verdicts) -> str:
    known = f"by the table of verdicts ({', '.join(one.name for one in side.known)})" if side.known else ""
    names = ", ".join(f"{one.name} (cut short)" if one in side.cut_short else one.name for one in side.searched)
    searched = f"searched: {names}; {taken(side.seconds)}" if names else ""
    return f"{'; '.join(part for part in (known, searched) if part)}; {side.distinct:,} states"
