"""Look-up of words in the catalogue: a defect, a clause, a switch, a release, or a symptom in a user's words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from files.content import read_toml
from model_check.clauses import clauses_by_name, name_of
from model_check.defects.affected import defects_in, is_newer_than_read
from model_check.defects.catalogue import Defect, catalogue, defect_called
from model_check.did_you_mean import require_known
from model_check.switches import switch_records
from spec.releases.broker_defaults import NEWEST_RELEASE

if TYPE_CHECKING:
    from spec.language import Property

FILE: Final = Path(__file__).with_name("symptoms.toml")
_SHORTEST_WORD: Final = 3
_SHORTEST_CHINESE: Final = 2


@dataclass(frozen=True, slots=True)
class Lookup:
    """The answer to a word."""

    title: str
    """The relation of the defects to the word; empty for a defect that was named itself."""
    defects: tuple[Defect, ...]
    """In the order of the catalogue."""
    by_symptom: bool = False
    """Whether the word is one of a user's, to whom the searches say nothing."""

    def of_release(self, release: str) -> Lookup:
        """Those that a release has."""
        has = {defect.identifier for defect in defects_in(release)}
        mine = tuple(defect for defect in self.defects if defect.identifier in has)
        return replace(self, title=f"{self.title}, of {_read(release)}", defects=mine)


def look_up_all(words: Sequence[str]) -> list[Lookup]:
    """The answers to some words; those that are no names are one phrase, and where that says nothing, words again.

    Raises `ModelCheckError`, which names what may have been meant, when a word means nothing.

    Examples
    --------
    >>> [answer.title for answer in look_up_all(["delivered", "twice"])]
    ['what shows as “delivered twice”']
    >>> for answer in look_up_all(["s1.immune_half", "heeds_settled_originals"]):
    ...     print(answer.title, [defect.identifier for defect in answer.defects])
    S1.immune_half is broken by ['B01']
    heeds_settled_originals mends ['A15', 'B01', 'B47']
    """
    named = [answer for word in words if (answer := _named(word)) is not None]
    rest = [word for word in words if _named(word) is None]
    phrase = _described(" ".join(rest)) if len(rest) > 1 else []
    return [*named, *(phrase or [answer for word in rest for answer in (_described(word) or [_refused(word)])])]


def _named(word: str) -> Lookup | None:
    """The answer to a name; None for other words."""
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
    """The defects that a release has; raises `ModelCheckError` when it is no release of 4.3.0 and later."""
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


@dataclass(frozen=True, slots=True)
class Symptom:
    """One thing that a user may see."""

    name: str
    """As the answer is headed."""
    english: tuple[str, ...]
    """The words for it, whatever their capitals and blanks."""
    chinese: tuple[str, ...]
    defects: tuple[str, ...]
    """The ids of the defects that it may be, in the order of the catalogue."""

    @property
    def words(self) -> tuple[str, ...]:
        """All words, as they are compared."""
        return tuple(map(plain, (self.name, *self.english, *self.chinese)))


@cache
def symptoms() -> tuple[Symptom, ...]:
    """All symptoms, the gravest first."""
    given = read_toml(FILE)["symptom"]
    return tuple(
        Symptom(one["name"], tuple(one["english"]), tuple(one["chinese"]), tuple(one["defects"])) for one in given
    )


def plain(text: str) -> str:
    """A text without capitals, and without blanks beside Chinese letters.

    Examples
    --------
    >>> plain("CPU  飙高"), plain("Delivered  Twice ")
    ('cpu飙高', 'delivered twice')
    """
    lowered = " ".join(text.lower().split())
    return re.sub(r"(?<=[^\x00-\x7f]) | (?=[^\x00-\x7f])", "", lowered)


def symptoms_called(text: str) -> tuple[Symptom, ...]:
    """Those that have the text for a word; or else those of which a word is in the text, or the text in a word.

    Examples
    --------
    >>> [symptom.name for symptom in symptoms_called("重复消费")]
    ['delivered twice']
    >>> [symptom.name for symptom in symptoms_called("Duplicates after a restart")]
    ['delivered twice', 'after a restart or a stop']
    """
    asked = plain(text)
    if not asked:
        return ()
    same = tuple(symptom for symptom in symptoms() if asked in symptom.words)
    if same:
        return same
    inside = tuple(symptom for symptom in symptoms() if any(_has(asked, word) for word in symptom.words))
    if inside:
        return inside
    return tuple(symptom for symptom in symptoms() if any(_has(word, asked) for word in symptom.words))


def named_in_the_text(text: str) -> tuple[Defect, ...]:
    """The defects of which the description has every word of a text, or whose reports have its number.

    Examples
    --------
    >>> [defect.identifier for defect in named_in_the_text("removeMap opMsgMap")]
    ['B49']
    """
    words = plain(text).replace("#", "").split()
    return tuple(
        defect for defect in catalogue().values() if words and all(_has(_description(defect), word) for word in words)
    )


def symptoms_of(identifier: str) -> tuple[str, ...]:
    """The names of the symptoms that a defect shows."""
    return tuple(symptom.name for symptom in symptoms() if identifier in symptom.defects)


def defects_of(ids: Iterable[str]) -> tuple[Defect, ...]:
    """The defects of some ids, in the order of the catalogue."""
    wanted = frozenset(ids)
    return tuple(defect for identifier, defect in catalogue().items() if identifier in wanted)


@cache
def _description(defect: Defect) -> str:
    texts = (defect.name, defect.effect, defect.mechanism, defect.repair, *defect.java, *defect.issues)
    return plain(" ".join(texts))


def _has(text: str, word: str) -> bool:
    """Whether a word is in a text; one in Latin letters where a word of the text begins."""
    if not word.isascii():
        return len(word) >= _SHORTEST_CHINESE and word in text
    if len(word) < _SHORTEST_WORD:
        return False
    return re.search(rf"(?<![a-z0-9]){re.escape(word)}", text) is not None
