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
        typer.Argument(
            metavar="WORD",
            help="B01, S1.immune_half, settles_once, 5.3.3, 'delivered twice', 重复消费; none: all defects.",
        ),
    ] = None,
    *,
    search: Annotated[
        bool, typer.Option("--search", help="Search for every defect again; with ids, this is done in any case.")
    ] = False,
    play: Annotated[
        bool,
        typer.Option("--play", help="Play each scenario on the reference broker; with ids, this is done in any case."),
    ] = False,
    version: Annotated[
        str | None, typer.Option(metavar="X.Y.Z", help="Only what this release has, such as 5.3.3.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, max=64, help="Threads of the compiled search.")] = 1,
    as_json: AsJson = False,
) -> ExitCode:
    """List the known defects of RocketMQ's transactional messages, by symptom or by release, or show some in full.

    The words may be what a user sees, in English or Chinese, a line of the broker's log or the number of an issue: the
    answer is a list of what it may be. --version leaves those that a release has; a release alone lists all of them.

    The list of all gives the depth and the seconds on record of each search; of a property or a clause it has the
    defects that break it, of a switch those that it mends or makes. With an id the search is made again: in the profile
    that has the defect, where the shortest counterexample must be one of it, and in the profile that is rid of it,
    where there must be none. Where a defect stops something for ever, or seems to, runs without an end are searched as
    well. What shows in a broker only is played on the reference broker, in two profiles likewise. The exit code is 75
    when a search or a scenario does not find what the catalogue says.

    Examples
    --------
    halfcheck defects
    halfcheck defects delivered twice --version 5.3.3
    halfcheck defects 一直回查
    halfcheck defects 5.3.3
    halfcheck defects B01
    halfcheck defects S1.immune_half
    halfcheck defects settles_once
    halfcheck defects A06
    halfcheck defects A11 A12 --json
    halfcheck defects --search --threads 2
    """
    from halfcheck.printing.defect_lists import OnRecord
    from model_check.defects.catalogue import catalogue
    from model_check.defects.findings import read_broker_findings, read_findings, read_lasso_findings
    from model_check.defects.lookup import in_release, look_up_all

    answers = look_up_all(words or ())
    in_full = [defect for answer in answers if not answer.title for defect in answer.defects]
    if version is not None:
        answers = [answer.of_release(version) if answer.title else answer for answer in answers] or [
            in_release(version)
        ]
    chosen = list(dict.fromkeys(defect for answer in answers for defect in answer.defects))
    if not answers:
        chosen = list(catalogue().values())
    findings, endless = read_findings(), read_lasso_findings()
    on_record = OnRecord(findings, read_broker_findings())
    failures: dict[str, str] = {}
    asked = chosen if search else in_full
    searched = _searches(asked, findings, failures, threads=threads, quiet=as_json) if asked else {}
    lassos = _lassos(asked, endless, failures, quiet=as_json) if asked else {}
    played = _plays(chosen if play else in_full, failures) if play or in_full else {}
    if as_json:
        from halfcheck.printing.defects_json import defect_to_json

        content = {
            d.identifier: defect_to_json(d, on_record, searched, played.get(d.identifier), endless.get(d.identifier))
            for d in chosen
        }
        print(json.dumps(content, ensure_ascii=False, indent=2))
    else:
        from halfcheck.printing.defect_lists import print_list
        from halfcheck.printing.defects import print_answers

        print_answers(answers, in_full, on_record, searched, played, lassos, version)
        if not answers:
            print_list(chosen, on_record, searched, played)
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
