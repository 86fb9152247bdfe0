"""What is on record of the catalogue: of the searches, of those for runs that never end, and of the reference broker.

`findings.toml` and `lasso_findings.toml` are written by `python -m model_check.defects`, `broker_findings.toml` by
`python -m fuzz.defects`: the broker is not known here, who plays the scenarios is above this package, and the file is
what the two share.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from files.content import read_toml
from files.writing import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from _typeshed import DataclassInstance

    from model_check.defects.lasso_search import FoundLasso
    from model_check.defects.search import FoundDefect

FILE = Path(__file__).with_name("findings.toml")
LASSO_FILE = Path(__file__).with_name("lasso_findings.toml")
BROKER_FILE = Path(__file__).with_name("broker_findings.toml")

_HEAD = "# Written by `make defects`: what the searches of reported.toml and latent.toml found. Edit those, not this.\n"
_LASSO_HEAD = (
    "# Written by `make defects`: what the lassos of reported.toml and latent.toml are. Edit those, not this.\n"
)
_BROKER_HEAD = "# Written by `make defects`: what the scenarios in fuzz/defects/ have shown. Edit those, not this.\n"


@dataclass(frozen=True, slots=True)
class DefectFinding:
    """The figures of one defect.

    Attributes
    ----------
    depth : int
        Steps of the shortest schedule.
    seconds : float
        Of the search in the affected profile up to that depth, made ready before.
    states : int
        Distinct states of that search.
    engines : tuple of str
        Those that gave this depth: `numba`, `cpython`, `z3`; `replay` of a schedule that CPython has taken only.
    repaired : str
        `holds`, up to how many steps there is no violation, or after how many there is one on a larger instance; empty
        where there is no second search.
    repaired_states, repaired_depth : int
        Distinct states and depth of the search in the repaired profile, or on the larger instance; 0 where there is
        none.
    repaired_engines : tuple of str
        Those that found as many states in that search, and the same.
    """

    depth: int
    seconds: float
    states: int
    engines: tuple[str, ...]
    repaired: str = ""
    repaired_states: int = 0
    repaired_depth: int = 0
    repaired_engines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LassoFinding:
    """What was found of a defect in runs that never end.

    Attributes
    ----------
    stem, cycle : int
        Steps of the shortest way into a cycle that was found, and round it; 0 where the response holds.
    states, repaired_states : int
        Distinct states in the affected profile, and in the repaired one; 0 where there is none.
    seconds : float
        Of the search in the affected profile, made ready before.
    engines : tuple of str
        The engines that agree on the verdicts; CPython has taken each lasso twice round in any case.
    """

    stem: int
    cycle: int
    states: int
    repaired_states: int
    seconds: float
    engines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BrokerFinding:
    """What the reference broker has shown of one defect.

    Attributes
    ----------
    story : str
        What happened, in a sentence.
    property_id : str
        The guarantee that was broken.
    affected, repaired_in : str
        The profiles that were compared.
    also_in : tuple of str
        Other profiles in which the same story ends badly.
    test : str
        The test that asks for it.
    seen : tuple of (str, str, str)
        Each fact, with its value in the affected and in the repaired profile.
    """

    story: str
    property_id: str
    affected: str
    repaired_in: str
    also_in: tuple[str, ...]
    test: str
    seen: tuple[tuple[str, str, str], ...]


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
    """The figures of a lasso, or of none (`model_check.defects.lasso_search`)."""
    affected, repaired = found.affected.numbers, 0 if found.repaired is None else found.repaired.numbers.distinct
    return LassoFinding(*found.lengths, affected.distinct, repaired, round(affected.seconds, 6), engines)


def read_findings(path: Path = FILE) -> dict[str, DefectFinding]:
    """The recorded figures: of a defect under its id, of a wrong repair under its id and source, `A21 #8004`."""
    return read_records(DefectFinding, path)


def write_findings(findings: Mapping[str, DefectFinding], path: Path = FILE) -> None:
    """Write the figures; the file appears whole or not at all."""
    write_records(_HEAD, findings, path)


def read_lasso_findings(path: Path = LASSO_FILE) -> dict[str, LassoFinding]:
    """What is on record of endless runs, by the ids of the defects."""
    return read_records(LassoFinding, path)


def write_lasso_findings(findings: Mapping[str, LassoFinding], path: Path = LASSO_FILE) -> None:
    """Write the figures; the file appears whole or not at all."""
    write_records(_LASSO_HEAD, findings, path)


def read_broker_findings(path: Path = BROKER_FILE) -> dict[str, BrokerFinding]:
    """What is on record, by the ids of the defects."""
    return read_records(BrokerFinding, path)


def write_broker_findings(findings: Mapping[str, BrokerFinding], path: Path = BROKER_FILE) -> None:
    """Write the file; it appears whole or not at all."""
    write_records(_BROKER_HEAD, findings, path)


Record = TypeVar("Record", bound="DataclassInstance")


def read_records(kind: type[Record], path: Path) -> dict[str, Record]:
    """What `write_records` has written; lists become tuples."""
    content = read_toml(path)
    return {name: kind(**{field: _frozen(value) for field, value in given.items()}) for name, given in content.items()}


def write_records(head: str, records: Mapping[str, Record], path: Path) -> None:
    """Write a table a record, rows on lines of their own; the file appears whole or not at all."""
    text = head
    for name, record in records.items():
        rows = "".join(f"{field} = {_toml(value)}\n" for field, value in asdict(record).items())
        text += f"\n[{name if name.isalnum() else json.dumps(name)}]\n{rows}"
    write_whole(path, text)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _toml(value: Any) -> str:
    if isinstance(value, tuple) and any(isinstance(row, tuple) for row in value):
        return "[\n" + "".join(f"  {_toml(row)},\n" for row in value) + "]"
    return json.dumps(value, ensure_ascii=False)
