"""In which releases a defect is: the versions of the catalogue as ranges of numbers, and the question by release."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from model_check.defects.catalogue import catalogue
from model_check.errors import BadFile
from model_check.releases import profile_for
from spec.releases.broker_defaults import NEWEST_RELEASE, release_numbers

if TYPE_CHECKING:
    from model_check.defects.catalogue import Defect

_RANGE = re.compile(r"(\d+\.\d+\.\d+)–(\d+\.\d+\.\d+)?")


class ReleaseRange(NamedTuple):
    """Releases in a row.

    Attributes
    ----------
    first, last : str
        The last is empty where the defect is open.
    """

    first: str
    last: str

    def has(self, release: str) -> bool:
        """Whether a release is one of them."""
        numbers = release_numbers(release)
        return release_numbers(self.first) <= numbers and (not self.last or numbers <= release_numbers(self.last))


def is_in_release(defect: Defect, release: str) -> bool:
    """Whether a release has a defect; one that is newer than all that were read has what the newest one has.

    But for what was mended behind the newest one.

    Examples
    --------
    >>> [is_in_release(catalogue()["A17"], release) for release in ("5.4.0", "5.5.1", "5.6.0")]
    [False, True, True]
    >>> [is_in_release(catalogue()["A46"], release) for release in ("5.5.1", "5.6.0")]
    [True, False]
    """
    is_newer = is_newer_than_read(release)
    if is_newer and defect.fixed == f"after {NEWEST_RELEASE}":
        return False
    asked = release if release_numbers(release) and not is_newer else NEWEST_RELEASE
    return any(part.has(asked) for part in ranges_of(defect))


def ranges_of(defect: Defect) -> tuple[ReleaseRange, ...]:
    """The releases that have a defect; none where no release has it.

    Raises
    ------
    BadFile
        Its versions are no ranges, and its entry has no `in_releases` that says them.

    Examples
    --------
    >>> ranges_of(catalogue()["A07"])
    (ReleaseRange(first='4.3.0', last='4.9.4'), ReleaseRange(first='5.0.0', last='5.0.0'))
    >>> ranges_of(catalogue()["B02"]), ranges_of(catalogue()["A26"])
    ((ReleaseRange(first='5.1.0', last=''),), ())
    """
    if defect.in_releases is not None:
        parts = [part.strip() for part in defect.in_releases.split(",") if part.strip()]
    elif "–" in defect.affected:
        parts = [
            part.strip() if "–" in part else f"{part.strip()}–{part.strip()}" for part in defect.affected.split(",")
        ]
    else:
        parts = [f"{defect.affected}–" if not defect.fixed else defect.affected]
    return tuple(_range_of(defect, part) for part in parts)


def _range_of(defect: Defect, text: str) -> ReleaseRange:
    found = _RANGE.fullmatch(text)
    if found is None:
        msg = f"{defect.identifier}: {text!r} is no range such as 5.1.0–5.1.3 or 5.1.0–; give it in_releases"
        raise BadFile(msg)
    return ReleaseRange(found[1], found[2] or "")


def is_newer_than_read(release: str) -> bool:
    """Whether a release came after the newest one whose source has been read, so that what it repairs is not known."""
    return release_numbers(release) > release_numbers(NEWEST_RELEASE)


def is_in(defect: Defect, release: str) -> bool | None:
    """Whether a release has a defect; None where that is not known, as its source has not been read.

    Raises
    ------
    ModelCheckError
        When the text names no release of 4.3.0 and later.

    Examples
    --------
    >>> [is_in(catalogue()["A17"], release) for release in ("5.3.3", "5.5.1", "5.9.0")]
    [False, True, None]
    """
    profile_for(release)
    has = is_in_release(defect, release)
    return None if has and is_newer_than_read(release) else has


def defects_in(release: str) -> tuple[Defect, ...]:
    """The defects that a release has, those of clients and proxies of its time included.

    Also what shows only on the way back to it, which `model_check.defects.affected.affects` leaves out. A release that
    is newer than the newest one that was read has those that were open in that one.

    Raises
    ------
    ModelCheckError
        When the text names no release of 4.3.0 and later.

    Examples
    --------
    >>> "A17" in {defect.identifier for defect in defects_in("5.5.1")}
    True
    >>> "A17" in {defect.identifier for defect in defects_in("5.3.3")}
    False
    """
    profile_for(release)
    return tuple(defect for defect in catalogue().values() if is_in_release(defect, release))
