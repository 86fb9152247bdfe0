"""The answer of `halfcheck compare` in words: what is new, what is mended, what stays, and what it all rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from document.console import PIPE_COLUMNS
from document.parts import Names, Paragraph, Tone, tabulated
from document.words import counted
from files.durations import moment, taken
from model_check.clauses import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from document.parts import Part
    from model_check.comparison.differences import Comparison, Verdicts
    from model_check.comparison.upgrade_answer import UpgradeAnswer, UpgradeEntry


def comparison_in_words(
    found: Comparison, answer: UpgradeAnswer, left: Sequence[str], remarks: Sequence[str], file: Path | None, width: int
) -> Iterator[Part]:
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
    width
        Columns of the console; where no terminal shows them, a row is a line.
    """
    before, after = found.before.asked.name, found.after.asked.name
    conf = f" with {file}" if file is not None else ""
    numbers = f"{len(answer.new)} new, {len(answer.mended)} mended, {len(answer.both)} in both"
    world = f"From {before} to {after}{conf}, {found.before.environment.beside_a_profile}"
    between = ": " if width >= PIPE_COLUMNS else "\n→ "
    yield Paragraph(f"{world}: {numbers}", Tone.TITLE)
    yield from _group(f"New or worse with {after}", answer.new, Tone.BAD, between, "Nothing is new")
    for sentence in left:
        yield Paragraph(sentence, Tone.WARNING)
    yield from _group(f"Mended by {after}", answer.mended, Tone.GOOD, between, "Nothing is mended")
    in_both = f"In both, {before} and {after}"
    yield from _group(in_both, answer.both, Tone.WARNING, between, "Nothing is broken in both")
    yield Paragraph("")
    yield from map(Paragraph, remarks)
    yield from _standing(found)
    sides = (found.before, found.after)
    for side in sides:
        if side.open:
            title = f"Open in {side.asked.name}, whose search was cut short"
            yield Names(title, tuple(map(name_of, side.open)))
    for side in sides:
        yield Paragraph(f"{side.asked.name}: {_extent(side)}")


def _group(title: str, entries: Sequence[UpgradeEntry], tone: Tone, between: str, otherwise: str) -> Iterator[Part]:
    yield Paragraph("")
    if not entries:
        yield Paragraph(otherwise)
        return
    yield Paragraph(f"{title}, gravest first:", Tone.TITLE)
    what = "what happens, and what to do" if any(one.remedy for one in entries) else "what happened"
    rows = []
    for one in entries:
        always = " (always)" if one.is_always_there and one.clause is None else ""
        needs = f" (with {', '.join(one.needs)})" if one.needs else always
        when = "" if one.after_ms is None else f", after {moment(one.after_ms)}"
        remedy = f"{between}{one.remedy}" if one.remedy else ""
        name = Paragraph(one.name, Tone.PLAIN if one.clause is None else tone)
        rows.append((name, f"{one.happens}{needs}{when}{remedy}"))
    yield tabulated("what", f"~{what}", rows=rows)


def _standing(found: Comparison) -> Iterator[Part]:
    """How many guarantees neither of them breaks; that they hold is to the bounds of what was searched."""
    holding = found.same.get("holds", ())
    if holding:
        verb = "holds" if len(holding) == 1 else "hold"
        holds = f"{counted(len(holding), 'guarantee')} {verb} in both, to the bounds of {_where(found)}"
        yield Paragraph(holds, Tone.GOOD)
    cannot = found.same.get("cannot occur", ())
    if cannot:
        yield Paragraph(f"{len(cannot)} cannot be broken there, mostly for want of a fault: --faults asks for some")


def _where(found: Comparison) -> str:
    """The instances that both answers are of, to their ends."""
    cut = {*found.before.cut_short, *found.after.cut_short}
    return ", ".join(one.name for one in found.instances if one not in cut)


def _extent(side: Verdicts) -> str:
    known = f"by the table of verdicts ({', '.join(one.name for one in side.known)})" if side.known else ""
    names = ", ".join(f"{one.name} (cut short)" if one in side.cut_short else one.name for one in side.searched)
    searched = f"searched: {names}; {taken(side.seconds)}" if names else ""
    return f"{'; '.join(part for part in (known, searched) if part)}; {side.distinct:,} states"
