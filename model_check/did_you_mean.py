"""A name that nobody knows, and those that may have been meant: one message for all the places that take names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

from model_check.errors import ModelCheckError

_CUTOFF = 0.6
_AS_NEAR = 0.05
_MOST = 3
_SHORT = 12


def meant(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """The known names that are nearest to another one, the nearest first; those of other capitals, too.

    Examples
    --------
    >>> meant("crsh", ("slow_round", "crash")), meant("SMALL", ("tiny", "small")), meant("fire", ("crash", "tiny"))
    (('crash',), ('small',), ())
    >>> meant("immune_half", ("S1.immune_half", "S9.immune_half", "S9.late_op"))
    ('S1.immune_half', 'S9.immune_half')
    """
    by_word = {one.lower(): one for one in known}
    word = name.strip().lower()
    found = difflib.get_close_matches(word, by_word, n=_MOST, cutoff=_CUTOFF)
    likeness = {one: difflib.SequenceMatcher(None, one, word).ratio() for one in by_word if one in found}
    return tuple(by_word[one] for one in likeness if likeness[one] >= max(likeness.values()) - _AS_NEAR)


def nearest_release(version: str, known: Sequence[str]) -> str:
    """The release that is nearest by its numbers, the later one of two; empty for what is no version.

    Examples
    --------
    >>> releases = ("4.5.1", "4.9.7", "5.3.3", "5.4.0")
    >>> nearest_release("5.3", releases), nearest_release("5.5.1", releases), nearest_release("4", releases)
    ('5.3.3', '5.4.0', '4.5.1')
    >>> nearest_release("9", releases), nearest_release("fixd", releases)
    ('5.4.0', '')
    """
    if not re.fullmatch(r"\d+(\.\d+)*", version):
        return ""
    longer = [one for one in known if f"{one}.".startswith(f"{version}.")]
    if longer and "." in version:
        return longer[-1]
    numbers = [int(part) for part in version.split(".")]

    by_number = {one: [int(part) for part in one.split(".")] for one in known}
    newest = max(known, key=by_number.__getitem__)
    if numbers > by_number[newest]:
        return newest
    asked = [*numbers, 0, 0][:3]
    return min(
        reversed(known), key=lambda one: [abs(mine - its) for mine, its in zip(asked, by_number[one], strict=True)]
    )


def require_known(
    what: str, name: str, known: Iterable[str], *, hint: str = "", there: str = "", listed_by: str = ""
) -> None:
    """Refuse a name that is not known: the message says what may have been meant, and what there is.

    Raises `ModelCheckError` when there is no such name, without a long list where it is clear what was meant.

    Parameters
    ----------
    what
        What it should be, in a word.
    hint
        What was meant, where the letters don't say it.
    there
        What there is, where it is not all that is known.
    listed_by
        The command that lists them, where they are too many for a line.

    Examples
    --------
    >>> require_known("fault", "crash", ("slow_round", "crash"))
    >>> require_known("fault", "crsh", ("slow_round", "crash"))
    Traceback (most recent call last):
    model_check.errors.ModelCheckError: no fault 'crsh'; did you mean crash? There are slow_round, crash
    >>> require_known("fault", "fire", ("slow_round", "crash"))
    Traceback (most recent call last):
    model_check.errors.ModelCheckError: no fault 'fire'; there are slow_round, crash
    """
    names = tuple(known)
    if name in names:
        return
    likely = (hint,) if hint else meant(name, names)
    msg = f"no {what} {name!r}; "
    if not likely and listed_by:
        msg += f"{listed_by} lists the {len(names)} that there are"
    elif not likely:
        msg += f"there are {there or ', '.join(names)}"
    elif there or (len(names) <= _SHORT and not listed_by):
        msg += f"did you mean {' or '.join(likely)}? There are {there or ', '.join(names)}"
    else:
        msg += f"did you mean {' or '.join(likely)}?"
    raise ModelCheckError(msg)
