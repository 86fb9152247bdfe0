"""What to do about a broken clause, for whoever asks."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from model_check.remedies.parts import Part, advice, parts_of
from model_check.wording.clauses import meaning_of

if TYPE_CHECKING:
    from model_check.remedies.situation import Situation


@cache
def parts_said_of(clause: str) -> tuple[tuple[Part, ...], ...]:
    """What is said of its kind of harm first, of the clause, and of its kind behind that."""
    meaning = meaning_of(clause)
    return parts_of(meaning.first), parts_of(meaning.remedy), parts_of(meaning.last)


def remedy(clause: str, asked: Situation) -> str:
    """What to do, without a full stop: a setting, a release, or what clients should do.

    Raises
    ------
    KeyError
        When there is no such clause.

    Examples
    --------
    >>> from model_check.remedies.situation import Situation
    >>> remedy("S1.passed_op", Situation("4.5.2", frozenset({"slow_round"})))
    'upgrade to 4.6.0 or later; make the consumer idempotent'
    """
    told = (advice(parts, asked) for parts in parts_said_of(clause))
    return "; ".join(one for one in told if one) or "nothing is needed in this release"
