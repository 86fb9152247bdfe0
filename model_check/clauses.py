"""The clauses of the specification by their names, such as `S1.immune_half`: names become `Property` objects here."""

from __future__ import annotations

import copyreg
from collections.abc import Sequence
from functools import cache
from typing import Any

from model_check.did_you_mean import require_known
from spec.language import Machine, Property
from spec.transactional_messages import TRANSACTIONAL_MESSAGES


def name_of(clause: Property) -> str:
    """The name of a clause, such as `S1.immune_half`."""
    return f"{clause.identifier}.{clause.clause}"


@cache
def clauses_by_name() -> dict[str, Property]:
    """The clauses of transactional messages, in the order of the machine."""
    return {name_of(clause): clause for clause in TRANSACTIONAL_MESSAGES.clauses}


def clause_names() -> tuple[str, ...]:
    """Their names."""
    return tuple(clauses_by_name())


def chosen_clauses(wanted: Sequence[str] = (), machine: Machine = TRANSACTIONAL_MESSAGES) -> tuple[Property, ...]:
    """The clauses of the properties that are named by their ids, or by `S1.immune_half`; all when none is named.

    Capitals or not makes no difference. Raises `ModelCheckError`, which names what there is, and what may have been
    meant, when an id is unknown.
    """
    known: dict[str, list[Property]] = {}
    for clause in machine.clauses:
        known.setdefault(clause.identifier, []).append(clause)
        known.setdefault(name_of(clause), []).append(clause)
    names = {name.lower(): name for name in known}
    there = f"{', '.join(k for k in known if '.' not in k)}, and clauses such as {next(k for k in known if '.' in k)}"
    if machine.responses:
        there += f"; of endless runs {', '.join(dict.fromkeys(one.identifier for one in machine.responses))}"
    for name in wanted:
        require_known("property", names.get(name.lower(), name), known, there=there)
    chosen = {clause for name in wanted for clause in known[names[name.lower()]]}
    return tuple(clause for clause in machine.clauses if not wanted or clause in chosen)


def clause_called(name: str) -> Property:
    """The clause of a name that is known to be one."""
    return clauses_by_name()[name]


def _reduced(clause: Property) -> Any:
    """A clause travels to another process as its name, and is the one that is there."""
    is_known = clauses_by_name().get(name_of(clause)) is clause
    return (clause_called, (name_of(clause),)) if is_known else clause.__reduce_ex__(4)


copyreg.pickle(Property, _reduced)
