"""The answer of `halfcheck conf` in words: what is broken and what to do, how in seconds, what stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from document.console import PIPE_COLUMNS, beside, listed, say, wide_console
from document.fitting_table import FittingTable
from document.words import counted
from files.durations import duration, moment, taken
from halfcheck.printing.check import MOST_COUNTEREXAMPLES, print_holding, print_unknown
from model_check.broker_conf.judgement import ConfJudgement, is_besides
from model_check.broker_conf.words import FoldedRounds, folded, schedule_lines
from model_check.clauses import name_of
from model_check.remedies.advice import remedy
from model_check.wording.clauses import meaning_of
from model_check.wording.faults import FAULTS_IN_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from model_check.broker_conf.suggestions import Suggestions
    from model_check.configuration import Configuration
    from model_check.finding import Violated
    from spec.language import Property


def print_judgement(judgement: ConfJudgement, title: str, suggestions: Suggestions | None, *, everything: bool) -> None:
    """What is broken, gravest first; what would mend it; the counterexamples; what is open, cannot occur, and holds.

    The title is the release and the file. `everything`, as `--all` asks, has all counterexamples, what holds, what
    cannot occur here, and the orders that the ticks keep.
    """
    console, whole, broken = wide_console(), judgement.whole, judgement.broken
    verb = "are" if len(broken) > 1 else "is"
    gravest = ", gravest first" if len(broken) > 1 else ""
    count = f"{len(broken) or 'none'} of {counted(len(whole.rows), 'guarantee')} {verb} broken{gravest}"
    say(console, f"{title}, {whole.world.environment.beside_a_profile}: {count}", "bold")
    for fault in whole.world.environment:
        say(console, f"  {fault}: {FAULTS_IN_WORDS[fault]}")
    _print_broken(console, judgement)
    say(console, _settings(judgement.configuration))
    if suggestions is not None:
        _print_suggestions(console, suggestions)
    elif broken:
        say(console, "--suggest searches which settings, immunities or versions would mend some of it")
    _print_counterexamples(console, judgement, everything=everything)
    console.print()
    print_unknown(console, judgement.open, " ({})")
    _print_standing(console, judgement, everything=everything)
    _print_extent(console, judgement, everything=everything)


def _print_broken(console: Console, judgement: ConfJudgement) -> None:
    if not judgement.broken:
        return
    table = FittingTable("broken", "like", ">after", "~what happens, and what to do")
    between = ": " if console.width >= PIPE_COLUMNS else "\n→ "
    for row in judgement.broken:
        meaning = meaning_of(row.clause)
        name = Text(row.name, style="bold red")
        table.add_row(
            name,
            " ".join(row.resembles),
            moment(judgement.after_ms(row)),
            f"{meaning.harm}{between}{remedy(row.clause, judgement.situation)}",
        )
    console.print(table)


def _print_suggestions(console: Console, suggestions: Suggestions) -> None:
    tried = f"{counted(suggestions.tried, 'change')} tried, each searched"
    helpful = [one for one in suggestions.found if one.is_safe]
    harmful = [one for one in suggestions.found if not one.is_safe]
    console.print()
    if helpful:
        say(console, f"What would mend some of it ({tried}):", "bold")
        table = FittingTable("~change", "~mends", "~costs")
        for one in helpful:
            table.add_row(Text(str(one.change), style="green"), _names(one.mends), one.change.cost)
        console.print(table)
    if harmful:
        say(console, "What would mend some of it, and break something else, or perhaps:", "bold")
        table = FittingTable("~change", "~mends", "~breaks", "~costs")
        for one in harmful:
            breaks = [*map(name_of, one.breaks), *(f"perhaps {name_of(clause)}" for clause in one.leaves_open)]
            table.add_row(str(one.change), _names(one.mends), ", ".join(breaks), one.change.cost)
        console.print(table)
    if suggestions.beyond_help:
        nothing = f"Nothing that was tried mends without breaking something else{'' if helpful else f' ({tried})'}"
        listed(console, nothing, list(map(name_of, suggestions.beyond_help)))
    if suggestions.untried:
        listed(console, "Not tried for want of time", [str(change) for change in suggestions.untried])


def _names(clauses: Sequence[Property]) -> str:
    return ", ".join(map(name_of, clauses))


def _print_counterexamples(console: Console, judgement: ConfJudgement, *, everything: bool) -> None:
    """One below the other; clauses that are broken by the same counterexample share it."""
    groups: dict[object, list[Violated]] = {}
    for row in judgement.broken:
        schedule = judgement.schedules[row.clause]
        groups.setdefault((schedule.path, schedule.times), []).append(row)
    for rows in list(groups.values())[: None if everything else MOST_COUNTEREXAMPLES]:
        schedule = judgement.schedules[rows[0].clause]
        console.print()
        for row in rows:
            like = f" ({', '.join(row.resembles)})" if row.resembles else ""
            say(console, f"{row.name}{like} is broken: {row.clause.sentence}", "bold")
        steps = folded(schedule_lines(schedule.machine, schedule.constants, schedule.path, schedule.times))
        width = max((len(moment(step.milliseconds)) for step in steps), default=0)
        for step in steps:
            style = "dim" if isinstance(step, FoldedRounds) else ""
            beside(console, f"  {moment(step.milliseconds):>{width}}  ", step.words, style)
        if schedule.late_ms:
            late = f"(a round comes {duration(schedule.late_ms)} later than transactionCheckInterval asks)"
            beside(console, " " * (width + 6), late, "dim")
    if len(groups) > MOST_COUNTEREXAMPLES and not everything:
        left = counted(len(groups) - MOST_COUNTEREXAMPLES, "more counterexample")
        console.print()
        say(console, f"{left}: --property ID shows one, --all shows all")


def _print_standing(console: Console, judgement: ConfJudgement, *, everything: bool) -> None:
    cannot, holding = judgement.cannot_occur, judgement.holding
    if cannot and everything:
        say(console, f"{len(cannot)} cannot occur here:")
        for why in dict.fromkeys(cannot.values()):
            names = [name_of(clause) for clause, needs in cannot.items() if needs == why]
            listed(console, f"  {why}", names)
    elif cannot:
        off = sum(why.startswith("needs the fault") for why in cannot.values())
        others = f", {len(cannot) - off} for want of something else" if off < len(cannot) else ""
        say(console, f"{len(cannot)} cannot occur here: {off} for want of a fault (--faults){others}; --all lists them")
    if not holding:
        return
    verb = "holds" if len(holding) == 1 else "hold"
    print_holding(console, holding, f"{counted(len(holding), 'guarantee')} {verb}", everything=everything)
    for_any = judgement.for_any_number
    if for_any:
        those = "all of them" if len(for_any) == len(holding) else f"{len(for_any)} of them"
        whereof = "for any number of transactions, in runs of any length, with the times of crowd instead of these"
        say(console, f"{those} {whereof}", style="green")


def _print_extent(console: Console, judgement: ConfJudgement, *, everything: bool) -> None:
    for answer in judgement.answers:
        sizes, quotient, numbers = answer.quotient.instance, answer.quotient, answer.finding.numbers
        size = f"{counted(sizes.transactions, 'transaction')}, {sizes.half_slots} half slots, {sizes.op_slots} op slots"
        seen = (
            "its first states, for what they break"
            if is_besides(answer.base, judgement.answers[0].base)
            else "CUT SHORT, not every reachable state"
        )
        extent = "every reachable state" if numbers.complete else seen
        ticks = quotient.sentence() if everything else quotient.times_in_ticks()
        say(console, f"Searched with the sizes of {answer.base.name}: {size}, {ticks}")
        beside(
            console,
            "    ",
            f"{extent}: {numbers.distinct:,} distinct, depth {numbers.depth}, {taken(numbers.seconds)}",
            "",
        )
    if judgement.left_out:
        left_out = ", ".join(base.name for base in judgement.left_out)
        say(console, f"Not searched, as all that was asked for is broken: {left_out}")
    say(console, "Not asked: what happens where clocks differ or step back (clock_skew, clock_step)")


def _settings(configuration: Configuration) -> str:
    parts = [
        f"transactionTimeOut {duration(configuration.timeout_ms)}",
        f"transactionCheckInterval {duration(configuration.check_interval_ms)}",
        f"transactionCheckMax {configuration.check_max}",
    ]
    if configuration.profile.switches.batches_ops:
        parts.append(f"transactionOpBatchInterval {duration(configuration.op_batch_interval_ms)}")
    immune = ", ".join(duration(milliseconds) for milliseconds in configuration.immunities_ms)
    parts.append(f"messages without an immunity{' or with one of ' + immune if immune else ''}")
    if configuration.reserved_ms is not None:
        parts.append(f"fileReservedTime {duration(configuration.reserved_ms)}, which a half may reach (B45)")
    if configuration.local_ms is not None:
        parts.append(f"local transactions of at most {duration(configuration.local_ms)}")
    return "; ".join(parts)
