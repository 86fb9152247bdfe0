"""Who is asked about: a release of RocketMQ or a profile, by whichever word it was named."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from model_check.defects.affected import affects
from model_check.instances import switches_of, unturned
from model_check.releases import profile_for
from spec.profiles import PROFILES
from spec.releases.broker_defaults import NEWEST_RELEASE, release_numbers

if TYPE_CHECKING:
    from model_check.portfolio import Judged


@dataclass(frozen=True, slots=True)
class Asked:
    """A release or a profile.

    Attributes
    ----------
    name : str
        As it was given: `5.3.4`, `5.4.0+settles_once`, `fixed`.
    profile : str
        What is searched for it.
    release : str
        The release: what is said of releases (defects, remedies, settings) is said of this one.
    why : str
        Why the profile speaks for it; empty where it is its own.
    """

    name: str
    profile: str
    release: str
    why: str

    @property
    def is_release(self) -> bool:
        """Whether it is a release as it was published, with no switch turned by hand."""
        return re.fullmatch(r"[\d.]+", self.name) is not None


def asked_for(name: str) -> Asked:
    """What a word after `--profile`, `--version` or `--compare` means; turned switches may stand behind a release.

    Raises
    ------
    ModelCheckError
        When there is no such profile, release or switch; names what there is.

    Examples
    --------
    >>> asked_for("5.3.4").profile, asked_for("5.3.4").why
    ('5.3.3+equal_age_is_young', '5.3.4 has no profile: it is judged by 5.3.3+equal_age_is_young, as 5.3.3 stands for \
5.1.0 to 5.3.4')
    >>> asked_for("5.4.0+settles_once").release, asked_for("fixed").release, asked_for("5.2.0-keeps_flag").profile
    ('5.4.0', '5.5.1', '5.3.3-keeps_flag')
    """
    base = unturned(name)
    numbers = release_numbers(base)
    if base in PROFILES or not re.fullmatch(r"\d+\.\d+\.\d+", base):
        switches_of(name)
        return Asked(name, name, base if numbers else NEWEST_RELEASE, "")
    profile, why = profile_for(base, with_switches=True)
    profile += name[len(base) :]
    switches_of(profile)
    return Asked(name, profile, base, why)


def of_release(answer: Judged, asked: Asked) -> Judged:
    """The same, said of a release that the profile stands for: no id of another one, and what to do there."""
    if not asked.why:
        return answer
    clauses = tuple(
        replace(row, resembles=tuple(one for one in row.resembles if affects(one, asked.release)))
        for row in answer.result.clauses
    )
    return replace(answer, result=replace(answer.result, clauses=clauses), release=asked.release)
