"""The output of ``halfcheck defects``: lists of defects, and a defect in full with its counterexample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from document.parts import Code, Heading, Paragraph, Part, Tone, tabulated
from document.words import counted
from halfcheck.printing.counterexample import counterexample_table
from model_check.defects.affected import is_in
from model_check.defects.findings import on_classes_in_words
from model_check.remedies.advice import remedy_of
from model_check.wording.clauses import meaning_of
from spec.releases.broker_defaults import NEWEST_RELEASE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fuzz.defects.scenario import PlayedScenario
    from halfcheck.commands.defects import OnRecord
    from model_check.defects.catalogue import Defect, DefectQuestion, DefectSearch, LassoSearch
    from model_check.defects.findings import ClassesFinding
    from model_check.defects.lookup import Lookup
    from model_check.defects.search import FoundDefect, FoundLasso

_CHANGES_SHOWN: Final = 2
"""So many changes of a step are printed: the whole of a state hides what an operator looks for."""

_IS_IN: Final = {
    True: "yes",
    False: "no",
    None: f"not known: it is newer than {NEWEST_RELEASE}, the newest release whose source has been read",
}


def answers_to_words(
    answers: Sequence[Lookup],
    in_full: Sequence[Defect],
    on_record: OnRecord,
    searched: Mapping[str, FoundDefect],
    played: Mapping[str, PlayedScenario],
    lassos: Mapping[str, FoundLasso],
    release: str | None = None,
) -> Iterator[Part]:
    """Defects asked for by id, in full, and whether a release has them; then a table for each other word."""
    for number, defect in enumerate(in_full):
        yield from [Paragraph("")] if number else []
        asked = on_record.on_classes.get(defect.identifier)
        yield from _in_full(defect, asked, searched, played, lassos.get(defect.identifier), release)
    for answer in answers:
        if not answer.title:
            continue
        colon = ":" if answer.by_symptom or answer.defects else ""
        yield Heading(f"{answer.title}{colon}{'' if answer.defects else ' no defect that is known'}")
        if answer.by_symptom and answer.defects:
            yield from _by_symptom(answer.defects)
        elif answer.defects:
            yield from list_of_defects(answer.defects, on_record, searched, played)


def _by_symptom(defects: Sequence[Defect]) -> Iterator[Part]:
    """A row a defect: what a user sees, what it is, and the releases."""
    rows = [(defect.identifier, defect.effect, defect.name, defect.versions) for defect in defects]
    yield tabulated("id", "~what a user sees", "~defect", "affected → fixed", rows=rows)
    yield Paragraph(f"{counted(len(defects), 'defect')}; halfcheck defects ID says of one what happens and what to do")


def list_of_defects(
    defects: Sequence[Defect],
    on_record: OnRecord,
    searched: Mapping[str, FoundDefect],
    played: Mapping[str, PlayedScenario],
) -> Iterator[Part]:
    """A row a defect, and how many are found."""
    findings, shown = on_record.findings, on_record.shown
    rows = []
    for defect in defects:
        finding, found, asked = findings.get(defect.identifier), searched.get(defect.identifier), defect.search
        depth = found.depth if found is not None else finding.depth if finding is not None else None
        seconds = None if finding is None else finding.seconds
        seconds = seconds if found is None else found.affected.numbers.seconds
        by_broker = shown.get(defect.identifier)
        if asked is not None:
            world = asked.subject, asked.world.profile.name, asked.world.environment.name
        elif by_broker is not None:
            world = by_broker.property_id, by_broker.affected, ""
            seconds = played[defect.identifier].seconds if defect.identifier in played else None
        else:
            world = next(iter(defect.properties), ""), "", ""
        numbers = "" if depth is None else depth, "" if seconds is None else f"{seconds:.3f}"
        rows.append((defect.identifier, defect.name, defect.versions, defect.found_by(shown), *world, *numbers))
    columns = "~affected → fixed", "found by", "clause", "~profile", "~environment", ">depth", ">seconds"
    yield tabulated("id", "~defect", *columns, rows=rows)
    by_search = sum(defect.search is not None for defect in defects)
    in_broker = sum(defect.identifier in shown for defect in defects)
    alive = sum(defect.search is not None or defect.identifier in shown for defect in defects)
    yield Paragraph(
        f"{counted(len(defects), 'defect')}, {alive} of them found: {by_search} by a search, "
        f"{in_broker} in the reference broker; halfcheck defects ID shows one in full, with its wrong repairs"
    )


def _in_full(
    defect: Defect,
    asked: ClassesFinding | None,
    searched: Mapping[str, FoundDefect],
    played: Mapping[str, PlayedScenario],
    endless: FoundLasso | None,
    release: str | None,
) -> Iterator[Part]:
    """One below the other, each counterexample once."""
    shown: dict[tuple[str, ...], str] = {}
    yield from _facts(defect, asked, release)
    found = searched.get(defect.identifier)
    if found is not None and defect.search is not None:
        yield Paragraph("")
        yield from _found(defect.identifier, defect.search, found, shown)
    if endless is not None and defect.lasso is not None:
        yield Paragraph("")
        yield from _lasso(defect.lasso, endless)
    if defect.identifier in played:
        yield Paragraph("")
        yield from _played(played[defect.identifier])
    for wrong in defect.wrong_repairs:
        yield Paragraph("")
        yield Paragraph(f"wrong repair, {wrong.source}: {wrong.proposal}. What breaks: {wrong.breaks}.")
        found = searched.get(defect.recorded_as(wrong))
        if wrong.search is None:
            yield Paragraph(f"shown by no search: {wrong.why}")
        elif found is not None:
            yield from _found(defect.recorded_as(wrong), wrong.search, found, shown)


def _facts(defect: Defect, asked: ClassesFinding | None, release: str | None) -> Iterator[Part]:
    yield Paragraph(f"{defect.identifier}: {defect.name}", Tone.TITLE)
    if defect.search is not None:
        yield Paragraph(f"{meaning_of(defect.search.clause).harm} ({defect.effect})", label="what happens")
    else:
        yield Paragraph(defect.effect, label="what a user sees")
    yield Paragraph(remedy_of(defect.identifier), label="to do")
    breaks = f"breaks {' '.join(defect.properties) or 'nothing that is listed here'}"
    yield Paragraph(f"{defect.versions}; {breaks}", label="versions")
    if release is not None:
        yield Paragraph(_IS_IN[is_in(defect, release)], label=f"in {release}")
    if defect.repair:
        yield Paragraph(defect.repair, label="repair")
    if defect.issues:
        issues = ("#" + one if one.isdigit() and len(one) < 7 else one for one in defect.issues)
        yield Paragraph(", ".join(issues), label="reported")
    yield Paragraph(defect.mechanism, label="how it comes about")
    yield Paragraph(on_classes_in_words(defect, asked), label="own classes")
    if defect.search is None:
        yield Code(f"found by: {defect.place}{': ' + defect.why if defect.why else ''}")


def _played(played: PlayedScenario) -> Iterator[Part]:
    scenario = played.scenario
    also = f"; also in {', '.join(map(str, scenario.also_in))}" if scenario.also_in else ""
    yield Paragraph(
        f"found in the reference broker: {scenario.story} Breaks {scenario.property_id} in {scenario.affected}{also}; "
        f"gone in {scenario.repaired_in} (played in {played.seconds:.3f} s)."
    )
    yield tabulated("~seen", f"~{scenario.affected}", f"~{scenario.repaired_in}", rows=played.rows)
    yield Code(played.test)
    yield Code(played.command)


def _found(name: str, asked: DefectSearch, found: FoundDefect, shown: dict[tuple[str, ...], str]) -> Iterator[Part]:
    """A search; `shown` are the steps of the counterexamples that were shown, to what they were shown for."""
    if found.violated.replay is None:
        return
    numbers = found.affected.numbers
    yield Paragraph(
        f"found by: a search of {_where(asked)}: {asked.subject} is violated after {found.depth} steps; "
        f"{numbers.distinct:,} states in {numbers.seconds:.3f} s (made ready in {numbers.compile_seconds:.1f} s)"
    )
    events = found.violated.replay.events
    steps = tuple(str(event.step) for event in events)
    if steps in shown:
        yield Paragraph(f"the counterexample is that of {shown[steps]}, step by step")
    else:
        yield counterexample_table(events, most_changes=_CHANGES_SHOWN)
        yield Paragraph("what else changes in each step: halfcheck replay, below")
    shown.setdefault(steps, name)
    if found.repaired is not None and asked.later_on:
        yield Paragraph(f"later where the instance is larger, same profile and environment: {found.absence}")
    elif found.repaired is not None:
        yield Paragraph(
            f"repaired in {asked.repaired_in}, same environment and instance: {found.absence}; "
            f"{found.repaired.numbers.distinct:,} states in {found.repaired.numbers.seconds:.3f} s"
        )
    else:
        yield Paragraph("no profile is rid of it")
    yield Code(asked.command)
    yield Code(found.violated.command)


def _lasso(asked: LassoSearch, found: FoundLasso) -> Iterator[Part]:
    where = _where(asked)
    extent = f"{found.affected.numbers.distinct:,} states in {found.affected.numbers.seconds:.3f} s"
    if found.lasso is None or found.repaired is None:
        yield Paragraph(f"in runs that never end: {asked.subject} holds in {where}; {extent}. {asked.vanishes}")
    else:
        stem, cycle = found.lengths
        yield Paragraph(
            f"in runs that never end: {asked.subject} is violated in {where}, by {stem} steps, then {cycle} again and "
            f"again; {extent}"
        )
        from halfcheck.printing.liveness import lasso_in_steps  # loads the engines, which a list must not wait for

        yield from lasso_in_steps(found.lasso)
        yield Paragraph(f"holds in {asked.repaired_in}; {found.repaired.numbers.distinct:,} states")
    yield Code(asked.command)


def _where(asked: DefectQuestion) -> str:
    return f"{asked.world.profile}, {asked.world.environment.name}, on {asked.world.instance.name}"
