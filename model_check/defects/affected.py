"""Whether a release has a defect of the catalogue, whether an upgrade brings it, and which one is rid of it."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from model_check.defects.catalogue import catalogue
from model_check.defects.in_releases import is_in_release
from model_check.instances import switches_of
from spec.constants import SWITCHES
from spec.profiles import PROFILES, VERSIONS
from spec.releases.broker_defaults import release_numbers

RELEASE: Final = r"\d+\.\d+\.\d+"
_BACK: Final = re.compile(r"from (\d+\.\d+) back to")
"""Shows only where a broker goes back to an older release."""


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
