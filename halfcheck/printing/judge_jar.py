"""The output of `halfcheck judge-jar`: the verdict in some sentences, a row a clause, and the shortest schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from document.parts import Code, Heading, Paragraph, Tone, tabulated
from document.words import counted
from files.durations import about
from fuzz.real_alone.claims import ClauseOutcome
from model_check.wording.clauses import GUARANTEES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from document.parts import Part
    from fuzz.real_alone.claims import ClauseOnJar
    from fuzz.real_alone.hunt import NewlyBroken
    from fuzz.real_alone.schedules import StagedSchedule
    from fuzz.real_alone.verdict import JarVerdict

_ORDER: Final = (
    ClauseOutcome.PART, ClauseOutcome.MENDED, ClauseOutcome.OPEN, ClauseOutcome.STILL, ClauseOutcome.LEFT_OUT,
)  # fmt: skip
_TONES: Final = {ClauseOutcome.PART: Tone.BAD, ClauseOutcome.MENDED: Tone.GOOD, ClauseOutcome.OPEN: Tone.WARNING}


def verdict_parts(verdict: JarVerdict, files: Mapping[str, str], *, every_row: bool) -> Iterator[Part]:
    """The page.

    Parameters
    ----------
    files
        The command that takes a schedule again, by its name (`schedules_of`); none where no files were written.
    every_row
        Whether clauses stand in the table, too, that the jar breaks with every answer as the release gives it.
    """
    yield from _sentences(verdict)
    yield Paragraph(_numbers(verdict))
    if verdict.first_difference:
        yield Paragraph(f"where it does otherwise at all: {verdict.first_difference}")
    yield from _table(verdict, every_row=every_row)
    for name, (schedule, what) in schedules_of(verdict).items():
        yield Heading(name, 3)
        yield Paragraph(f"{what}; {schedule.world.environment.in_words()}, instance {schedule.world.instance.name}")
        yield Code(numbered(schedule))
        if name in files:
            yield Code(files[name])


def schedules_of(verdict: JarVerdict) -> dict[str, tuple[StagedSchedule, str]]:
    """The shortest schedules by their names, with what was seen on each."""
    new = {found.identifier: (found.schedule, found.what) for found in verdict.newly_broken}
    parts = {
        f"{each.name} {each.one.environment.name}": (each.schedule, each.what)
        for each in verdict.of(ClauseOutcome.PART)
        if each.schedule is not None
    }
    other = {f"{found.identifier} otherwise": (found.schedule, found.what) for found in verdict.otherwise_broken}
    return new | parts | other


def numbered(schedule: StagedSchedule) -> str:
    """The steps, one a line, with the ticks since the start."""
    lines, tick = [], 0
    for number, step in enumerate(schedule.steps, start=1):
        tick += step.action.name == "tick"
        lines.append(f"{number:4}  tick {tick:<3} {step}")
    return "\n".join(lines)


def _sentences(verdict: JarVerdict) -> Iterator[Part]:
    """What the jar does to the guarantees, gravest first."""
    name, release = verdict.given.name, verdict.given.release
    for found in verdict.newly_broken:
        yield Paragraph(f"{name} breaks what {release} does not: {_in_words(found)}", Tone.BAD)
    part = verdict.of(ClauseOutcome.PART)
    in_part = {each.name for each in part}
    mended = [each for each in verdict.of(ClauseOutcome.MENDED) if each.name not in in_part]
    by_half = verdict.mended_by_half
    if by_half:
        yield Paragraph(f"{name} mends only a part of {_still_broken(by_half)}", Tone.BAD)
    if with_more_faults := [each for each in part if each not in by_half]:
        yield Paragraph(
            f"with more faults, {name} mends only a part of {_still_broken(with_more_faults)}; that is no fault of a "
            "repair which needs none of them"
        )
    if mended:
        least = min(each.played for each in mended)
        yield Paragraph(
            f"{name} mends {_names(mended)}: broken in no schedule that was played, {least} or more each",
            Tone.GOOD if verdict.is_good else Tone.PLAIN,
        )
    for found in verdict.otherwise_broken:
        yield Paragraph(f"not new, as {release} breaks it with the same faults by other schedules: {_in_words(found)}")
    if not (part or mended or verdict.hunted.found):
        same = (
            "does otherwise, but breaks and mends nothing that was seen"
            if verdict.first_difference
            else (f"does all that {release} does, and mends nothing")
        )
        yield Paragraph(f"{name} {same}", Tone.TITLE)


def _still_broken(part: Sequence[ClauseOnJar]) -> str:
    least = min(len(each.schedule.steps) for each in part if each.schedule is not None)
    return f"{_names(part)}: others than the counterexample still break it, the shortest in {counted(least, 'step')}"


def _in_words(found: NewlyBroken) -> str:
    what = f"{found.identifier} ({GUARANTEES[found.identifier]}), {found.what}"
    return f"{what}; in {counted(len(found.schedule.steps), 'step')}, {found.environment.in_words()}"


def _names(verdicts: Iterable[ClauseOnJar]) -> str:
    """The clauses, with the faults that they take."""
    by_name: dict[str, list[str]] = {}
    for each in verdicts:
        by_name.setdefault(each.name, []).append(each.one.environment.in_words())
    return ", ".join(f"{name} ({'; '.join(faults)})" for name, faults in by_name.items())


def _numbers(verdict: JarVerdict) -> str:
    counts = ", ".join(f"{len(verdict.of(outcome))} {outcome.value}" for outcome in _ORDER if verdict.of(outcome))
    as_released = sum(each.is_as_released for each in verdict.clauses)
    hunted = verdict.hunted
    return (
        f"of {counted(len(verdict.clauses), 'counterexample')} of {verdict.given.release}: {counts}; {as_released} "
        f"with every answer as released. {hunted.played:,} schedules on both builds, {hunted.alike:,} of them break "
        f"the same in both; {about(verdict.seconds)}"
    )


def _table(verdict: JarVerdict, *, every_row: bool) -> Iterator[Part]:
    rows = [
        (
            *(each.name, each.one.environment.name, Paragraph(outcome.value, _TONES.get(outcome, Tone.PLAIN))),
            f"{each.broken} of {each.played}" if each.played else "",
            each.one.depth if each.schedule is None else len(each.schedule.steps),
            "every answer as released" if each.is_as_released else each.what or each.difference,
        )
        for outcome in _ORDER
        for each in verdict.of(outcome)
        if every_row or not (each.is_as_released or outcome is ClauseOutcome.LEFT_OUT)
    ]
    if rows:
        yield tabulated("clause", "faults", "what became of it", ">broken in", ">steps", "~what was seen", rows=rows)
    if len(rows) < len(verdict.clauses):
        left = len(verdict.clauses) - len(rows)
        yield Paragraph(f"{counted(left, 'counterexample')} more, still broken as released or not played: --all")
