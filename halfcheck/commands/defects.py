"""``halfcheck defects``: the known defects, and the searches and scenarios that find them again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from halfcheck.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fuzz.defects.play import Played
    from model_check.defects.catalogue import Defect, WrongRepair
    from model_check.defects.findings import Finding
    from model_check.defects.lookup import Lookup
    from model_check.defects.search import Found


def command(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORD", help="B01, S1.immune_half, settles_once; all defects when none is given."),
    ] = None,
    *,
    search: Annotated[
        bool, typer.Option("--search", help="Search for every defect again; with ids, this is done in any case.")
    ] = False,
    threads: Annotated[int, typer.Option(min=1, max=64, help="Threads of the compiled search.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> ExitCode:
    """List the known defects of RocketMQ's transactional messages, or show some of them in full.

    The list gives the depth and the seconds on record of each search; of a property or a clause it has the defects that
    break it, of a switch those that it mends or makes. With an id the search is made again: in the profile that has the
    defect, where the shortest schedule must be one of it, and in the profile that is rid of it, where there must be
    none. What shows in a broker only is played on the reference broker each time, in two profiles likewise. The exit
    code is 75 when a search or a scenario does not find what the catalogue says.

    Examples
    --------
    halfcheck defects
    halfcheck defects B01
    halfcheck defects S1.immune_half
    halfcheck defects settles_once
    halfcheck defects A06
    halfcheck defects A11 A12 --json
    halfcheck defects --search --threads 2
    """
    from model_check.defects.catalogue import catalogue
    from model_check.defects.findings import read_findings
    from model_check.defects.lookup import Lookup, look_up

    answers = [look_up(word) for word in words] if words else [Lookup("", tuple(catalogue().values()))]
    chosen = list(dict.fromkeys(defect for answer in answers for defect in answer.defects))
    in_full = [defect for answer in answers if words and not answer.title for defect in answer.defects]
    findings = read_findings()
    failures: dict[str, str] = {}
    searched = _searches(chosen if search else in_full, findings, failures, threads=threads, quiet=as_json)
    played = _plays(chosen, failures)
    if as_json:
        content = {d.identifier: _to_json(d, findings, searched, played.get(d.identifier)) for d in chosen}
        print(json.dumps(content, ensure_ascii=False, indent=2))
    else:
        _print_answers(answers if words else (), in_full, findings, searched, played)
        if not words:
            _print_list(chosen, findings, searched, played)
    for identifier, reason in failures.items():
        typer.echo(f"halfcheck: {identifier}: {reason}", err=True)
    return ExitCode.EVALUATION_ERROR if failures else ExitCode.OK


def _searches(
    defects: list[Defect], findings: dict[str, Finding], failures: dict[str, str], *, threads: int, quiet: bool
) -> dict[str, Found]:
    """Search for each defect and each wrong repair that has a search; what is not as it says goes to `failures`."""
    from halfcheck.printing.search_progress import search_progress
    from model_check.defects.search import find
    from model_check.errors import EvaluationError

    searched: dict[str, Found] = {}
    for name, search in (question for defect in defects for question in defect.questions):
        try:
            with search_progress(f"{name} {search.profile} {search.instance}", wanted=not quiet) as report:
                searched[name] = find(search, threads=threads, report=report)
        except EvaluationError as error:
            failures[name] = str(error)
            continue
        recorded = findings.get(name)
        if recorded is not None and recorded.depth != searched[name].depth:
            failures[name] = (
                f"found at depth {searched[name].depth}, but {recorded.depth} is on record; "
                "make defects records what the specification gives now"
            )
    return searched


def _plays(defects: list[Defect], failures: dict[str, str]) -> dict[str, Played]:
    """Play each scenario there is on the reference broker; what is not as it says goes to `failures`."""
    from fuzz.defects.play import play
    from fuzz.defects.scenario import ScenarioError
    from fuzz.defects.scenarios import scenarios

    played: dict[str, Played] = {}
    for scenario in (scenarios()[d.identifier] for d in defects if d.identifier in scenarios()):
        try:
            played[scenario.identifier] = play(scenario)
        except ScenarioError as error:
            failures[scenario.identifier] = str(error)
    return played


def _to_json(
    defect: Defect, findings: dict[str, Finding], searched: dict[str, Found], played: Played | None
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
        told |= {
            "depth": found.depth,
            "seconds": round(found.affected.seconds, 6),
            "states": found.affected.distinct,
            "repaired": found.absence or None,
            "trace": found.violated.trace_to_json(),
            "replay": found.affected.replay_command(found.violated),
        }
    return told


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
    if found is not None:
        told |= {
            "depth": found.depth,
            "seconds": round(found.affected.seconds, 6),
            "repaired": found.absence or None,
            "trace": found.violated.trace_to_json(),
            "replay": found.affected.replay_command(found.violated),
        }
    return told


def _print_answers(
    answers: Sequence[Lookup],
    in_full: Sequence[Defect],
    findings: dict[str, Finding],
    searched: dict[str, Found],
    played: dict[str, Played],
) -> None:
    from halfcheck.defects.in_full import print_in_full
    from halfcheck.printing.counterexample_table import wide_console

    console = wide_console()
    print_in_full(console, in_full, searched, played)
    for number, answer in enumerate(answer for answer in answers if answer.title):
        if number or in_full:
            console.print()
        if answer.defects:
            console.print(f"{answer.title}:", style="bold")
            _print_list(answer.defects, findings, searched, played)
        else:
            console.print(f"{answer.title} no defect that is known", style="bold")


def _print_list(
    defects: Sequence[Defect], findings: dict[str, Finding], searched: dict[str, Found], played: dict[str, Played]
) -> None:
    from halfcheck.printing.counterexample_table import wide_console
    from halfcheck.printing.fitting_table import FittingTable

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
    counted = f"{len(defects)} defect{'' if len(defects) == 1 else 's'}"
    console.print(
        f"{counted}, {alive} of them found: {by_search} by a search, {by_broker} in the reference broker; "
        "halfcheck defects ID shows one in full, with its wrong repairs"
    )
