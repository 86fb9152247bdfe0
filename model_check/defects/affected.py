"""Which releases have a defect of the catalogue, whether an upgrade brings it, and which one is rid of it."""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from model_check.defects.catalogue import Defect, catalogue
from model_check.errors import BadFile
from model_check.releases import profile_for
from spec.constants import SWITCHES
from spec.profiles import PROFILES, VERSIONS
from spec.releases.broker_defaults import NEWEST_RELEASE, release_numbers

RELEASE: Final = r"\d+\.\d+\.\d+"
_BACK: Final = re.compile(r"from (\d+\.\d+) back to")
"""Shows only where a broker goes back to an older release."""
_RANGE: Final = re.compile(rf"({RELEASE})–({RELEASE})?")


def affects(identifier: str, release: str) -> bool:
    """Whether a release has a defect; a release that is newer than all that were read has what the newest one has.

    A name without a number (`fixed`) has what the newest one has; what a release eases, or only an option mends, stays.

    Examples
    --------
    >>> affects("A17", "5.5.1"), affects("A17", "5.4.0"), affects("B53", "4.7.0"), affects("B53", "5.1.4")
    (True, False, False, True)
    >>> affects("A16", "5.4.0"), affects("A16", "5.5.0"), affects("A05", "5.3.3")
    (True, False, True)
    >>> [release for release in ("4.9.4", "4.9.5", "5.0.0", "5.1.0") if affects("A07", release)]
    ['4.9.4', '5.0.0']
    """
    defect = catalogue()[identifier]
    return _BACK.match(defect.affected) is None and is_in_release(defect, release)


def arises(identifier: str, before: str, after: str) -> bool:
    """Whether a broker gets a defect as it goes from one release to another, or back to an older one.

    Examples
    --------
    >>> arises("A17", "4.9.7", "5.5.1"), arises("B01", "4.9.7", "5.5.1"), arises("B18", "5.5.1", "4.9.7")
    (True, False, True)
    """
    back = _BACK.match(catalogue()[identifier].affected)
    if back:
        return release_numbers(after) < release_numbers(back[1]) <= release_numbers(before)
    return affects(identifier, after) and not affects(identifier, before)


@cache
def fixed_in(identifier: str) -> tuple[str, ...]:
    """The releases that are rid of a defect, the oldest first; none where it is open or only eased.

    Examples
    --------
    >>> fixed_in("A19"), fixed_in("A07"), fixed_in("A05"), fixed_in("A35"), fixed_in("B01")
    (('5.3.4',), ('4.9.5', '5.1.0'), (), (), ())
    """
    text = catalogue()[identifier].fixed.removesuffix(", Java client")
    is_plain = re.fullmatch(rf"{RELEASE}(, {RELEASE})*", text)
    return tuple(re.findall(RELEASE, text)) if is_plain else ()


def upgrade_from(identifier: str, release: str) -> tuple[str, ...]:
    """The releases to go to, to be rid of a defect: the next that has not got it, and where later ones have it again.

    Examples
    --------
    >>> upgrade_from("A19", "5.3.3"), upgrade_from("A07", "4.5.1"), upgrade_from("A07", "5.0.0")
    (('5.3.4',), ('4.9.5', '5.1.0'), ('5.1.0',))
    >>> upgrade_from("A19", "5.4.0"), upgrade_from("B01", "5.4.0")
    ((), ())
    """
    if not affects(identifier, release):
        return ()
    later = (one for one in fixed_in(identifier) if release_numbers(one) > release_numbers(release))
    return tuple(one for one in later if not affects(identifier, one))  # of some defects a part is mended earlier


def possible_with(identifier: str, switches: object) -> bool:
    """Whether a profile (or constants) may have a defect: its release has it, or one in which a switch stands as here.

    Examples
    --------
    >>> from model_check.world import Profile
    >>> [possible_with("B03", Profile.of(name).switches) for name in ("4.9.7", "4.9.7+batches_ops")]
    [False, True]
    >>> possible_with("A39", Profile.of("4.9.7").switches)
    True
    """
    return any(affects(identifier, release) for release in _releases_of(tuple(getattr(switches, n) for n in SWITCHES)))


def is_in(defect: Defect, release: str) -> bool | None:
    """Whether a release has a defect; None where that is not known, as its source has not been read.

    Raises `ModelCheckError` when the text names no release of 4.3.0 and later.

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

    Also what shows only on the way back to it, which `affects` leaves out. A release that is newer than the newest one
    that was read has those that were open in that one. Raises `ModelCheckError` when the text names no release of 4.3.0
    and later.

    Examples
    --------
    >>> "A17" in {defect.identifier for defect in defects_in("5.5.1")}
    True
    >>> "A17" in {defect.identifier for defect in defects_in("5.3.3")}
    False
    """
    profile_for(release)
    return tuple(defect for defect in catalogue().values() if is_in_release(defect, release))


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


def is_newer_than_read(release: str) -> bool:
    """Whether a release came after the newest one whose source has been read, so that what it repairs is not known."""
    return release_numbers(release) > release_numbers(NEWEST_RELEASE)


class ReleaseRange(NamedTuple):
    """Releases in a row."""

    first: str
    last: str
    """Empty where the defect is open."""

    def has(self, release: str) -> bool:
        """Whether a release is one of them."""
        numbers = release_numbers(release)
        return release_numbers(self.first) <= numbers and (not self.last or numbers <= release_numbers(self.last))


def ranges_of(defect: Defect) -> tuple[ReleaseRange, ...]:
    """The releases that have a defect; none where no release has it.

    Raises `BadFile` if its versions are no ranges, and its entry has no `in_releases` that says them.

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


@cache
def _releases_of(switches: tuple[bool, ...]) -> tuple[str, ...]:
    """The newest profile that differs in the fewest switches, and the releases that share what differs."""
    known = {name: tuple(getattr(one, switch) for switch in SWITCHES) for name, one in PROFILES.items()}

    def turned(name: str) -> list[int]:
        return [place for place, on in enumerate(switches) if known[name][place] != on]

    base = min(reversed(known), key=lambda name: len(turned(name)))
    like = (one for one in VERSIONS if any(known[one][place] == switches[place] for place in turned(base)))
    return (base, *like)
