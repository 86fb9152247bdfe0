"""Numbers and names in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def first_of(names: Sequence[str], most: int = 3) -> str:
    """The first of some names, and how many more there are.

    Examples
    --------
    >>> first_of(["a", "b", "c", "d", "e"]), first_of(["a", "b"])
    ('a, b, c and 2 more', 'a, b')
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def counted(number: int, what: str) -> str:
    """A number and what is counted.

    Examples
    --------
    >>> counted(1, "guarantee"), counted(2, "guarantee")
    ('1 guarantee', '2 guarantees')
    """
    return f"{number} {what}{'' if number == 1 else 's'}"
