"""``make releases``: what changed in RocketMQ's releases of what a rule, a switch or a defect speaks of.

Without a release all that are kept are fetched by Maven, held against what is kept of them, and those named that Maven
has and nobody here knows. ``make releases ARGS=5.5.2`` says what must be looked at before 5.5.2 is spoken of, and
``ARGS="5.5.2 --update"`` keeps it.

The exit code is 0 when nothing is to be done, 255 when something changed of which nothing is known, or a claim, a
reading or a kept digest is wrong, 150 when the jars or the kept files can't be read, 151 for a bad release, and 130
after Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from conformance.errors import ConformanceError, ReleaseGateError
from conformance.release_gate.cited import cited
from conformance.release_gate.claims import wrong_claims
from conformance.release_gate.comparison import (
    PAGE,
    ReleaseComparison,
    column_of,
    compared,
    differences,
    members,
    page,
    stale_evidence,
    without_digest,
)
from conformance.release_gate.digests import Classes
from conformance.release_gate.jars import FIRST_RELEASE, jars_of, published_releases
from conformance.release_gate.recorded import (
    Column,
    different_keys,
    read_digests,
    read_evidence,
    read_keys,
    release_order,
    write_digests,
    write_keys,
)
from conformance.release_gate.setters import keys_of
from files.errors import UnwritableFileError
from files.writing import write_whole
from spec.releases.broker_defaults import release_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

_TO_BE_LOOKED_AT: Final = 255
_NO_READER: Final = 141
_INTERRUPTED: Final = 130


@dataclass(frozen=True, slots=True)
class Findings:
    """The releases that were asked for, the oldest first, and what is to be done: names, or a sentence each."""

    comparisons: tuple[ReleaseComparison, ...]
    unknown_releases: tuple[str, ...]
    without_digest: tuple[str, ...]
    different: tuple[str, ...]
    wrong_claims: tuple[str, ...]
    stale_evidence: tuple[str, ...]

    @property
    def complaints(self) -> list[str]:
        """The open tasks beside the changes, a sentence each."""
        return [
            *(f"Maven has {one}, of which nothing is kept: make releases ARGS={one}" for one in self.unknown_releases),
            *(f"{one} is cited, and nothing is kept of it: make releases ARGS=--update" for one in self.without_digest),
            *(f"{one}; make releases ARGS=--update keeps it" for one in self.different),
            *self.wrong_claims,
            *self.stale_evidence,
        ]

    @property
    def exit_code(self) -> int:
        """0 when nothing is to be done."""
        open_ones = any(one.must_be_looked_at and one.without_evidence for one in self.comparisons)
        return _TO_BE_LOOKED_AT if self.complaints or open_ones else 0

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "releases": [one.to_json() for one in self.comparisons],
            "unknown_releases": list(self.unknown_releases),
            "not_kept": list(self.without_digest),
            "different": list(self.different),
            "wrong_claims": list(self.wrong_claims),
            "stale_readings": list(self.stale_evidence),
        }


def find(asked: Sequence[str], *, update: bool) -> Findings:
    """Fetch, digest and compare; with `update` the record and the page are written anew.

    Raises
    ------
    ReleaseGateError
        A name is none of a release, or jars or the record can't be read.
    MavenError
        The jars can't be fetched.
    UnwritableFileError
        The record or the page can't be written.
    """
    for release in asked:
        if not re.fullmatch(r"\d+\.\d+\.\d+", release) or release_numbers(release) < release_numbers(FIRST_RELEASE):
            message = f"no release {release!r}; expected three numbers from {FIRST_RELEASE} on, such as 5.5.1"
            raise ReleaseGateError(message, exit_code=151)
    recorded, evidence = read_digests(), read_evidence()
    releases = release_order({*recorded, *asked})
    unknown = () if asked else tuple(one for one in published_releases() if one not in recorded)
    jars = jars_of(releases)
    digested = releases if update or not asked else release_order(asked)
    classes = {release: Classes(jars[release]) for release in digested}
    found = {release: column_of(of_release) for release, of_release in classes.items()}
    keys = {release: keys_of(of_release) for release, of_release in classes.items()}
    columns: dict[str, Column] = {release: found.get(release) or recorded[release] for release in releases}
    if update:
        write_digests(columns)
        recorded = read_digests()
        write_keys(keys)
        write_whole(PAGE, page(recorded, evidence))
    comparisons = [compared(columns, evidence, release) for release in (release_order(asked) or releases)]
    return Findings(
        tuple(members(one, jars) if asked or one.must_be_looked_at else one for one in comparisons),
        unknown,
        tuple(without_digest(recorded)),
        (*differences(recorded, found), *different_keys(read_keys(), keys)),
        tuple(wrong_claims(columns)),
        tuple(stale_evidence(columns, evidence)),
    )


def _print(findings: Findings, *, all_of_them: bool) -> None:
    for one in findings.comparisons:
        if not one.before:
            print(f"{one.release}, judged by {one.profile}: nothing is kept of a release before it")
            continue
        print(
            f"{one.release}, judged by {one.profile}: {len(one.changes)} of {len(cited())} cited names changed since "
            f"{one.before}, and of {len(one.without_evidence)} nothing is known"
        )
        if one.without_evidence and (all_of_them or one.must_be_looked_at):
            _print_changes(one)
    for complaint in findings.complaints:
        print(complaint)


def _print_changes(comparison: ReleaseComparison) -> None:
    """Print changes without evidence, then who cites them: rules, the broker, defects, switches."""
    by_speaker: dict[str, dict[str, list[str]]] = {}
    for change in comparison.without_evidence:
        methods = f": {', '.join(change.members)}" if change.members else ""
        print(f"  {change.digest or 'is gone':12}  {change.name}{methods}")
        for kind, speakers in asdict(change.speakers).items():
            for speaker in speakers:
                by_speaker.setdefault(kind, {}).setdefault(speaker, []).append(change.name)
    for kind, speakers_of in sorted(by_speaker.items()):
        print(f"  {kind}")
        for speaker, names in sorted(speakers_of.items()):
            print(f"    {speaker}: {', '.join(names)}")
    print(
        "  To do: compare the sources, mend what speaks of them, and write a line for each digest into "
        "conformance/release_gate/evidence.toml"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the releases that are named, or all; the exit code is that of `Findings` or of the error."""
    parser = argparse.ArgumentParser(
        prog="python -m conformance.release_gate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("releases", nargs="*", metavar="RELEASE", help="such as 5.5.2; all that are kept without one")
    parser.add_argument("--update", action="store_true", help="keep what was found, and write the page anew")
    parser.add_argument("--json", action="store_true", help="print all of it as JSON")
    options = parser.parse_args(arguments)
    try:
        findings = find(options.releases, update=options.update)
        if options.json:
            print(json.dumps(findings.to_json(), ensure_ascii=False, indent=2))
        else:
            _print(findings, all_of_them=bool(options.releases))
        sys.stdout.flush()
    except (ConformanceError, UnwritableFileError) as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted; what is kept is as it was", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _NO_READER
    return findings.exit_code


if __name__ == "__main__":
    sys.exit(main())
