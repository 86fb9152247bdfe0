"""What the reference broker has shown of the catalogue: `broker_findings.toml`, written by `python -m fuzz.defects`.

The broker is not known here. Who plays the scenarios is above this package, and the file is what the two share.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from model_check.defects.findings import read_records, write_records

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = Path(__file__).with_name("broker_findings.toml")

_HEAD = "# Written by `make defects`: what the scenarios in fuzz/defects/ have shown. Edit those, not this.\n"


@dataclass(frozen=True, slots=True)
class BrokerFinding:
    """What was seen of one defect.

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


def read_broker_findings(path: Path = FILE) -> dict[str, BrokerFinding]:
    """What is on record, by the ids of the defects."""
    return read_records(BrokerFinding, path)


def write_broker_findings(findings: Mapping[str, BrokerFinding], path: Path = FILE) -> None:
    """Write the file; it appears whole or not at all."""
    write_records(_HEAD, findings, path)
