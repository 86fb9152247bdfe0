"""Search for the defects of the catalogue again and write what was found: `python -m model_check.defects [ID…]`.

Writes `findings.toml` and `docs/generated/defects.md`; with ids, the figures of the others stay. `make defects` runs
it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from model_check.defects import page
from model_check.defects.catalogue import catalogue, defect_called
from model_check.defects.findings import FILE, finding_of, read_broker_findings, read_findings, write_findings
from model_check.defects.search import find, readings_of_the_absence, readings_of_the_defect
from model_check.errors import ModelCheckError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from model_check.defects.catalogue import Search


def questions() -> Iterator[tuple[str, str, Search]]:
    """Each search with the name under which it is recorded and the id of its defect."""
    for defect in catalogue().values():
        for name, search in defect.questions:
            yield name, defect.identifier, search


def main(arguments: Sequence[str]) -> int:
    """Search, record, write the page; what is not found is told on stderr, and the exit code is 75 then."""
    wanted = {defect_called(name).identifier for name in arguments}
    recorded = read_findings() if FILE.exists() else {}
    findings = {}
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
    write_findings(findings)
    page.FILE.write_text(page.page(catalogue(), findings, read_broker_findings()), encoding="utf-8")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
