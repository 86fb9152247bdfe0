"""What a user sees, in the words of users, English and Chinese, and the defects that it may be (`symptoms.toml`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from files.content import read_toml
from model_check.defects.catalogue import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterable

    from model_check.defects.catalogue import Defect

FILE: Final = Path(__file__).with_name("symptoms.toml")
_SHORTEST_WORD: Final = 3
_SHORTEST_CHINESE: Final = 2


@dataclass(frozen=True, slots=True)
class Symptom:
    """One thing that a user may see.

    Attributes
    ----------
    name : str
        As the answer is headed.
    english, chinese : tuple of str
        The words for it, whatever their capitals and blanks.
    defects : tuple of str
        The ids of the defects that it may be, in the order of the catalogue.
    """

    name: str
    english: tuple[str, ...]
    chinese: tuple[str, ...]
    defects: tuple[str, ...]

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
        defect for defect in catalogue().values() if words and all(_has(_described(defect), word) for word in words)
    )


def symptoms_of(identifier: str) -> tuple[str, ...]:
    """The names of the symptoms that a defect shows."""
    return tuple(symptom.name for symptom in symptoms() if identifier in symptom.defects)


def defects_of(ids: Iterable[str]) -> tuple[Defect, ...]:
    """The defects of some ids, in the order of the catalogue."""
    wanted = frozenset(ids)
    return tuple(defect for identifier, defect in catalogue().items() if identifier in wanted)


@cache
def _described(defect: Defect) -> str:
    texts = (defect.name, defect.effect, defect.mechanism, defect.repair, *defect.java, *defect.issues)
    return plain(" ".join(texts))


def _has(text: str, word: str) -> bool:
    """Whether a word is in a text; one in Latin letters where a word of the text begins."""
    if not word.isascii():
        return len(word) >= _SHORTEST_CHINESE and word in text
    if len(word) < _SHORTEST_WORD:
        return False
    return re.search(rf"(?<![a-z0-9]){re.escape(word)}", text) is not None
