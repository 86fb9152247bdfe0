"""What ``halfcheck defects`` prints: the answers to words, and a defect in full with its counterexample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.text import Text

from halfcheck.printing.console import counterexample_table, wide_console
from halfcheck.printing.defect_lists import print_by_symptom, print_list
from halfcheck.printing.fitting_table import FittingTable
from model_check.defects.affected import is_in
from model_check.remedies.advice import remedy_of
from model_check.wording.clauses import meaning_of
from spec.releases.broker_defaults import NEWEST_RELEASE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from fuzz.defects.scenario import PlayedScenario
    from halfcheck.printing.defect_lists import OnRecord
    from model_check.defects.catalogue import Defect, WrongRepair
    from model_check.defects.lasso_search import FoundLasso
    from model_check.defects.lookup import Lookup
    from model_check.defects.question import DefectQuestion, DefectSearch, LassoSearch
    from model_check.defects.search import FoundDefect

_CHANGES_SHOWN: Final = 2
"""So many changes of a step are printed: the whole of a state hides what an operator looks for."""


_IS_IN: Final = {
    True: "yes",
    False: "no",
    None: f"not known: it is newer than {NEWEST_RELEASE}, the newest release whose source has been read",
}


def print_answers(
    answers: Sequence[Lookup],
    in_full: Sequence[Defect],
    on_record: OnRecord,
    searched: dict[str, FoundDefect],
    played: dict[str, PlayedScenario],
    lassos: Mapping[str, FoundLasso],
    release: str | None = None,
) -> None:
    """Print what was asked for by id in full, then a table for each other word.

    Parameters
    ----------
    release
        Whether it has a defect is said of each that is printed in full.
    """
    console = wide_console()
    _print_in_full(console, in_full, searched, played, lassos, release)
    for number, answer in enumerate(answer for answer in answers if answer.title):
        if number or in_full:
            console.print()
        if not answer.defects:
            console.print(f"{answer.title}{':' if answer.by_symptom else ''} no defect that is known", style="bold")
            continue
        console.print(f"{answer.title}:", style="bold")
        if answer.by_symptom:
            print_by_symptom(answer.defects)
        else:
            print_list(answer.defects, on_record, searched, played)


Shown = dict[tuple[str, ...], str]
"""The steps of the counterexamples that were printed, to what they were printed for."""


def _print_in_full(
    console: Console,
    defects: Sequence[Defect],
    searched: Mapping[str, FoundDefect],
    played: Mapping[str, PlayedScenario],
    lassos: Mapping[str, FoundLasso],
    release: str | None,
) -> None:
    """One below the other, each counterexample once."""
    for number, defect in enumerate(defects):
        shown: Shown = {}
        if number:
            console.print()
        _print_facts(console, defect, release)
        found = searched.get(defect.identifier)
        if found is not None and defect.search is not None:
            console.print()
            _print_search(console, defect.identifier, defect.search, found, shown)
        endless = lassos.get(defect.identifier)
        if endless is not None and defect.lasso is not None:
            console.print()
            _print_lasso(console, defect.lasso, endless)
        if defect.identifier in played:
            console.print()
            _print_played(console, played[defect.identifier])
        for wrong in defect.wrong_repairs:
            console.print()
            _print_wrong(console, defect, wrong, searched.get(defect.recorded_as(wrong)), shown)


def _print_facts(console: Console, defect: Defect, release: str | None) -> None:
    console.print(Text(f"{defect.identifier}: {defect.name}", style="bold"))
    what = [("what a user sees", defect.effect)]
    if defect.search is not None:
        what = [("what happens", f"{meaning_of(defect.search.clause).harm} ({defect.effect})")]
    what.append(("to do", remedy_of(defect.identifier)))
    breaks = f"breaks {' '.join(defect.properties) or 'nothing that is listed here'}"
    what.append(("versions", f"{defect.versions}; {breaks}"))
    if release is not None:
        what.append((f"in {release}", _IS_IN[is_in(defect, release)]))
    if defect.repair:
        what.append(("repair", defect.repair))
    if defect.issues:
        issues = ("#" + one if one.isdigit() and len(one) < 7 else one for one in defect.issues)
        what.append(("reported", ", ".join(issues)))
    what.append(("how it comes about", defect.mechanism))
    for title, text in what:
        console.print(Text.assemble((f"{title}: ", "bold"), text))
    if defect.search is None:
        console.print(f"found by: {defect.place}{': ' + defect.why if defect.why else ''}", soft_wrap=True)


def _print_played(console: Console, played: PlayedScenario) -> None:
    scenario = played.scenario
    also = f"; also in {', '.join(map(str, scenario.also_in))}" if scenario.also_in else ""
    console.print(
        f"found in the reference broker: {scenario.story} Breaks {scenario.property_id} in {scenario.affected}{also}; "
        f"gone in {scenario.repaired_in} (played in {played.seconds:.3f} s)."
    )
    table = FittingTable("~seen", f"~{scenario.affected}", f"~{scenario.repaired_in}")
    for row in played.rows:
        table.add_row(*row)
    console.print(table)
    console.print(Text(played.test), soft_wrap=True)
    console.print(Text(played.command), soft_wrap=True)


def _print_wrong(console: Console, defect: Defect, wrong: WrongRepair, found: FoundDefect | None, shown: Shown) -> None:
    console.print(f"wrong repair, {wrong.source}: {wrong.proposal}. What breaks: {wrong.breaks}.")
    if wrong.search is None:
        console.print(f"shown by no search: {wrong.why}")
    elif found is not None:
        _print_search(console, defect.recorded_as(wrong), wrong.search, found, shown)


def _print_search(console: Console, name: str, asked: DefectSearch, found: FoundDefect, shown: Shown) -> None:
    if found.violated.replay is None:
        return
    numbers = found.affected.numbers
    console.print(
        f"found by: a search of {_where(asked)}: {asked.subject} is violated after {found.depth} steps; "
        f"{numbers.distinct:,} states in {numbers.seconds:.3f} s (made ready in {numbers.compile_seconds:.1f} s)"
    )
    events = found.violated.replay.events
    steps = tuple(str(event.step) for event in events)
    if steps in shown:
        console.print(f"the counterexample is that of {shown[steps]}, step by step")
    else:
        console.print(counterexample_table(events, most_changes=_CHANGES_SHOWN))
        console.print("what else changes in each step: halfcheck replay, below")
    shown.setdefault(steps, name)
    if found.repaired is not None and asked.later_on:
        console.print(f"later where the instance is larger, same profile and environment: {found.absence}")
    elif found.repaired is not None:
        console.print(
            f"repaired in {asked.repaired_in}, same environment and instance: {found.absence}; "
            f"{found.repaired.numbers.distinct:,} states in {found.repaired.numbers.seconds:.3f} s"
        )
    else:
        console.print("no profile is rid of it")
    console.print(Text(asked.command), soft_wrap=True)
    console.print(Text(found.violated.command), soft_wrap=True)


def _print_lasso(console: Console, asked: LassoSearch, found: FoundLasso) -> None:
    where = _where(asked)
    extent = f"{found.affected.numbers.distinct:,} states in {found.affected.numbers.seconds:.3f} s"
    if found.lasso is None or found.repaired is None:
        console.print(f"in runs that never end: {asked.subject} holds in {where}; {extent}. {asked.vanishes}")
    else:
        stem, cycle = found.lengths
        console.print(
            f"in runs that never end: {asked.subject} is violated in {where}, by {stem} steps, then {cycle} again and "
            f"again; {extent}"
        )
        from halfcheck.printing.liveness import print_lasso  # loads the engines, which a list must not wait for

        print_lasso(console, found.lasso)
        console.print(f"holds in {asked.repaired_in}; {found.repaired.numbers.distinct:,} states")
    console.print(Text(asked.command), soft_wrap=True)


def _where(asked: DefectQuestion) -> str:
    return f"{asked.world.profile}, {asked.world.environment.name}, on {asked.world.instance.name}"
