"""The answer of `check` in words: what is broken and what to do first, then how, then what stands, counted."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from rich.text import Text

from files.durations import taken
from halfcheck.printing.console import beside, counted, counterexample_table, listed, say, wide_console
from halfcheck.printing.fitting_table import FittingTable
from model_check.defects.resemblance import unrepaired
from model_check.instances import switches_of
from model_check.remedies.of_clauses import remedy
from model_check.wording.clauses import meaning_of
from model_check.wording.faults import in_world

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from model_check.check import ClauseResult
    from model_check.portfolio import Judged

MOST_COUNTEREXAMPLES = 3
"""Counterexamples that are shown without `--all`: of the gravest that is broken, and of the next ones."""

MOST_REASONS = 6
"""Reasons why something cannot occur that are listed without `--all`."""


def print_answer(answer: Judged, left: Sequence[str] = (), *, everything: bool = False) -> None:
    """What is broken, gravest first; counterexamples; what is open; what cannot occur here; what holds, and its bounds.

    Parameters
    ----------
    answer
    left
        What is left of what the switches of the profile repair, a sentence a clause.
    everything
        All counterexamples, all that holds and all that cannot occur, as `--all` asks.
    """
    console = wide_console()
    result = answer.result
    verb = "are" if len(answer.broken) > 1 else "is"
    broken = f"{len(answer.broken) or 'none'} of {counted(len(result.clauses), 'guarantee')} {verb} broken"
    if answer.broken_elsewhere:
        broken += f" here, and {len(answer.broken_elsewhere)} in other instances"
    gravest = ", gravest first" if len(answer.broken) > 1 else ""
    say(
        console,
        f"RocketMQ {_who(answer)} {in_world(result.faults)}, {_instances(answer)}: {broken}{gravest}",
        style="bold",
    )
    _print_broken(console, answer)
    for sentence in left:
        say(console, sentence, style="yellow")
    _print_broken_elsewhere(console, answer)
    shown = _print_counterexamples(console, answer, everything=everything)
    console.print()
    print_unknown(console, answer.undecided)
    _print_cannot_occur(console, answer, everything=everything)
    _print_holding(console, answer, everything=everything)
    _print_undecided_lengths(console, answer)
    if shown < len(_by_counterexample(answer)):
        more = counted(len(_by_counterexample(answer)) - shown, "more counterexample")
        say(console, f"{more}: --property ID shows one, --all shows all")
    _print_extent(console, answer)


def _who(answer: Judged) -> str:
    """The profile, or the release that was asked with the profile that speaks for it."""
    profile = answer.result.profile
    return f"{answer.release} (judged by {profile})" if answer.release else profile


def _instances(answer: Judged) -> str:
    names = [searched.instance.name for searched in answer.searched]
    if len(names) > 1:
        return f"instances {', '.join(names[:-1])} and {names[-1]}"
    size = answer.searched[0].instance
    return (
        f"instance {size.name}: {counted(size.transactions, 'transaction')}, {size.half_slots} half slots, "
        f"{size.op_slots} op slots"
        if not answer.left_out
        else f"instance {size.name}"
    )


def _print_broken(console: Console, answer: Judged) -> None:
    for row in answer.broken:
        meaning = meaning_of(row.name)
        where = f" in {row.instance.name}" if row.instance is not None else ""
        what = f", {row.depth} steps{where}: {meaning.harm}. To do: {remedy(row.name, answer.situation)}."
        _paragraph(console, row.name, row.resembles, what, "bold red")


def _print_broken_elsewhere(console: Console, answer: Judged) -> None:
    names = " and ".join(searched.instance.name for searched in answer.searched)
    for row in answer.broken_elsewhere:
        known, why = answer.known[row.clause], answer.cannot_occur.get(row.clause, "")
        here = f"{row.verdict.value} in {names}{f' (it {why})' if why else ''}"
        faults = f" with {', '.join(known.faults)}" if known.faults else ""
        meaning = meaning_of(row.name)
        found = f"broken in {known.instance}{faults}, {known.depth} steps: {meaning.harm}"
        found += f". To do: {remedy(row.name, answer.situation)}."
        like = unrepaired(row.clause, switches_of(answer.result.profile))
        _paragraph(console, row.name, like, f" {here}; {found}", "bold yellow")


def _paragraph(console: Console, name: str, ids: Sequence[str], text: str, style: str) -> None:
    """The name of a clause, the defects that it is like, and a text; later lines are indented."""
    like = f" ({', '.join(ids)})" if ids else ""
    lines = wrap(f"{name}{like}{text}", console.width, subsequent_indent="    ", break_on_hyphens=False)
    told = Text("\n".join(lines))
    told.stylize(style, 0, len(name))
    console.print(told)


def _by_counterexample(answer: Judged) -> list[list[ClauseResult]]:
    """The broken clauses, those with the same counterexample together."""
    groups: dict[object, list[ClauseResult]] = {}
    for row in answer.broken:
        groups.setdefault((row.path, row.instance), []).append(row)
    return list(groups.values())


def _print_counterexamples(console: Console, answer: Judged, *, everything: bool) -> int:
    groups = _by_counterexample(answer)
    chosen = groups if everything else groups[:MOST_COUNTEREXAMPLES]
    for rows in sorted(chosen, key=lambda rows: rows[0].depth or 0):
        console.print()
        for row in rows:
            say(console, f"{row.name} is violated: {row.clause.sentence}", style="bold")
        if rows[0].replayed is not None:
            console.print(counterexample_table(rows[0].replayed.events))
        console.print(Text(answer.result.replay_command(rows[0])), soft_wrap=True)
    return len(chosen)


def print_unknown(console: Console, rows: Sequence[ClauseResult], why: str = ": {}") -> None:
    """The clauses that are unknown, those for the same reason together."""
    for reason in dict.fromkeys(row.reason for row in rows):
        names = [row.name for row in rows if row.reason == reason]
        verb = "is" if len(names) == 1 else "are"
        listed(console, f"{len(names)} {verb} unknown{why.format(reason)}", names)


def _print_cannot_occur(console: Console, answer: Judged, *, everything: bool) -> None:
    reasons = answer.reasons
    total = sum(len(rows) for rows in reasons.values())
    if not total:
        return
    if everything or len(reasons) <= MOST_REASONS:
        say(console, f"{total} cannot occur here:")
        for why, rows in reasons.items():
            listed(console, f"  {why}", [row.name for row in rows])
        return
    off = sum(len(rows) for why, rows in reasons.items() if why.startswith("needs the fault"))
    for_others = [f"{len(rows)} {why}" for why, rows in reasons.items() if not why.startswith("needs the fault")]
    causes = "; ".join([f"{off} for want of a fault that is off (--faults)", *for_others])
    say(console, f"{total} cannot occur here: {causes}; --all lists them")


def _print_holding(console: Console, answer: Judged, *, everything: bool) -> None:
    rows = answer.holding
    if not rows:
        return
    verb = "holds" if len(rows) == 1 else "hold"
    bounds = answer.searched_together
    one_by_one = "" if len(bounds) == 1 else ", each by itself"
    holds = f"{counted(len(rows), 'guarantee')} {verb}, to the bounds of what was searched{one_by_one}"
    print_holding(console, rows, holds, everything=everything)
    for size in bounds:
        beside(console, f"  {size.instance}: ", size.in_words(answer.result.faults))


def _print_undecided_lengths(console: Console, answer: Judged) -> None:
    """Which instances that forget leave open what else holds."""
    for search in answer.unbounded if len(answer.searched) > 1 else ():
        if search.undecided:
            told = f"not decided for runs of any length in {search.instance.name}: {search.undecided}"
            say(console, told, style="yellow")


def print_holding(console: Console, rows: Sequence[ClauseResult], holds: str, *, everything: bool) -> None:
    """A sentence on what holds; with `--all` each clause with its rule."""
    if not everything:
        say(console, f"{holds}; --all lists {'it' if len(rows) == 1 else 'them'}", style="green")
        return
    say(console, f"{holds}:", style="green")
    table = FittingTable("holds", "~rule")
    for row in rows:
        table.add_row(Text(row.name, style="green"), row.clause.sentence)
    console.print(table)


def _print_extent(console: Console, answer: Judged) -> None:
    result = answer.result
    spoken_of = {row.clause.identifier for row in answer.holding}
    for witness in result.unseen:
        if witness.identifier in spoken_of:
            say(console, f"warning: {witness.identifier} may hold for want of anything to speak of: {witness.sentence}")
    if answer.left_out:
        why = "the search was interrupted" if answer.is_interrupted else "all that was asked for is broken"
        say(console, f"not searched, as {why}: {', '.join(answer.left_out)}")
    if result.distinct == 0:
        say(console, f"every trace of at most {result.depth} steps, {taken(result.seconds)}; no states are counted")
        return
    is_broken_off = not result.complete and not answer.undecided
    cut = " and ".join(search.instance.name for search in answer.searched if not search.complete)
    extent = (
        f"all reachable states{cut and ', but not of '}{cut}"
        if result.complete
        else "all states up to what was to be found"
        if is_broken_off
        else "CUT SHORT: not all reachable states"
    )
    say(
        console,
        f"{extent}: {result.distinct:,} distinct, {result.generated:,} generated, depth {result.depth}; "
        f"{taken(result.seconds)}, {result.states_per_second:,} states/s "
        f"(made ready in {result.compile_seconds:.1f} s)",
    )
    if result.disk_bytes:
        say(console, f"{result.peak_bytes:,} bytes in memory at most, {result.disk_bytes:,} bytes of states on disk")
    if result.collision_probability is not None:
        say(
            console,
            f"states are known by fingerprints: some state was missed with a probability of at most "
            f"{result.collision_probability:.2g}",
        )
