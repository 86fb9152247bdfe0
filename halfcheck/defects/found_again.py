"""Finds defects of the catalogue again: searches, endless runs, scenarios on the reference broker.

What is not found as it says goes to `failures`, by the name under which it is on record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fuzz.defects.scenario import PlayedScenario
    from model_check.defects.catalogue import Defect
    from model_check.defects.findings import BrokerFinding, DefectFinding, LassoFinding
    from model_check.defects.lasso_search import FoundLasso
    from model_check.defects.search import FoundDefect


class OnRecord(NamedTuple):
    """What was found before, by ids: of the searches, and of the reference broker."""

    findings: Mapping[str, DefectFinding]
    shown: Mapping[str, BrokerFinding]


def searches(
    defects: list[Defect], findings: Mapping[str, DefectFinding], failures: dict[str, str], *, threads: int, quiet: bool
) -> dict[str, FoundDefect]:
    """Search for each defect and each wrong repair that has a search; what is not as it says goes to `failures`."""
    if not defects:
        return {}
    from halfcheck.printing.progress import search_progress
    from model_check.defects.search import find
    from model_check.errors import EvaluationError

    searched: dict[str, FoundDefect] = {}
    for name, search in (question for defect in defects for question in defect.questions):
        try:
            with search_progress(
                f"{name} {search.world.profile} {search.world.instance.name}", wanted=not quiet
            ) as report:
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


def lassos_of(
    defects: list[Defect], findings: dict[str, LassoFinding], failures: dict[str, str], *, quiet: bool
) -> dict[str, FoundLasso]:
    """Search endless runs for each defect that has a question about them; what is not as it says goes to `failures`."""
    if not defects:
        return {}
    from halfcheck.printing.progress import search_progress
    from model_check.defects.lasso_search import find_lasso
    from model_check.errors import EvaluationError

    lassos: dict[str, FoundLasso] = {}
    for name, search in ((d.identifier, d.lasso) for d in defects if d.lasso is not None):
        world = search.world
        try:
            with search_progress(f"{name} {world.profile} {world.instance.name}", wanted=not quiet) as report:
                lassos[name] = find_lasso(search, report)
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


def plays(defects: list[Defect], failures: dict[str, str]) -> dict[str, PlayedScenario]:
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
