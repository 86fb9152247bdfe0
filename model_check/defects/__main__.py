"""Search for the defects of the catalogue again and write what was found: `python -m model_check.defects [ID…]`.

Writes `findings.toml`, `lasso_findings.toml` and `docs/generated/defects.md`; with ids, the figures of the others stay.
`make defects` runs it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeVar

from files.writing import write_whole
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
from model_check.defects.lasso_search import engines_that_agree, find_lasso
from model_check.defects.search import engines_that_agree_on_its_absence, engines_that_agree_on_its_depth, find
from model_check.errors import ModelCheckError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from model_check.defects.findings import DefectFinding, LassoFinding
    from model_check.defects.question import DefectSearch, LassoSearch

Q = TypeVar("Q")
T = TypeVar("T")


def questions() -> Iterator[tuple[str, str, DefectSearch]]:
    """Each search with the name under which it is recorded and the id of its defect."""
    for defect in catalogue().values():
        for name, search in defect.questions:
            yield name, defect.identifier, search


def lassos() -> Iterator[tuple[str, str, LassoSearch]]:
    """What is asked of endless runs, likewise."""
    for defect in catalogue().values():
        if defect.lasso is not None:
            yield defect.identifier, defect.identifier, defect.lasso


def searched(search: DefectSearch) -> DefectFinding:
    """What a search finds, by all engines."""
    found = find(search)
    depth, absence = engines_that_agree_on_its_depth(search, found), engines_that_agree_on_its_absence(search, found)
    return finding_of(found, depth, absence)


def searched_for_a_lasso(search: LassoSearch) -> LassoFinding:
    """The same of endless runs."""
    found = find_lasso(search)
    return lasso_finding_of(found, engines_that_agree(search, found))


def main(arguments: Sequence[str]) -> int:
    """Search, record, write the page; what is not found is told on stderr, and the exit code is 75 then."""
    wanted = {defect_called(name).identifier for name in arguments}
    findings, failed = _answered(questions(), searched, wanted, read_findings() if FILE.exists() else {})
    write_findings(findings)
    endless, failed_too = _answered(
        lassos(), searched_for_a_lasso, wanted, read_lasso_findings() if LASSO_FILE.exists() else {}
    )
    write_lasso_findings(endless)
    write_whole(page.FILE, page.page(catalogue(), findings, read_broker_findings(), endless))
    return failed or failed_too


def _answered(
    asked: Iterable[tuple[str, str, Q]], answer: Callable[[Q], T], wanted: set[str], recorded: Mapping[str, T]
) -> tuple[dict[str, T], int]:
    """What is found of the wanted defects, and what is on record of the others; the exit code."""
    findings: dict[str, T] = {}
    failed = 0
    for name, identifier, question in asked:
        if wanted and identifier not in wanted:
            findings.update({name: recorded[name]} if name in recorded else {})
            continue
        try:
            findings[name] = answer(question)
        except ModelCheckError as error:
            failed = error.exit_code
            print(f"{name}: {error}", file=sys.stderr)
            continue
        print(f"{name}: {findings[name]}", flush=True)
    return findings, failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
