"""The answer of `check` in words: what is broken and what to do first, then how, then what stands, counted."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from rich.text import Text

from document.console import beside, listed, say, show, wide_console
from document.fitting_table import FittingTable
from document.words import counted
from files.durations import taken
from halfcheck.printing.counterexample import counterexample_table
from model_check.defects.resemblance import unrepaired
from model_check.remedies.advice import remedy
from model_check.wording.clauses import meaning_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from model_check.answers.answer import Answer
    from model_check.finding import Bounds, Holds, Row, Violated

MOST_COUNTEREXAMPLES = 3
"""Counterexamples that are shown without `--all`: of the gravest that is broken, and of the next ones."""

MOST_REASONS = 6
"""Reasons why something cannot occur that are listed without `--all`."""


def print_answer(answer: Answer, left: Sequence[str] = (), *, everything: bool = False) -> None:
    """What is broken, gravest first; counterexamples; what is open; what cannot occur here; what holds, and its bounds.

    Parameters
    ----------
    left
        What is left of what the switches of the profile repair, a sentence a clause.
    """
    console = wide_console()
    world = answer.whole.world
    verb = "are" if len(answer.broken) > 1 else "is"
    broken = f"{len(answer.broken) or 'none'} of {counted(len(answer.rows), 'guarantee')} {verb} broken"
    if answer.broken_elsewhere:
        broken += f" here, and {len(answer.broken_elsewhere)} in other instances"
    gravest = ", gravest first" if len(answer.broken) > 1 else ""
    say(
        console,
        f"RocketMQ {_who(answer)} {world.environment.beside_a_profile}, {_instances(answer)}: {broken}{gravest}",
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


def _who(answer: Answer) -> str:
    """The profile, or the release that was asked with the profile that speaks for it."""
    profile = answer.whole.world.profile
    return f"{answer.release} (judged by {profile})" if answer.release else profile.name


def _instances(answer: Answer) -> str:
    names = [finding.world.instance.name for finding in answer.findings]
    if len(names) > 1:
        return f"instances {', '.join(names[:-1])} and {names[-1]}"
    size = answer.findings[0].world.instance
    if answer.findings[0].world.is_crowded:
        return f"instance {size.name}: one transaction among any number of others"
    return (
        f"instance {size.name}: {counted(size.transactions, 'transaction')}, {size.half_slots} half slots, "
        f"{size.op_slots} op slots"
        if not answer.left_out
        else f"instance {size.name}"
    )


def _print_broken(console: Console, answer: Answer) -> None:
    for row in answer.broken:
        where = row.world.instance.name
        harm, to_do = meaning_of(row.clause).harm, remedy(row.clause, answer.situation)
        what = f", {row.depth} steps in {where}: {harm}. To do: {to_do}."
        _paragraph(console, row.name, row.resembles, what, "bold red")


def _print_broken_elsewhere(console: Console, answer: Answer) -> None:
    names = " and ".join(finding.world.instance.name for finding in answer.findings)
    for row in answer.broken_elsewhere:
        known, why = answer.known[row.clause], answer.cannot_occur.get(row.clause, "")
        here = f"{row.verdict.value} in {names}{f' (it {why})' if why else ''}"
        faults = f" with {', '.join(known.environment)}" if known.environment else ""
        found = f"broken in {known.instance.name}{faults}, {known.depth} steps: {meaning_of(row.clause).harm}"
        found += f". To do: {remedy(row.clause, answer.situation)}."
        like = unrepaired(row.clause, answer.whole.world.profile.switches)
        _paragraph(console, row.name, like, f" {here}; {found}", "bold yellow")


def _paragraph(console: Console, name: str, ids: Sequence[str], text: str, style: str) -> None:
    """The name of a clause, the defects that it is like, and a text; later lines are indented."""
    like = f" ({', '.join(ids)})" if ids else ""
    lines = wrap(f"{name}{like}{text}", console.width, subsequent_indent="    ", break_on_hyphens=False)
    paragraph = Text("\n".join(lines))
    paragraph.stylize(style, 0, len(name))
    console.print(paragraph)


def _by_counterexample(answer: Answer) -> list[list[Violated]]:
    """The broken clauses, those with the same counterexample together."""
    groups: dict[object, list[Violated]] = {}
    for row in answer.broken:
        groups.setdefault((row.path, row.world.instance), []).append(row)
    return list(groups.values())


def _print_counterexamples(console: Console, answer: Answer, *, everything: bool) -> int:
    groups = _by_counterexample(answer)
    chosen = groups if everything else groups[:MOST_COUNTEREXAMPLES]
    for rows in sorted(chosen, key=lambda rows: rows[0].depth):
        console.print()
        for row in rows:
            say(console, f"{row.name} is violated: {row.clause.sentence}", style="bold")
        if rows[0].replay is not None:
            show([counterexample_table(rows[0].replay.events)], console)
        console.print(Text(rows[0].command), soft_wrap=True)
    return len(chosen)


def print_unknown(console: Console, rows: Sequence[Row], why: str = ": {}") -> None:
    """The clauses that are unknown, those for the same reason together."""
    for reason in dict.fromkeys(row.why for row in rows):
        names = [row.name for row in rows if row.why == reason]
        verb = "is" if len(names) == 1 else "are"
        listed(console, f"{len(names)} {verb} unknown{why.format(reason)}", names)


def _print_cannot_occur(console: Console, answer: Answer, *, everything: bool) -> None:
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


def _print_holding(console: Console, answer: Answer, *, everything: bool) -> None:
    """What holds for any number of transactions, then what holds to the bounds of searches."""
    for_any = [row for row in answer.holding if row.for_any_number]
    if for_any:
        whereof = "for any number of transactions, in runs of any length"
        _print_those(console, answer, for_any, whereof, for_any[0].bounds, everything=everything)
    bounded = [row for row in answer.holding if not row.for_any_number]
    if bounded:
        bounds = answer.searched_together
        whereof = f"to the bounds of what was searched{'' if len(bounds) == 1 else ', each by itself'}"
        _print_those(console, answer, bounded, whereof, bounds, everything=everything)


def _print_those(
    console: Console,
    answer: Answer,
    rows: Sequence[Holds],
    whereof: str,
    bounds: Sequence[Bounds],
    *,
    everything: bool,
) -> None:
    verb = "holds" if len(rows) == 1 else "hold"
    print_holding(console, rows, f"{counted(len(rows), 'guarantee')} {verb}, {whereof}", everything=everything)
    for size in bounds:
        beside(console, f"  {size.instance}: ", size.in_words(answer.whole.world.environment))


def _print_undecided_lengths(console: Console, answer: Answer) -> None:
    """Which instances that forget leave open what else holds."""
    for finding in answer.unbounded if len(answer.findings) > 1 else ():
        if finding.undecided and not finding.world.is_crowded:
            where = finding.world.instance.name
            say(console, f"not decided for runs of any length in {where}: {finding.undecided}", style="yellow")


def print_holding(console: Console, rows: Sequence[Row], holds: str, *, everything: bool) -> None:
    """A sentence on what holds; with `--all` each clause with its rule."""
    if not everything:
        say(console, f"{holds}; --all lists {'it' if len(rows) == 1 else 'them'}", style="green")
        return
    say(console, f"{holds}:", style="green")
    table = FittingTable("holds", "~rule")
    for row in rows:
        table.add_row(Text(row.name, style="green"), row.clause.sentence)
    console.print(table)


def _print_extent(console: Console, answer: Answer) -> None:
    whole, numbers = answer.whole, answer.whole.numbers
    spoken_of = {row.clause.identifier for row in answer.holding}
    for witness in whole.unseen:
        if witness.identifier in spoken_of:
            say(console, f"warning: {witness.identifier} may hold for want of anything to speak of: {witness.sentence}")
    if answer.left_out:
        why = (
            "the search was interrupted"
            if answer.is_interrupted
            else "they show nothing more"
            if any(finding.world.is_crowded for finding in answer.findings)
            else "all that was asked for is broken"
        )
        say(console, f"not searched, as {why}: {', '.join(instance.name for instance in answer.left_out)}")
    if numbers.distinct == 0:
        say(console, f"every trace of at most {numbers.depth} steps, {taken(numbers.seconds)}; no states are counted")
        return
    is_broken_off = not numbers.complete and not answer.undecided
    cut = " and ".join(one.world.instance.name for one in answer.findings if not one.numbers.complete)
    are_among_others = any(one.world.is_crowded for one in answer.findings)
    but = f", of {cut} up to what they show" if are_among_others else f", but not of {cut}"
    extent = (
        f"all reachable states{but if cut else ''}"
        if numbers.complete
        else "all states up to what was to be found"
        if is_broken_off
        else "CUT SHORT: not all reachable states"
    )
    say(
        console,
        f"{extent}: {numbers.distinct:,} distinct, {numbers.generated:,} generated, depth {numbers.depth}; "
        f"{taken(numbers.seconds)}, {numbers.states_per_second:,} states/s "
        f"(made ready in {numbers.compile_seconds:.1f} s)",
    )
    if numbers.disk_bytes:
        say(console, f"{numbers.peak_bytes:,} bytes in memory at most, {numbers.disk_bytes:,} bytes of states on disk")
    if numbers.collision_probability is not None:
        say(
            console,
            f"states are known by fingerprints: some state was missed with a probability of at most "
            f"{numbers.collision_probability:.2g}",
        )
