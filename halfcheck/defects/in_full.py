"""A defect in full: what happens to a message and what to do, how it comes about, then the counterexample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from halfcheck.printing.counterexample_table import counterexample_table
from halfcheck.printing.fitting_table import FittingTable
from model_check.wording.clauses import meaning_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from fuzz.defects.scenario import Played
    from model_check.defects.catalogue import Defect, Search, WrongRepair
    from model_check.defects.search import Found

Shown = dict[tuple[str, ...], str]
"""The steps of the counterexamples that were printed, to what they were printed for."""


def print_in_full(
    console: Console, defects: Sequence[Defect], searched: Mapping[str, Found], played: Mapping[str, Played]
) -> None:
    """Print defects one below the other, each counterexample once."""
    for number, defect in enumerate(defects):
        shown: Shown = {}
        if number:
            console.print()
        _print_facts(console, defect)
        found = searched.get(defect.identifier)
        if found is not None and defect.search is not None:
            console.print()
            _print_search(console, defect.identifier, defect.search, found, shown)
        if defect.identifier in played:
            console.print()
            _print_played(console, played[defect.identifier])
        for wrong in defect.wrong_repairs:
            console.print()
            _print_wrong(console, defect, wrong, searched.get(defect.recorded_as(wrong)), shown)


def _print_facts(console: Console, defect: Defect) -> None:
    console.print(Text(f"{defect.identifier}: {defect.name}", style="bold"))
    what = [("what a user sees", defect.effect)]
    if defect.search is not None:
        meaning = meaning_of(defect.search.clause)
        what = [("what happens", f"{meaning.harm} ({defect.effect})"), ("to do", meaning.remedy)]
    if defect.repair:
        what.append(("repair", defect.repair))
    what.append(
        ("versions", f"{defect.versions}; breaks {' '.join(defect.properties) or 'nothing that is listed here'}")
    )
    if defect.issues:
        issues = ("#" + one if one.isdigit() and len(one) < 7 else one for one in defect.issues)
        what.append(("reported", ", ".join(issues)))
    what.append(("how it comes about", defect.mechanism))
    for title, text in what:
        console.print(Text.assemble((f"{title}: ", "bold"), text))
    if defect.search is None:
        console.print(f"found by: {defect.place}{': ' + defect.why if defect.why else ''}", soft_wrap=True)


def _print_played(console: Console, played: Played) -> None:
    scenario = played.scenario
    also = f"; also in {', '.join(scenario.also_in)}" if scenario.also_in else ""
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


def _print_wrong(console: Console, defect: Defect, wrong: WrongRepair, found: Found | None, shown: Shown) -> None:
    console.print(f"wrong repair, {wrong.source}: {wrong.proposal}. What breaks: {wrong.breaks}.")
    if wrong.search is None:
        console.print(f"shown by no search: {wrong.why}")
    elif found is not None:
        _print_search(console, defect.recorded_as(wrong), wrong.search, found, shown)


def _print_search(console: Console, name: str, asked: Search, found: Found, shown: Shown) -> None:
    if found.violated.replayed is None:
        return
    console.print(
        f"found by: a search of {asked.profile}, {asked.environment}, on {asked.instance}: {asked.clause} is violated "
        f"after {found.depth} steps; {found.affected.distinct:,} states in {found.affected.seconds:.3f} s "
        f"(made ready in {found.affected.compile_seconds:.1f} s)"
    )
    events = found.violated.replayed.events
    steps = tuple(str(event.step) for event in events)
    if steps in shown:
        console.print(f"the counterexample is that of {shown[steps]}, step by step")
    else:
        console.print(counterexample_table(events))
    shown.setdefault(steps, name)
    if found.repaired is not None and asked.later_on:
        console.print(f"later where the instance is larger, same profile and environment: {found.absence}")
    elif found.repaired is not None:
        console.print(
            f"repaired in {asked.repaired_in}, same environment and instance: {found.absence}; "
            f"{found.repaired.distinct:,} states in {found.repaired.seconds:.3f} s"
        )
    else:
        console.print("no profile is rid of it")
    console.print(Text(asked.command), soft_wrap=True)
    console.print(Text(found.affected.replay_command(found.violated)), soft_wrap=True)
