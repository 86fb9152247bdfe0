"""Search for the defects of the catalogue again and write what was found: `python -m model_check.defects [ID…]`.

Writes `findings.toml`, `lasso_findings.toml` and `docs/generated/defects.md`; with ids, the figures of the others stay.
`make defects` runs it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from model_check.defects import page
from model_check.defects.catalogue import DefectSearch, LassoSearch, catalogue, defect_called
from model_check.defects.findings import (
    LASSO_FINDINGS,
    SEARCH_FINDINGS,
    FindingsFile,
    Record,
    finding_of,
    lasso_finding_of,
)
from model_check.defects.search import (
    engines_that_agree_on_its_absence,
    engines_that_agree_on_its_depth,
    engines_that_agree_on_the_lasso,
    find,
    find_lasso,
)
from model_check.errors import ModelCheckError

if TYPE_CHECKING:
    from model_check.defects.findings import DefectFinding, LassoFinding

Q = TypeVar("Q")


def questions() -> Iterator[tuple[str, str, DefectSearch]]:
    """Each search with the name under which it is recorded and the id of its defect."""
    for defect in catalogue().values():
        for name, search in defect.questions:
            yield name, defect.identifier, search


def lassos() -> Iterator[tuple[str, str, LassoSearch]]:
    """Each search of endless runs, likewise."""
    for defect in catalogue().values():
        if defect.lasso is not None:
            yield defect.identifier, defect.identifier, defect.lasso


def searched(search: DefectSearch) -> DefectFinding:
    """The finding of a search, by all engines."""
    found = find(search)
    depth, absence = engines_that_agree_on_its_depth(search, found), engines_that_agree_on_its_absence(search, found)
    return finding_of(found, depth, absence)


def searched_for_a_lasso(search: LassoSearch) -> LassoFinding:
    """The same of endless runs."""
    found = find_lasso(search)
    return lasso_finding_of(found, engines_that_agree_on_the_lasso(search, found))


def main(arguments: Sequence[str]) -> int:
    """Search, record, write the page; what is not found is named on stderr, and the exit code is 75 then."""
    wanted = {defect_called(name).identifier for name in arguments}
    _, failed = _answered(questions(), searched, wanted, SEARCH_FINDINGS)
    _, failed_too = _answered(lassos(), searched_for_a_lasso, wanted, LASSO_FINDINGS)
    page.write_page()
    return failed or failed_too


def _answered(
    asked: Iterable[tuple[str, str, Q]], answer: Callable[[Q], Record], wanted: set[str], file: FindingsFile[Record]
) -> tuple[dict[str, Record], int]:
    """Record new findings of the wanted defects beside the old ones of the others; all of them, and the exit code."""
    recorded = file.read() if file.path.exists() else {}
    findings: dict[str, Record] = {}
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
    file.write(findings)
    return findings, failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
