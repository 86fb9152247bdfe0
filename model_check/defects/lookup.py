"""What a word on the command line means in the catalogue: a defect, a guarantee or clause that it breaks, a switch."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from model_check.check import chosen_clauses
from model_check.defects.catalogue import catalogue, defect_called
from model_check.did_you_mean import require_known
from model_check.switch_effects import on_record
from model_check.switches import switch_records
from model_check.wording.clauses import clause_names
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from model_check.defects.catalogue import Defect


@dataclass(frozen=True, slots=True)
class Lookup:
    """The answer to a word.

    Attributes
    ----------
    title : str
        What the defects have to do with it; empty for a defect that was named itself.
    defects : tuple of Defect
        In the order of the catalogue.
    """

    title: str
    defects: tuple[Defect, ...]


def look_up(word: str) -> Lookup:
    """A defect by its id, the defects that break a property or a clause, or those that a switch mends or makes.

    Raises
    ------
    ModelCheckError
        When it is none of these; names what may have been meant.

    Examples
    --------
    >>> [defect.identifier for defect in look_up("s1.immune_half").defects], look_up("heeds_settled_originals").title
    (['B01'], 'heeds_settled_originals mends')
    >>> [defect.identifier for defect in look_up("heeds_settled_originals").defects]
    ['A15', 'B01', 'B47']
    """
    if re.fullmatch(r"[A-Za-z]?\d+[A-Za-z]?", word.strip()) and word.strip()[0].upper() not in "SLR":
        return Lookup("", (defect_called(word),))
    clauses = {name.lower(): name for name in clause_names()}
    properties = {name.partition(".")[0].lower(): name.partition(".")[0] for name in clause_names()}
    lowered = word.strip().lower()
    if lowered in clauses:
        return Lookup(f"{clauses[lowered]} is broken by", _breaking(clauses[lowered]))
    if lowered in properties:
        return Lookup(
            f"{properties[lowered]} is broken by",
            tuple(defect for defect in catalogue().values() if properties[lowered] in defect.properties),
        )
    require_known(
        "defect, clause or switch",
        lowered if lowered in switch_records() else word.strip(),
        (*switch_records(), *clauses.values(), *properties.values()),
        there="ids such as B01, clauses such as S1.immune_half and switches such as settles_once",
    )
    return _of_switch(lowered)


def _breaking(clause: str) -> tuple[Defect, ...]:
    """Those that the clause resembles, and those whose search asks about it."""
    (declared,) = chosen_clauses(TRANSACTIONAL_MESSAGES, [clause])
    return tuple(
        defect
        for defect in catalogue().values()
        if defect.identifier in declared.resembles or (defect.search is not None and defect.search.clause == clause)
    )


def _of_switch(name: str) -> Lookup:
    record = switch_records()[name]
    named = {*record.defects, *(one.name for one in on_record(name) if one.mends)}
    verb = "mends" if record.kind == "repair" else "makes or mends"
    return Lookup(f"{name} {verb}", tuple(defect for defect in catalogue().values() if defect.identifier in named))
