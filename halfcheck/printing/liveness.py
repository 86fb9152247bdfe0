"""The answer of `halfcheck liveness` in words: each violation as a way into a cycle and the cycle, then what holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from document.parts import Heading, Names, Paragraph, Part, Tone
from document.words import counted
from files.durations import taken
from halfcheck.printing.check import MOST_COUNTEREXAMPLES
from halfcheck.printing.counterexample import counterexample_table
from model_check.finding import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from model_check.liveness.check import LivenessFinding, ResponseRow, UnfoldedLasso


def responses(finding: LivenessFinding, *, everything: bool = False) -> Iterator[Part]:
    """What is violated, with the shortest ways into a cycle; what is unknown and what holds, and under what."""
    world, numbers, violated = finding.world, finding.numbers, finding.violated
    size = world.instance
    verb = "is" if len(violated) == 1 else "are"
    yield Paragraph(
        f"RocketMQ {world.profile} {world.environment.beside_a_profile}, runs of any length, instance {size.name} "
        f"({counted(size.transactions, 'transaction')} at a time, {counted(size.check_max, 'check')}): "
        f"{len(violated) or 'none'} of {counted(len(finding.rows), 'response')} {verb} violated",
        Tone.TITLE,
    )
    for row in violated:
        like = f" ({', '.join(row.response.resembles)})" if row.response.resembles else ""
        claim = f"{row.response.name}{like}, {_extent(row.lasso)}. Claimed: {row.response.sentence}"
        yield Paragraph(claim, Tone.BAD)
    shown = violated if everything else violated[:MOST_COUNTEREXAMPLES]
    for row in shown:
        if row.lasso is not None:
            yield Heading(f"{row.response.name} is violated; it is owed from step {row.lasso.owed_from} on:")
            yield from lasso_in_steps(row.lasso)
    yield Paragraph("")
    if len(shown) < len(violated):
        more = counted(len(violated) - len(shown), "more lasso")
        yield Paragraph(f"{more}: --property ID shows one, --all shows all")
    yield from _rest(finding.rows)
    extent = "all reachable states" if numbers.complete else "CUT SHORT: not all reachable states"
    yield Paragraph(
        f"{extent}: {numbers.distinct:,} distinct, {numbers.generated:,} generated, depth {numbers.depth}; "
        f"{taken(numbers.seconds)}",
    )


def _extent(lasso: UnfoldedLasso | None) -> str:
    if lasso is None or not lasso.cycle:
        return f"{len(lasso.stem) if lasso else 0} steps, and nothing more happens"
    return f"{len(lasso.stem)} steps, then {len(lasso.cycle)} again and again"


def lasso_in_steps(lasso: UnfoldedLasso) -> Iterator[Part]:
    """The way into the cycle, the cycle, and the command that takes both."""
    yield counterexample_table(lasso.stem)
    if lasso.cycle:
        yield Paragraph("from here on, again and again:", Tone.TITLE)
        yield counterexample_table(lasso.cycle)
    renamed = [f"{name} {a} is now {name} {b}" for name, names in lasso.renaming.items() for a, b in names.items()]
    if renamed:
        yield Paragraph(f"when it begins anew, {', '.join(renamed)}")
    yield Paragraph(lasso.command)


def _rest(rows: Sequence[ResponseRow]) -> Iterator[Part]:
    unknown = [row for row in rows if row.verdict is Verdict.UNKNOWN]
    for reason in dict.fromkeys(row.why for row in unknown):
        names = tuple(row.response.name for row in unknown if row.why == reason)
        yield Names(f"{len(names)} {'is' if len(names) == 1 else 'are'} unknown: {reason}", names)
    for row in rows:
        if row.verdict is Verdict.HOLDS:
            yield Paragraph(f"{row.response.name} holds: {row.response.sentence}", Tone.GOOD)
    promises = dict.fromkeys(promise for row in rows for promise in row.promises)
    fair = [f"{promise.name}{' (strong)' if promise.is_strong else ''}: {promise.sentence}" for promise in promises]
    yield Paragraph(f"fairness, as far as a response needs it: {'; '.join(fair) or 'none'}")
    ends = dict.fromkeys(event for row in rows for event in row.response.once)
    yield Paragraph(f"of runs in which these come to an end, as far as a response says so: {', '.join(ends)}")
