"""What ``halfcheck defects`` prints: the list, a defect in full with its counterexample, and both as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from halfcheck.printing.console import counted, counterexample_table, wide_console
from halfcheck.printing.fitting_table import FittingTable
from halfcheck.printing.liveness import print_lasso
from model_check.wording.clauses import meaning_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from fuzz.defects.scenario import Played
    from model_check.defects.catalogue import Defect, WrongRepair
    from model_check.defects.findings import Finding, LassoFinding
    from model_check.defects.lasso_search import FoundLasso
    from model_check.defects.lookup import Lookup
    from model_check.defects.question import LassoQuestion, Search
    from model_check.defects.search import Found


def print_answers(
    answers: Sequence[Lookup],
    in_full: Sequence[Defect],
    findings: dict[str, Finding],
    searched: dict[str, Found],
    played: dict[str, Played],
    lassos: Mapping[str, FoundLasso],
) -> None:
    """Print what was asked for by id in full, then a table for each other word."""
    console = wide_console()
    _print_in_full(console, in_full, searched, played, lassos)
    for number, answer in enumerate(answer for answer in answers if answer.title):
        if number or in_full:
            console.print()
        if answer.defects:
            console.print(f"{answer.title}:", style="bold")
            print_list(answer.defects, findings, searched, played)
        else:
            console.print(f"{answer.title} no defect that is known", style="bold")


def print_list(
    defects: Sequence[Defect], findings: dict[str, Finding], searched: dict[str, Found], played: dict[str, Played]
) -> None:
    """Print a row a defect, and how many are found."""
    table = FittingTable(
        "id", "~defect", "~affected → fixed", "found by", "clause", "~profile", "~environment", ">depth", ">seconds"
    )
    for defect in defects:
        finding, found, asked = findings.get(defect.identifier), searched.get(defect.identifier), defect.search
        depth = found.depth if found is not None else finding.depth if finding is not None else None
        seconds = found.affected.seconds if found is not None else finding.seconds if finding is not None else None
        shown = played.get(defect.identifier)
        if asked is not None:
            world = asked.clause, asked.profile, asked.environment
        elif shown is not None:
            world, seconds = (shown.scenario.property_id, shown.scenario.affected, ""), shown.seconds
        else:
            world = next(iter(defect.properties), ""), "", ""
        table.add_row(
            defect.identifier,
            defect.name,
            defect.versions,
            defect.found_by(played),
            *world,
            "" if depth is None else str(depth),
            "" if seconds is None else f"{seconds:.3f}",
        )
    console = wide_console()
    console.print(table)
    by_search = sum(defect.search is not None for defect in defects)
    by_broker = sum(defect.identifier in played for defect in defects)
    alive = sum(defect.search is not None or defect.identifier in played for defect in defects)
    console.print(
        f"{counted(len(defects), 'defect')}, {alive} of them found: {by_search} by a search, "
        f"{by_broker} in the reference broker; halfcheck defects ID shows one in full, with its wrong repairs"
    )


Shown = dict[tuple[str, ...], str]
"""The steps of the counterexamples that were printed, to what they were printed for."""


def _print_in_full(
    console: Console,
    defects: Sequence[Defect],
    searched: Mapping[str, Found],
    played: Mapping[str, Played],
    lassos: Mapping[str, FoundLasso],
) -> None:
    """One below the other, each counterexample once."""
    for number, defect in enumerate(defects):
        shown: Shown = {}
        if number:
            console.print()
        _print_facts(console, defect)
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


def _print_lasso(console: Console, asked: LassoQuestion, found: FoundLasso) -> None:
    where = f"{asked.profile}, {asked.environment}, on {asked.instance}"
    extent = f"{found.affected.distinct:,} states in {found.affected.seconds:.3f} s"
    if found.lasso is None or found.repaired is None:
        console.print(f"in runs that never end: {asked.response} holds in {where}; {extent}. {asked.vanishes}")
    else:
        stem, cycle = found.lengths
        console.print(
            f"in runs that never end: {asked.response} is violated in {where}, by {stem} steps, then {cycle} again and "
            f"again; {extent}"
        )
        print_lasso(console, found.affected, found.lasso)
        console.print(f"holds in {asked.repaired_in}; {found.repaired.distinct:,} states")
    console.print(Text(asked.command), soft_wrap=True)


def defect_to_json(
    defect: Defect,
    findings: dict[str, Finding],
    searched: dict[str, Found],
    played: Played | None,
    endless: LassoFinding | None,
) -> dict[str, Any]:
    """What scripts rely on: `where`, `profile`, `repaired_in`, `depth`, `seconds`, `property`; the rest was added."""
    asked, finding, found = defect.search, findings.get(defect.identifier), searched.get(defect.identifier)
    told: dict[str, Any] = {
        "where": defect.where.value,
        "profile": None if asked is None else asked.profile,
        "repaired_in": (asked.repaired_in or None) if asked is not None else None,
        "depth": None if finding is None else finding.depth,
        "seconds": None if finding is None else finding.seconds,
        "property": asked.property_id if asked is not None else next(iter(defect.properties), None),
        "also_in": [] if asked is None else list(asked.also_in),
        "clause": None if asked is None else asked.clause.partition(".")[2],
        "environment": None if asked is None else list(asked.faults),
        "instance": None if asked is None else asked.instance,
        "states": None if finding is None else finding.states,
        "readings": [] if finding is None else list(finding.readings),
        "repaired": (finding.repaired or None) if finding is not None else None,
        "name": defect.name,
        "issues": list(defect.issues),
        "affected": defect.affected,
        "fixed": defect.fixed or None,
        "effect": defect.effect,
        "properties": list(defect.properties),
        "evidence": list(defect.evidence),
        "mechanism": defect.mechanism,
        "repair": defect.repair or None,
        "why": defect.why or None,
        "wrong_repairs": [
            _wrong_to_json(wrong, findings.get(name), searched.get(name))
            for wrong, name in ((wrong, defect.recorded_as(wrong)) for wrong in defect.wrong_repairs)
        ],
        "lasso": None if defect.lasso is None else _lasso_to_json(defect.lasso, endless),
        "trace": None,
        "replay": None,
        "broker": None if played is None else _played_to_json(played),
    }
    if played is not None and asked is None:
        told |= {
            "profile": played.scenario.affected,
            "repaired_in": played.scenario.repaired_in,
            "also_in": list(played.scenario.also_in),
            "seconds": round(played.seconds, 6),
            "property": played.scenario.property_id,
        }
    if found is not None:
        told |= {**_found_to_json(found), "states": found.affected.distinct}
    return told


def _lasso_to_json(asked: LassoQuestion, finding: LassoFinding | None) -> dict[str, Any]:
    return {
        "response": asked.response,
        "profile": asked.profile,
        "environment": list(asked.faults),
        "instance": asked.instance,
        "repaired_in": asked.repaired_in or None,
        "stem": None if finding is None or asked.vanishes else finding.stem,
        "cycle": None if finding is None or asked.vanishes else finding.cycle,
        "vanishes": asked.vanishes or None,
        "command": asked.command,
    }


def _found_to_json(found: Found) -> dict[str, Any]:
    return {
        "depth": found.depth,
        "seconds": round(found.affected.seconds, 6),
        "repaired": found.absence or None,
        "trace": found.violated.trace_to_json(),
        "replay": found.affected.replay_command(found.violated),
    }


def _played_to_json(played: Played) -> dict[str, Any]:
    scenario = played.scenario
    return {
        "story": scenario.story,
        "property": scenario.property_id,
        "profile": scenario.affected,
        "repaired_in": scenario.repaired_in,
        "also_in": list(scenario.also_in),
        "seconds": round(played.seconds, 6),
        "seen": [{"fact": fact, "affected": bad, "repaired": good} for fact, bad, good in played.rows],
        "test": played.test,
        "command": played.command,
    }


def _wrong_to_json(wrong: WrongRepair, finding: Finding | None, found: Found | None) -> dict[str, Any]:
    asked = wrong.search
    told: dict[str, Any] = {
        "source": wrong.source,
        "proposal": wrong.proposal,
        "breaks": wrong.breaks,
        "profile": None if asked is None else asked.profile,
        "environment": None if asked is None else list(asked.faults),
        "instance": None if asked is None else asked.instance,
        "clause": None if asked is None else asked.clause,
        "depth": None if finding is None else finding.depth,
        "seconds": None if finding is None else finding.seconds,
        "repaired_in": None if asked is None else asked.repaired_in or None,
        "later_on": None if asked is None else asked.later_on or None,
        "repaired": None if finding is None else finding.repaired or None,
        "why": wrong.why or None,
        "trace": None,
        "replay": None,
    }
    return told if found is None else told | _found_to_json(found)
