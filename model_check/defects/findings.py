"""Findings on record for the catalogue: of searches, of endless runs, of the reference broker, of RocketMQ's classes.

`findings.toml` and `lasso_findings.toml` are written by `python -m model_check.defects`, `broker_findings.toml` by
`python -m fuzz.defects`, `classes_findings.toml` by `python -m fuzz.defects.on_classes`: no broker is known here, who
plays the scenarios is above this package, and the files are what the two share.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from files.content import read_toml
from files.writing import write_whole

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from model_check.defects.catalogue import Defect
    from model_check.defects.search import FoundDefect, FoundLasso

Record = TypeVar("Record", bound="DataclassInstance")


@dataclass(frozen=True, slots=True)
class DefectFinding:
    """The figures of one defect."""

    depth: int
    """Steps of the shortest schedule."""
    seconds: float
    """Of the search in the affected profile up to that depth, made ready before."""
    states: int
    """Distinct states of that search."""
    engines: tuple[str, ...]
    """Those that gave this depth: `numba`, `cpython`, `z3`; `replay` of a schedule that CPython has taken only."""
    repaired: str = ""
    """`holds`, up to how many steps there is no violation, or after how many there is one on a larger instance; empty
    where there is no second search."""
    repaired_states: int = 0
    """Distinct states of the search in the repaired profile, or on the larger instance; 0 where there is none."""
    repaired_depth: int = 0
    """The depth of that search."""
    repaired_engines: tuple[str, ...] = ()
    """Those that found as many states in that search, and the same."""


@dataclass(frozen=True, slots=True)
class LassoFinding:
    """The lasso of a defect, in figures."""

    stem: int
    """Steps of the shortest way into a cycle that was found; 0 where the response holds."""
    cycle: int
    """Steps of the shortest way round it; 0 where the response holds."""
    states: int
    """Distinct states in the affected profile."""
    repaired_states: int
    """Distinct states in the repaired profile; 0 where there is none."""
    seconds: float
    """Of the search in the affected profile, made ready before."""
    engines: tuple[str, ...]
    """The engines that agree on the verdicts; CPython has taken each lasso twice round in any case."""


@dataclass(frozen=True, slots=True)
class BrokerFinding:
    """A defect as the reference broker has shown it."""

    story: str
    """What happened, in a sentence."""
    property_id: str
    """The guarantee that was broken."""
    affected: str
    repaired_in: str
    """The profile with which `affected` was compared."""
    also_in: tuple[str, ...]
    """Other profiles in which the same story ends badly."""
    test: str
    """The test that asks for it."""
    seen: tuple[tuple[str, str, str], ...]
    """Each fact, with its value in the affected and in the repaired profile."""


@dataclass(frozen=True, slots=True)
class ClassesFinding:
    """A defect asked of RocketMQ's own classes."""

    by: str
    """What they were given: the `schedule` that a search finds, the `scenario` of the reference broker, or a `question`
    of their own."""
    asked: tuple[tuple[str, int, str, str], ...]
    """Each release, with the steps or orders that its classes took, what was asked in 16 hexadecimal digits, and why
    they did not show the defect: empty where they did."""

    @property
    def releases(self) -> tuple[str, ...]:
        """The releases whose classes have shown it."""
        return tuple(release for release, _, _, reason in self.asked if not reason)

    @property
    def reason(self) -> str:
        """Why no release has: the first that was given; empty where one has."""
        return "" if self.releases else next((reason for *_, reason in self.asked), "")


def on_classes_in_words(defect: Defect, finding: ClassesFinding | None) -> str:
    """Whether RocketMQ's own classes have shown a defect: `executed on …` with the releases, or `read only: …`."""
    if finding is not None and finding.releases:
        return f"executed on RocketMQ's own classes of {', '.join(finding.releases)}"
    return f"read only: {defect.why if finding is None else finding.reason}"


def evidence_of(defect: Defect, finding: ClassesFinding | None) -> tuple[str, ...]:
    """What a defect is known by: `X` first, where RocketMQ's own classes have shown it."""
    executed = finding is not None and bool(finding.releases)
    return (*(("X",) if executed else ()), *(letter for letter in defect.evidence if not executed or letter != "X"))


def digits_of(*parts: object) -> str:
    """What was asked, in 16 hexadecimal digits."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:16]


def finding_of(found: FoundDefect, engines: tuple[str, ...], repaired_engines: tuple[str, ...]) -> DefectFinding:
    """The figures of what was found, and the engines that agree on them (`model_check.defects.search`)."""
    affected, repaired = found.affected.numbers, found.repaired.numbers if found.repaired is not None else None
    return DefectFinding(
        depth=found.depth,
        seconds=round(affected.seconds, 6),
        states=affected.distinct,
        engines=engines,
        repaired=found.absence,
        repaired_states=0 if repaired is None else repaired.distinct,
        repaired_depth=0 if repaired is None else repaired.depth,
        repaired_engines=repaired_engines,
    )


def lasso_finding_of(found: FoundLasso, engines: tuple[str, ...]) -> LassoFinding:
    """The figures of a lasso, or of none (`model_check.defects.search`)."""
    affected, repaired = found.affected.numbers, 0 if found.repaired is None else found.repaired.numbers.distinct
    return LassoFinding(*found.lengths, affected.distinct, repaired, round(affected.seconds, 6), engines)


@dataclass(frozen=True, slots=True)
class FindingsFile(Generic[Record]):
    """A file of findings, by the ids of the defects; of a wrong repair by the id and its source, `A21 #8004`."""

    kind: type[Record]
    path: Path
    content: str
    """The words for it in the head of the file."""
    made_by: str = "make defects"
    """The command that writes it."""

    def read(self) -> dict[str, Record]:
        """The findings on record; lists become tuples."""
        return {
            name: self.kind(**{field: _frozen(value) for field, value in given.items()})
            for name, given in read_toml(self.path).items()
        }

    def write(self, findings: Mapping[str, Record]) -> None:
        """Write a table a finding, rows on lines of their own; the file appears whole or not at all."""
        text = f"# Written by `{self.made_by}`: {self.content}. Edit those, not this.\n"
        for name, finding in findings.items():
            rows = "".join(f"{field} = {_toml(value)}\n" for field, value in asdict(finding).items())
            text += f"\n[{name if name.isalnum() else json.dumps(name)}]\n{rows}"
        write_whole(self.path, text)


def _beside(name: str) -> Path:
    return Path(__file__).with_name(name)


SEARCH_FINDINGS = FindingsFile(
    DefectFinding, _beside("findings.toml"), "what the searches of reported.toml and latent.toml found"
)
LASSO_FINDINGS = FindingsFile(
    LassoFinding, _beside("lasso_findings.toml"), "what the lassos of reported.toml and latent.toml are"
)
BROKER_FINDINGS = FindingsFile(
    BrokerFinding, _beside("broker_findings.toml"), "what the scenarios in fuzz/defects/ have shown"
)

CLASSES_FINDINGS = FindingsFile(
    ClassesFinding,
    _beside("classes_findings.toml"),
    "which defects RocketMQ's own classes have shown, by the searches of the catalogue and fuzz/defects/",
    "make defects-on-classes",
)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _toml(value: Any) -> str:
    if isinstance(value, tuple) and any(isinstance(row, tuple) for row in value):
        return "[\n" + "".join(f"  {_toml(row)},\n" for row in value) + "]"
    return json.dumps(value, ensure_ascii=False)
