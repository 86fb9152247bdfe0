"""The lists that ``halfcheck defects`` prints: what is on record of each defect, and what a user sees of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from halfcheck.printing.console import counted, say, wide_console
from halfcheck.printing.fitting_table import FittingTable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fuzz.defects.scenario import PlayedScenario
    from model_check.defects.catalogue import Defect
    from model_check.defects.findings import BrokerFinding, DefectFinding
    from model_check.defects.search import FoundDefect


class OnRecord(NamedTuple):
    """What was found before, by ids: of the searches, and of the reference broker."""

    findings: Mapping[str, DefectFinding]
    shown: Mapping[str, BrokerFinding]


def print_by_symptom(defects: Sequence[Defect]) -> None:
    """Print a row a defect: what a user sees, what it is, and the releases."""
    table = FittingTable("id", "~what a user sees", "~defect", "affected → fixed")
    for defect in defects:
        table.add_row(defect.identifier, defect.effect, defect.name, defect.versions)
    console = wide_console()
    console.print(table)
    say(console, f"{counted(len(defects), 'defect')}; halfcheck defects ID says of one what happens and what to do")


def print_list(
    defects: Sequence[Defect],
    on_record: OnRecord,
    searched: Mapping[str, FoundDefect],
    played: Mapping[str, PlayedScenario],
) -> None:
    """Print a row a defect, and how many are found."""
    table = FittingTable(
        "id", "~defect", "~affected → fixed", "found by", "clause", "~profile", "~environment", ">depth", ">seconds"
    )
    findings, shown = on_record
    for defect in defects:
        finding, found, asked = findings.get(defect.identifier), searched.get(defect.identifier), defect.search
        depth = found.depth if found is not None else finding.depth if finding is not None else None
        seconds = (
            found.affected.numbers.seconds if found is not None else finding.seconds if finding is not None else None
        )
        by_broker = shown.get(defect.identifier)
        if asked is not None:
            world = asked.subject, asked.world.profile.name, asked.world.environment.name
        elif by_broker is not None:
            world = by_broker.property_id, by_broker.affected, ""
            seconds = played[defect.identifier].seconds if defect.identifier in played else None
        else:
            world = next(iter(defect.properties), ""), "", ""
        table.add_row(
            defect.identifier,
            defect.name,
            defect.versions,
            defect.found_by(shown),
            *world,
            "" if depth is None else str(depth),
            "" if seconds is None else f"{seconds:.3f}",
        )
    console = wide_console()
    console.print(table)
    by_search = sum(defect.search is not None for defect in defects)
    in_broker = sum(defect.identifier in shown for defect in defects)
    alive = sum(defect.search is not None or defect.identifier in shown for defect in defects)
    console.print(
        f"{counted(len(defects), 'defect')}, {alive} of them found: {by_search} by a search, "
        f"{in_broker} in the reference broker; halfcheck defects ID shows one in full, with its wrong repairs"
    )
