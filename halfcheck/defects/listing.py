"""Defects as a table, and the answers to the words of ``halfcheck defects``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from halfcheck.defects.in_full import print_in_full
from halfcheck.printing.counterexample_table import wide_console
from halfcheck.printing.fitting_table import FittingTable
from halfcheck.printing.paragraphs import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fuzz.defects.scenario import Played
    from model_check.defects.catalogue import Defect
    from model_check.defects.findings import Finding
    from model_check.defects.lookup import Lookup
    from model_check.defects.search import Found


def print_answers(
    answers: Sequence[Lookup],
    in_full: Sequence[Defect],
    findings: dict[str, Finding],
    searched: dict[str, Found],
    played: dict[str, Played],
) -> None:
    """Print what was asked for by id in full, then a table for each other word."""
    console = wide_console()
    print_in_full(console, in_full, searched, played)
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
