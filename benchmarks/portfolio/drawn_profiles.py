"""Profiles that nobody has released: a release with one to three switches turned, drawn by a seed."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final

from model_check.switches import switch_records, turned_in_vain
from model_check.world import Profile
from spec.profiles import VERSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_TURNED: Final = 3


def drawn_profiles(number: int, seed: int) -> list[Profile]:
    """So many different profiles, each with switches that do something where they are turned.

    Examples
    --------
    >>> drawn_profiles(3, seed=1) == drawn_profiles(9, seed=1)[:3]
    True
    """
    found: dict[object, Profile] = {}
    for profile in _profiles(Random(seed)):
        if not turned_in_vain(profile):
            found.setdefault(profile.switches, profile)
        if len(found) == number:
            break
    return list(found.values())


def _profiles(random: Random) -> Iterator[Profile]:
    of_the_broker = [name for name, record in switch_records().items() if record.kind != "search"]
    while True:
        release = Profile.of(random.choice(VERSIONS))
        turned = random.sample(of_the_broker, random.randint(1, MOST_TURNED))
        yield release.turn(*(f"{'-' if getattr(release.switches, name) else '+'}{name}" for name in turned))
