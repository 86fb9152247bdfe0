"""``halfcheck defects``: the known defects, and the searches and scenarios that find them again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple, TypeVar

import typer

from document.console import show
from halfcheck.errors import CommandLineError, ExitCode
from halfcheck.options import AsJson, print_json
from halfcheck.printing.progress import search_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fuzz.defects.scenario import PlayedScenario
    from model_check.defects.catalogue import Defect, DefectQuestion
    from model_check.defects.findings import BrokerFinding, ClassesFinding, DefectFinding, LassoFinding
    from model_check.defects.lookup import Lookup
    from model_check.defects.search import FoundDefect, FoundLasso

Found = TypeVar("Found")

_RECORD_ANEW: Final = "make defects records what the specification gives now"


@dataclass(frozen=True, slots=True, kw_only=True)
class DefectsOptions:
    """The options."""

    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WORD",
            help="B01, S1.immune_half, settles_once, 5.3.3, 'delivered twice', 重复消费; none: all defects.",
        ),
    ] = None
    search: Annotated[
        bool, typer.Option("--search", help="Search for every defect again; with ids, this is done in any case.")
    ] = False
    play: Annotated[
        bool,
        typer.Option("--play", help="Play each scenario on the reference broker; with ids, this is done in any case."),
    ] = False
    version: Annotated[str | None, typer.Option(metavar="X.Y.Z", help="Only what this release has, such as 5.3.3.")] = (
        None
    )
    threads: Annotated[int, typer.Option(min=1, max=64, help="Threads of the compiled search.")] = 1
    as_json: AsJson = False


def command(options: DefectsOptions) -> ExitCode:
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
    from model_check.defects import findings
    from model_check.defects.catalogue import catalogue
    from model_check.defects.lookup import look_up_all
    from model_check.releases import profile_for

    if options.version is not None:
        profile_for(options.version)
        _refuse_another_release(options.words or (), options.version)
    answers = look_up_all(options.words or ())
    in_full = [defect for each in answers if not each.title for defect in each.defects]
    answers = _of_release(answers, options.version)
    chosen = list(dict.fromkeys(defect for each in answers for defect in each.defects))
    if not answers:
        chosen = list(catalogue().values())
    on_record = OnRecord(
        findings.SEARCH_FINDINGS.read(), findings.BROKER_FINDINGS.read(), findings.CLASSES_FINDINGS.read()
    )
    endless = findings.LASSO_FINDINGS.read()
    failures: dict[str, str] = {}
    asked: list[Defect] = chosen if options.search else in_full
    to_play = chosen if options.play else in_full
    searched = _searches(asked, on_record.findings, failures, threads=options.threads, quiet=options.as_json)
    lassos = _lassos_of(asked, endless, failures, quiet=options.as_json)
    played = _plays(to_play, failures)
    if options.as_json:
        from halfcheck.printing.defects_json import defect_to_json

        content = {
            d.identifier: defect_to_json(d, on_record, searched, played.get(d.identifier), endless.get(d.identifier))
            for d in chosen
        }
        print_json(content)
    else:
        from halfcheck.printing.defects import answers_to_words, list_of_defects

        show(answers_to_words(answers, in_full, on_record, searched, played, lassos, options.version))
        if not answers:
            show(list_of_defects(chosen, on_record, searched, played))
    for identifier, reason in failures.items():
        typer.echo(f"halfcheck: {identifier}: {reason}", err=True)
    return ExitCode.EVALUATION_ERROR if failures else ExitCode.OK


def _refuse_another_release(words: Sequence[str], release: str) -> None:
    from model_check.defects.affected import RELEASE

    for word in words:
        if re.fullmatch(RELEASE, word) and word != release:
            message = f"{word} --version {release}: name one release, or ask halfcheck compare {word} {release}"
            raise CommandLineError(message)


def _of_release(answers: list[Lookup], release: str | None) -> list[Lookup]:
    """The answers that are lists with the defects that a release has; all of its defects where there is none."""
    from model_check.defects.lookup import in_release

    if release is None:
        return answers
    return [each.of_release(release) if each.title else each for each in answers] or [in_release(release)]


class OnRecord(NamedTuple):
    """Earlier findings by ids: of the searches, of the reference broker, and of RocketMQ's own classes."""

    findings: Mapping[str, DefectFinding]
    shown: Mapping[str, BrokerFinding]
    on_classes: Mapping[str, ClassesFinding]


def _searches(
    defects: list[Defect], findings: Mapping[str, DefectFinding], failures: dict[str, str], *, threads: int, quiet: bool
) -> dict[str, FoundDefect]:
    """Search for each defect and each wrong repair that has a search; what is not as it says goes to `failures`."""
    if not defects:
        return {}
    from model_check.defects.search import find

    searched: dict[str, FoundDefect] = {}
    for name, search in (question for defect in defects for question in defect.questions):
        found = _found(name, search, partial(find, threads=threads), failures, quiet=quiet)
        recorded = findings.get(name)
        if found is not None and recorded is not None and recorded.depth != found.depth:
            failures[name] = f"found at depth {found.depth}, but {recorded.depth} is on record; {_RECORD_ANEW}"
        if found is not None:
            searched[name] = found
    return searched


def _lassos_of(
    defects: list[Defect], findings: dict[str, LassoFinding], failures: dict[str, str], *, quiet: bool
) -> dict[str, FoundLasso]:
    """Search endless runs for each defect that has a question about them; what is not as it says goes to `failures`."""
    if not defects:
        return {}
    from model_check.defects.search import find_lasso

    lassos: dict[str, FoundLasso] = {}
    for name, search in ((d.identifier, d.lasso) for d in defects if d.lasso is not None):
        found = _found(name, search, find_lasso, failures, quiet=quiet)
        if found is None:
            continue
        lassos[name], (stem, cycle) = found, found.lengths
        recorded = findings.get(name)
        if recorded is not None and (recorded.stem, recorded.cycle) != (stem, cycle):
            on_record = f"{recorded.stem} + {recorded.cycle} is on record"
            failures[name] = f"a lasso of {stem} + {cycle} steps, but {on_record}; {_RECORD_ANEW}"
    return lassos


def _found(
    name: str, question: DefectQuestion, find: Callable[..., Found], failures: dict[str, str], *, quiet: bool
) -> Found | None:
    """The result of one search; None where it is not as the catalogue says."""
    from model_check.errors import EvaluationError

    try:
        world = question.world
        with search_progress(f"{name} {world.profile} {world.instance.name}", wanted=not quiet) as report:
            return find(question, report=report)
    except EvaluationError as error:
        failures[name] = str(error)
        return None


def _plays(defects: list[Defect], failures: dict[str, str]) -> dict[str, PlayedScenario]:
    """Play each scenario there is on the reference broker; what is not as it says goes to `failures`."""
    if not defects:
        return {}
    from fuzz.defects.scenario import ScenarioError, play, scenarios

    played: dict[str, PlayedScenario] = {}
    for scenario in (scenarios()[d.identifier] for d in defects if d.identifier in scenarios()):
        try:
            played[scenario.identifier] = play(scenario)
        except ScenarioError as error:
            failures[scenario.identifier] = str(error)
    return played
