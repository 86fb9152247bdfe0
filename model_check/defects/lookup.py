"""What words on the command line mean in the catalogue: a defect, a clause, a switch, a release, or a symptom."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from model_check.clauses import clauses_by_name, name_of
from model_check.defects.affected import defects_in, is_newer_than_read
from model_check.defects.catalogue import catalogue, defect_called
from model_check.defects.symptoms import defects_of, named_in_the_text, symptoms_called
from model_check.did_you_mean import require_known
from model_check.switches import switch_records
from spec.releases.broker_defaults import NEWEST_RELEASE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.defects.catalogue import Defect
    from spec.language import Property


@dataclass(frozen=True, slots=True)
class Lookup:
    """The answer to a word.

    Attributes
    ----------
    title : str
        What the defects have to do with it; empty for a defect that was named itself.
    defects : tuple of Defect
        In the order of the catalogue.
    by_symptom : bool
        Whether the word is one of a user's, to whom the searches say nothing.
    """

    title: str
    defects: tuple[Defect, ...]
    by_symptom: bool = False

    def of_release(self, release: str) -> Lookup:
        """Those that a release has."""
        has = {defect.identifier for defect in defects_in(release)}
        mine = tuple(defect for defect in self.defects if defect.identifier in has)
        return replace(self, title=f"{self.title}, of {_read(release)}", defects=mine)


def look_up_all(words: Sequence[str]) -> list[Lookup]:
    """What each word means; those that are no names are one phrase, and where that says nothing, words again.

    Raises
    ------
    ModelCheckError
        A word means nothing; names what may have been meant.

    Examples
    --------
    >>> [answer.title for answer in look_up_all(["delivered", "twice"])]
    ['what shows as “delivered twice”']
    """
    named = [answer for word in words if (answer := _named(word)) is not None]
    rest = [word for word in words if _named(word) is None]
    phrase = _described(" ".join(rest)) if len(rest) > 1 else []
    return [*named, *(phrase or [answer for word in rest for answer in (_described(word) or [_refused(word)])])]


def look_up(word: str) -> Lookup:
    """A defect by its id, the defects that break a property or a clause, those that a switch mends or makes.

    Also all that a release has.

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
    return _named(word) or _refused(word)


def _named(word: str) -> Lookup | None:
    """What has a name; None for other words."""
    if re.fullmatch(r"[A-Za-z]?\d{1,3}[A-Za-z]?", word.strip()) and word.strip()[0].upper() not in "SLR":
        return Lookup("", (defect_called(word),))
    if re.fullmatch(r"\d+(\.\d+)+", word.strip()):
        return in_release(word.strip())
    clauses = {name.lower(): clause for name, clause in clauses_by_name().items()}
    properties = {clause.identifier.lower(): clause.identifier for clause in clauses.values()}
    lowered = word.strip().lower()
    if lowered in clauses:
        return Lookup(f"{name_of(clauses[lowered])} is broken by", _breaking(clauses[lowered]))
    if lowered in properties:
        return Lookup(
            f"{properties[lowered]} is broken by",
            tuple(defect for defect in catalogue().values() if properties[lowered] in defect.properties),
        )
    return _of_switch(lowered) if lowered in switch_records() else None


def in_release(release: str) -> Lookup:
    """The defects that a release has.

    Raises
    ------
    ModelCheckError
        When it is no release of 4.3.0 and later.
    """
    found = defects_in(NEWEST_RELEASE if is_newer_than_read(release) else release)
    count = f"has {len(found)} of {len(catalogue())} known defects"
    return Lookup(f"RocketMQ {_read(release, count)}", found, by_symptom=True)


def _read(release: str, count: str = "") -> str:
    """A release, what is counted of it, and whether that is known; of one that was not read, the newest that was."""
    if is_newer_than_read(release):
        return f"{NEWEST_RELEASE} {count}".strip() + f"; {release} is newer, and its source has not been read"
    return f"{release} {count}".strip()


def _described(text: str) -> list[Lookup]:
    """The symptoms that the text names; or the defects that are described in its words."""
    found = [
        Lookup(f"what shows as “{one.name}”", defects_of(one.defects), by_symptom=True) for one in symptoms_called(text)
    ]
    described = named_in_the_text(text)
    return found or ([Lookup(f"{text!r} is in the description of", described, by_symptom=True)] if described else [])


def _refused(word: str) -> Lookup:
    clauses = clauses_by_name()
    names = (*switch_records(), *clauses, *(clause.identifier for clause in clauses.values()))
    require_known(
        "defect, clause, switch or symptom",
        word.strip(),
        names,
        there="ids such as B01, clauses such as S1.immune_half, switches such as settles_once, releases such as 5.3.3 "
        "and symptoms such as 'delivered twice'",
    )
    raise AssertionError(word)


def _breaking(clause: Property) -> tuple[Defect, ...]:
    """Those that the clause resembles, and those whose search asks about it."""
    return tuple(
        defect
        for defect in catalogue().values()
        if defect.identifier in clause.resembles or (defect.search is not None and defect.search.clause is clause)
    )


def _of_switch(name: str) -> Lookup:
    from model_check.defects.switch_effects import (
        on_record,  # loads the engines, which a list of symptoms must not wait for
    )

    record = switch_records()[name]
    named = {*record.defects, *(one.name for one in on_record(name) if one.mends)}
    verb = "mends" if record.kind == "repair" else "makes or mends"
    return Lookup(f"{name} {verb}", tuple(defect for defect in catalogue().values() if defect.identifier in named))
