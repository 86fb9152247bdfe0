"""The tags that a subscription names, as ``a || b`` (``FilterAPI#buildSubscriptionData``)."""

from __future__ import annotations

from typing import Final

ALL_TAGS: Final = "*"


def tags_in(expression: str) -> frozenset[str] | None:
    """The tags of an expression; None where it takes all.

    Examples
    --------
    >>> sorted(tags_in("paid || sent") or ()), tags_in("*"), tags_in(" ")
    (['paid', 'sent'], None, None)
    """
    names = frozenset(name for name in map(str.strip, expression.split("||")) if name)
    return None if not names or expression.strip() == ALL_TAGS else names
