"""Search for the defects of the catalogue again and write what was found: `python -m model_check.defects [ID…]`.

Writes `findings.toml`, `lasso_findings.toml` and `docs/generated/defects.md`; with ids, the figures of the others stay.
`make defects` runs it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from model_check.defects import page
from model_check.defects.catalogue import catalogue, defect_called
from model_check.defects.findings import (
    FILE,
    LASSO_FILE,
    finding_of,
    lasso_finding_of,
    read_broker_findings,
    read_findings,
    read_lasso_findings,
    write_findings,
    write_lasso_findings,
)
from model_check.defects.lasso_search import find_lasso, readings_of_the_lasso
from model_check.defects.search import find, readings_of_the_absence, readings_of_the_defect
from model_check.errors import ModelCheckError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from model_check.defects.catalogue import Search
    from model_check.defects.findings import Finding, LassoFinding
    from model_check.defects.lasso_question import LassoQuestion


def questions() -> Iterator[tuple[str, str, Search]]:
    """Each search with the name under which it is recorded and the id of its defect."""
    for defect in catalogue().values():
        for name, search in defect.questions:
            yield name, defect.identifier, search


def lassos() -> Iterator[tuple[str, LassoQuestion]]:
    """What is asked of endless runs, with the ids."""
    for defect in catalogue().values():
        if defect.lasso is not None:
            yield defect.identifier, defect.lasso


def main(arguments: Sequence[str]) -> int:
    """Search, record, write the page; what is not found is told on stderr, and the exit code is 75 then."""
    wanted = {defect_called(name).identifier for name in arguments}
    findings, failed = _searched(wanted, read_findings() if FILE.exists() else {})
    write_findings(findings)
    endless, failed_too = _searched_for_lassos(wanted, read_lasso_findings() if LASSO_FILE.exists() else {})
    write_lasso_findings(endless)
    text = page.page(catalogue(), findings, read_broker_findings(), endless)
    page.FILE.write_text(text, encoding="utf-8")
    return failed or failed_too


def _searched(wanted: set[str], recorded: Mapping[str, Finding]) -> tuple[dict[str, Finding], int]:
    """What the searches find of the wanted defects, and what is on record of the others; the exit code."""
    findings: dict[str, Finding] = {}
    failed = 0
    for name, identifier, search in questions():
        if wanted and identifier not in wanted:
            findings.update({name: recorded[name]} if name in recorded else {})
            continue
        try:
            found = find(search)
            readings = readings_of_the_defect(search, found), readings_of_the_absence(search, found)
        except ModelCheckError as error:
            failed = error.exit_code
            print(f"{name}: {error}", file=sys.stderr)
            continue
        findings[name] = finding_of(found, *readings)
        print(f"{name}: {findings[name]}", flush=True)
    return findings, failed


def _searched_for_lassos(wanted: set[str], recorded: Mapping[str, LassoFinding]) -> tuple[dict[str, LassoFinding], int]:
    """The same of endless runs."""
    findings: dict[str, LassoFinding] = {}
    failed = 0
    for name, question in lassos():
        if wanted and name not in wanted:
            findings.update({name: recorded[name]} if name in recorded else {})
            continue
        try:
            found = find_lasso(question)
            findings[name] = lasso_finding_of(found, readings_of_the_lasso(question, found))
        except ModelCheckError as error:
            failed = error.exit_code
            print(f"{name}: {error}", file=sys.stderr)
            continue
        print(f"{name}: {findings[name]}", flush=True)
    return findings, failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
