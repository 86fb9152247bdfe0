"""Who is asked about: a release of RocketMQ or a profile, by whichever word it was named."""

from __future__ import annotations

import re
from dataclasses import dataclass

from model_check.releases import profile_for
from model_check.world import Profile
from spec.profiles import PROFILES
from spec.releases.broker_defaults import NEWEST_RELEASE, release_numbers


@dataclass(frozen=True, slots=True)
class Asked:
    """A release or a profile.

    Attributes
    ----------
    name : str
        As it was given: `5.3.4`, `5.4.0+settles_once`, `fixed`.
    profile : Profile
        What is searched for it.
    release : str
        The release: what is said of releases (defects, remedies, settings) is said of this one.
    why : str
        Why the profile speaks for it; empty where it is its own.
    """

    name: str
    profile: Profile
    release: str
    why: str

    @property
    def is_release(self) -> bool:
        """Whether it is a release as it was published, with no switch turned by hand."""
        return re.fullmatch(r"[\d.]+", self.name) is not None

    @property
    def stood_for(self) -> str:
        """The release that the profile only stands for; empty where the profile is its own."""
        return self.release if self.why else ""


def asked_for(name: str) -> Asked:
    """What a word after `--profile`, `--version` or `--compare` means; turned switches may stand behind a release.

    Raises
    ------
    ModelCheckError
        When there is no such profile, release or switch; names what there is.

    Examples
    --------
    >>> asked_for("5.3.4").profile.name, asked_for("5.3.4").why
    ('5.3.3+equal_age_is_young', '5.3.4 has no profile: it is judged by 5.3.3+equal_age_is_young, as 5.3.3 stands for \
5.1.0 to 5.3.4')
    >>> asked_for("5.4.0+settles_once").release, asked_for("fixed").release, asked_for("5.2.0-keeps_flag").profile.name
    ('5.4.0', '5.5.1', '5.3.3-keeps_flag')
    """
    unturned = re.split(r"[+-]", name, maxsplit=1)[0]
    if unturned in PROFILES or not re.fullmatch(r"\d+\.\d+\.\d+", unturned):
        profile = Profile.of(name)
        return Asked(name, profile, unturned if release_numbers(unturned) else NEWEST_RELEASE, "")
    nearest, why = profile_for(unturned, with_switches=True)
    return Asked(name, Profile.of(nearest + name[len(unturned) :]), unturned, why)
