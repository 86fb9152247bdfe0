"""Which releases have a defect: the words of the catalogue (`affected`, `fixed`) as a question about one release."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from model_check.defects.catalogue import catalogue
from model_check.instances import switches_of
from spec.constants import SWITCHES
from spec.profiles import PROFILES, VERSIONS
from spec.releases.broker_defaults import NEWEST_RELEASE, release_numbers

if TYPE_CHECKING:
    from model_check.defects.catalogue import Defect

Numbers = tuple[int, ...]

RELEASE: Final = r"\d+\.\d+\.\d+"
_OPEN: Final = (99,)
"""Behind all releases."""


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
    numbers = min(release_numbers(release) or release_numbers(NEWEST_RELEASE), release_numbers(NEWEST_RELEASE))
    return any(first <= numbers <= last for first, last in _ranges(identifier))


def arises(identifier: str, before: str, after: str) -> bool:
    """Whether a broker gets a defect as it goes from one release to another, or back to an older one.

    Examples
    --------
    >>> arises("A17", "4.9.7", "5.5.1"), arises("B01", "4.9.7", "5.5.1"), arises("B18", "5.5.1", "4.9.7")
    (True, False, True)
    """
    back = re.match(r"from (\d+\.\d+) back to", catalogue()[identifier].affected)
    if back:
        return release_numbers(after) < release_numbers(back[1]) <= release_numbers(before)
    return affects(identifier, after) and not affects(identifier, before)


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


def possible_in(identifier: str, profile: str) -> bool:
    """Whether a profile may have a defect: its release has it, or one in which a switch stands as it is turned here.

    Examples
    --------
    >>> possible_in("B03", "4.9.7"), possible_in("B03", "4.9.7+batches_ops"), possible_in("A39", "4.9.7")
    (False, True, True)
    """
    return possible_with(identifier, switches_of(profile))


def possible_with(identifier: str, switches: object) -> bool:
    """The same for the switches of a profile (or constants), which is known by those that stand as in a release."""
    return any(affects(identifier, release) for release in _releases_of(tuple(getattr(switches, n) for n in SWITCHES)))


@cache
def _releases_of(switches: tuple[bool, ...]) -> tuple[str, ...]:
    """The newest profile that differs in the fewest switches, and the releases that share what differs."""
    known = {name: tuple(getattr(one, switch) for switch in SWITCHES) for name, one in PROFILES.items()}

    def turned(name: str) -> list[int]:
        return [place for place, on in enumerate(switches) if known[name][place] != on]

    base = min(reversed(known), key=lambda name: len(turned(name)))
    like = (one for one in VERSIONS if any(known[one][place] == switches[place] for place in turned(base)))
    return (base, *like)


@cache
def _ranges(identifier: str) -> tuple[tuple[Numbers, Numbers], ...]:
    """From the first release to the last one, both included."""
    defect = catalogue()[identifier]
    if "no release" in defect.affected or " back to " in defect.affected:
        return ()
    found = [_range(piece, defect, is_first=number == 0) for number, piece in enumerate(defect.affected.split(", "))]
    return tuple(one for one in found if one is not None)


def _range(piece: str, defect: Defect, *, is_first: bool) -> tuple[Numbers, Numbers] | None:
    """What one part of `affected` says; none where it is a remark, such as `if enabled`."""
    named = re.findall(rf"{RELEASE}|\d+\.\d+(?=\.x)", piece)
    if not named or piece.startswith("clients"):
        return None
    first, last = release_numbers(named[0]), release_numbers(named[-1])
    if piece.startswith("before "):
        return (), _before(last)
    if piece.startswith("to ") or piece.endswith(" and before"):
        return (), last
    if piece.endswith(".x"):
        return first, (*first, *_OPEN)
    repaired = [release_numbers(one) for one in fixed_in(defect.identifier) if release_numbers(one) > first]
    if len(named) > 1 or not is_first:
        is_only_eased = defect.fixed and not fixed_in(defect.identifier)
        return first, _OPEN if is_only_eased else last
    return first, _before(min(repaired)) if repaired else _OPEN


def _before(numbers: Numbers) -> Numbers:
    """Below a release, and not below the one before it."""
    return *numbers[:-1], numbers[-1] - 1
