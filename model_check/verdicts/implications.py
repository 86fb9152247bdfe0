"""Which violation implies which, `results/implications.toml`, held against the table of verdicts.

An implication says: in every environment in which the first clause is violated, the second is violated too, and its
shortest violation is not longer, because the way to the one leads past the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from files.content import read_toml
from model_check.clauses import clause_names, clauses_by_name, name_of
from model_check.errors import BadFile
from model_check.world import NO_FAULTS, Environment
from spec.constants import FAULTS

if TYPE_CHECKING:
    from pathlib import Path

    from model_check.verdicts.table import Entry, TableOfVerdicts
    from spec.language import Property


@dataclass(frozen=True, slots=True)
class Implication:
    """One edge of the graph."""

    violated: Property
    implied: Property
    """A violation of the first clause implies one of this."""
    why: str
    """In words."""
    unless: Environment = NO_FAULTS
    """Faults that open another way: of environments with one of them nothing is said."""

    def speaks_of(self, environment: Environment) -> bool:
        """Whether it says something of an environment."""
        return not set(self.unless) & set(environment)


def read_implications(file: Path) -> tuple[Implication, ...]:
    """The declared implications.

    Raises `BadFile` when the file is not TOML, lacks something, names no clause, or implications lead in a circle.
    """
    try:
        given = [
            (one["violated"], one["implied"], one["why"], one.get("unless", ()))
            for one in read_toml(file)["implication"]
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        msg = f"{file}: {getattr(error, 'strerror', None) or error}"
        raise BadFile(msg) from error
    clauses, found = clauses_by_name(), list[Implication]()
    for violated, implied, why, unless in given:
        for name in (violated, implied):
            if name not in clauses:
                msg = f"{file}: {name!r} is no clause; write them as {clause_names()[0]}"
                raise BadFile(msg)
        for fault in unless:
            if fault not in FAULTS:
                msg = f"{file}: {fault!r} is no fault; there are {', '.join(FAULTS)}"
                raise BadFile(msg)
        found.append(Implication(clauses[violated], clauses[implied], why, Environment.of(unless)))
    for one in found:
        if one.violated in implied_by(one.implied, found):
            msg = f"{file}: {name_of(one.violated)} and {name_of(one.implied)} imply each other"
            raise BadFile(msg)
    return tuple(found)


def implied_by(clause: Property, implications: Sequence[Implication]) -> frozenset[Property]:
    """The clauses that a violation of this one implies, directly or by steps; itself among them."""
    reached, left = {clause}, [clause]
    while left:
        here = left.pop()
        new = {one.implied for one in implications if one.violated == here} - reached
        reached |= new
        left += new
    return frozenset(reached)


def refuted(implication: Implication, table: TableOfVerdicts) -> Iterator[str]:
    """The environments of the table that show an implication to be wrong, a line each."""
    for profile, instance, environment, entry in _entries(implication, table):
        if not _shows(implication.violated, implication.implied, entry):
            depth, there = entry.violated[implication.violated], entry.violated.get(implication.implied)
            other = "is not" if there is None else f"only at depth {there}"
            yield (
                f"{profile} {instance} {environment.name}: {name_of(implication.violated)} is violated at depth "
                f"{depth}, {name_of(implication.implied)} {other}"
            )


def is_shown(implication: Implication, table: TableOfVerdicts) -> bool:
    """Whether the table has an environment in which the first clause is violated, so that there is something to see."""
    return any(True for _ in _entries(implication, table))


def _entries(implication: Implication, table: TableOfVerdicts) -> Iterator[tuple[str, str, Environment, Entry]]:
    """The entries that an implication speaks of.

    Not those of a search that was cut short on the level where the first clause is violated: the second may be
    violated in a part of it that was not reached.
    """
    for profile, instance, environment, entry in table.everything():
        is_decided = (
            implication.implied not in entry.unknown or entry.violated.get(implication.violated, 0) < entry.depth
        )
        if implication.violated in entry.violated and implication.speaks_of(environment) and is_decided:
            yield profile, instance, environment, entry


def suggested(table: TableOfVerdicts, implications: Sequence[Implication]) -> Iterator[tuple[Property, Property]]:
    """Pairs of clauses of which the table says what an implication says, though none is declared.

    The quiet world must not break the second clause in all those environments anyway: that would be no relation.
    """
    clauses = clauses_by_name().values()
    for violated in clauses:
        entries = [(p, i, entry) for p, i, _, entry in table.everything() if violated in entry.violated]
        for implied in clauses:
            if (
                entries
                and implied not in implied_by(violated, implications)
                and all(_shows(violated, implied, entry) for _, _, entry in entries)
                and any(not _shows(violated, implied, table.entries[p][i][NO_FAULTS], entry) for p, i, entry in entries)
            ):
                yield violated, implied


def _shows(violated: Property, implied: Property, entry: Entry, at: Entry | None = None) -> bool:
    """Whether an entry violates the second clause at no greater depth than the first is violated at."""
    return implied in entry.violated and entry.violated[implied] <= (at or entry).violated[violated]
