"""``halfcheck defects``: the known defects, and the searches and scenarios that find them again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from halfcheck.errors import ExitCode
from halfcheck.options import AsJson

if TYPE_CHECKING:
    from fuzz.defects.scenario import Played
    from model_check.defects.catalogue import Defect
    from model_check.defects.findings import Finding, LassoFinding
    from model_check.defects.lasso_search import FoundLasso
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
    as_json: AsJson = False,
) -> ExitCode:
    """List the known defects of RocketMQ's transactional messages, or show some of them in full.

    The list gives the depth and the seconds on record of each search; of a property or a clause it has the defects that
    break it, of a switch those that it mends or makes. With an id the search is made again: in the profile that has the
    defect, where the shortest counterexample must be one of it, and in the profile that is rid of it, where there must
    be none. Where a defect stops something for ever, or seems to, runs without an end are searched as well. What shows
    in a broker only is played on the reference broker each time, in two profiles likewise. The exit code is 75 when a
    search or a scenario does not find what the catalogue says.

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
    from model_check.defects.findings import read_findings, read_lasso_findings
    from model_check.defects.lookup import Lookup, look_up

    answers = [look_up(word) for word in words] if words else [Lookup("", tuple(catalogue().values()))]
    chosen = list(dict.fromkeys(defect for answer in answers for defect in answer.defects))
    in_full = [defect for answer in answers if words and not answer.title for defect in answer.defects]
    findings, endless = read_findings(), read_lasso_findings()
    failures: dict[str, str] = {}
    searched = _searches(chosen if search else in_full, findings, failures, threads=threads, quiet=as_json)
    lassos = _lassos(chosen if search else in_full, endless, failures, quiet=as_json)
    played = _plays(chosen, failures)
    if as_json:
        from halfcheck.printing.defects import defect_to_json

        content = {
            d.identifier: defect_to_json(d, findings, searched, played.get(d.identifier), endless.get(d.identifier))
            for d in chosen
        }
        print(json.dumps(content, ensure_ascii=False, indent=2))
    else:
        from halfcheck.printing.defects import print_answers, print_list

        print_answers(answers if words else (), in_full, findings, searched, played, lassos)
        if not words:
            print_list(chosen, findings, searched, played)
    for identifier, reason in failures.items():
        typer.echo(f"halfcheck: {identifier}: {reason}", err=True)
    return ExitCode.EVALUATION_ERROR if failures else ExitCode.OK


def _searches(
    defects: list[Defect], findings: dict[str, Finding], failures: dict[str, str], *, threads: int, quiet: bool
) -> dict[str, Found]:
    """Search for each defect and each wrong repair that has a search; what is not as it says goes to `failures`."""
    from halfcheck.printing.progress import search_progress
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


def _lassos(
    defects: list[Defect], findings: dict[str, LassoFinding], failures: dict[str, str], *, quiet: bool
) -> dict[str, FoundLasso]:
    """Search endless runs for each defect that has a question about them; what is not as it says goes to `failures`."""
    from halfcheck.printing.progress import search_progress
    from model_check.defects.lasso_search import find_lasso
    from model_check.errors import EvaluationError

    lassos: dict[str, FoundLasso] = {}
    for name, question in ((d.identifier, d.lasso) for d in defects if d.lasso is not None):
        try:
            with search_progress(f"{name} {question.profile} {question.instance}", wanted=not quiet) as report:
                lassos[name] = find_lasso(question, report)
        except EvaluationError as error:
            failures[name] = str(error)
            continue
        stem, cycle = lassos[name].lengths
        recorded = findings.get(name)
        if recorded is not None and (recorded.stem, recorded.cycle) != (stem, cycle):
            failures[name] = (
                f"a lasso of {stem} + {cycle} steps, but {recorded.stem} + {recorded.cycle} is on record; "
                "make defects records what the specification gives now"
            )
    return lassos


def _plays(defects: list[Defect], failures: dict[str, str]) -> dict[str, Played]:
    """Play each scenario there is on the reference broker; what is not as it says goes to `failures`."""
    from fuzz.defects.scenario import ScenarioError, play, scenarios

    played: dict[str, Played] = {}
    for scenario in (scenarios()[d.identifier] for d in defects if d.identifier in scenarios()):
        try:
            played[scenario.identifier] = play(scenario)
        except ScenarioError as error:
            failures[scenario.identifier] = str(error)
    return played
