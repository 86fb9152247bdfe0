"""Meaning of a broken clause to whoever runs RocketMQ: how grave it is, what happens to a message, what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from files.content import read_toml
from model_check.clauses import clauses_by_name

if TYPE_CHECKING:
    from spec.language import Property

FILE: Final = Path(__file__).with_name("clauses.toml")

GUARANTEES: Final = {
    "S1": "delivered at most once",
    "S2": "rolled back: never delivered",
    "S3": "only commits are delivered",
    "S4": "an op settles only its own half",
    "S5": "invisible until a commit arrives",
    "S6": "delivered as it was sent",
    "S7": "no op is passed unread",
    "S8": "no half is passed unsettled",
    "S9": "settled in time: never checked",
    "S10": "after SUCCESS the op survives",
    "L1": "no transaction is lost for good",
    "L2": "discarded only after all checks",
    "L3": "nothing holds up check rounds",
    "L4": "the op queue is read to its end",
    "L5": "every commit is carried out",
    "R1": "no needless writes, no spinning",
}
"""The guarantees in a few words, as the narrowest column of a table takes them; in full: docs/properties.md."""


Named = str | Mapping[str, Any]
"""The name of a remedy, or a table of a name (`do`) and the faults under which it applies (`faults`)."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a broken clause."""

    gravity: int
    """0 is the gravest. Clauses of one kind of harm are equally grave."""
    kind: str
    """The kind of harm: `lost_for_good`, `delivered_twice` …"""
    harm: str
    """What happens to a message, in one sentence without a full stop."""
    first: tuple[Named, ...]
    """What to do about its kind of harm, as `clauses.toml` has it, before what is said of the clause."""
    remedy: tuple[Named, ...]
    """What to do about the clause; `model_check.remedies.advice` says it to somebody."""
    last: tuple[Named, ...]
    """What to do about its kind of harm, behind what is said of the clause."""


@cache
def meanings() -> dict[Property, Meaning]:
    """Of all clauses, gravest first."""
    found: dict[Property, Meaning] = {}
    for gravity, (kind, records) in enumerate(read_toml(FILE).items()):
        first, last = tuple(records.pop("first", ())), tuple(records.pop("always"))
        for name, record in records.items():
            meaning = Meaning(gravity, kind, record["harm"], first, tuple(record["remedy"]), last)
            found[clauses_by_name()[name]] = meaning
    return found


def meaning_of(clause: Property) -> Meaning:
    """The meaning of a broken clause.

    Examples
    --------
    >>> meaning_of(clauses_by_name()["S1.immune_half"]).harm
    'a message that is committed within its immunity is delivered, and delivered again after a check'
    """
    return meanings()[clause]


@cache
def kinds() -> tuple[str, ...]:
    """The kinds of harm, gravest first."""
    return tuple(dict.fromkeys(meaning.kind for meaning in meanings().values()))
