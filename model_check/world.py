"""Where a question is asked: a profile, an environment and an instance, made once, at the border, from their names.

Inside, nobody passes these names on: a `World` has the constants that actions see, its title, its options on the
command line and its key in caches. A `Profile` is a version of RocketMQ or the repaired protocol, possibly with
switches turned; an `Environment` is a set of faults; an `Instance` has sizes and times. What a user names may also be a
release, for which a profile speaks (`Asked`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, Self

from model_check.did_you_mean import nearest_release, require_known
from model_check.errors import ModelCheckError
from model_check.instances import load_instance
from model_check.releases import profile_for
from spec.constants import FAULTS, SWITCHES, Constants, Instance
from spec.profiles import PROFILES, VERSIONS, distinct
from spec.releases.broker_defaults import NEWEST_RELEASE, release_numbers
from spec.transactional_messages import AMONG_OTHERS, TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from spec.language import Machine
    from spec.switches import Switches

QUIET: Final = "quiet"
"""The name of the environment without faults."""

SIZES: Final = ("transactions", "half_slots", "op_slots")
"""The sizes of an instance that answers name."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile of the specification, and its switches."""

    name: str
    """`5.3.3`, `fixed`, or with switches turned: `5.3.3+heeds_settled_originals-batches_ops`."""
    switches: Switches

    @classmethod
    def of(cls, name: str) -> Profile:
        """A profile by its name, and then ``+NAME`` or ``-NAME`` for each switch that is to be on or off.

        Raises `ModelCheckError`, which names what there is, when there is no such profile or switch.

        Examples
        --------
        >>> Profile.of("4.9.7").switches.batches_ops, Profile.of("4.9.7+batches_ops").switches.batches_ops
        (False, True)
        """
        return _profile(name)

    @classmethod
    def standing_for(cls, release: str) -> tuple[Profile, str]:
        """The profile by which a release is judged, and why; see `model_check.releases.profile_for`.

        Raises `ModelCheckError` when the text names no release, or one that has no transactional messages of this kind.
        """
        name, why = profile_for(release, with_switches=True)
        return cls.of(name), why

    @classmethod
    def all(cls) -> tuple[Profile, ...]:
        """The profiles that come with the specification, oldest first."""
        return tuple(map(cls.of, PROFILES))

    @classmethod
    def versions(cls) -> tuple[Profile, ...]:
        """Those that are versions of RocketMQ."""
        return tuple(map(cls.of, VERSIONS))

    @classmethod
    def distinct_versions(cls) -> tuple[Profile, ...]:
        """Of versions with the same switches the first: what is found of it holds for the others."""
        return tuple(map(cls.of, distinct(VERSIONS)))

    @classmethod
    def in_order(cls, profiles: Iterable[Profile]) -> tuple[Profile, ...]:
        """Each once, oldest first; all that come with the specification where none is given."""
        places = list(PROFILES)
        chosen = dict.fromkeys(profiles) or cls.all()
        return tuple(sorted(chosen, key=lambda profile: places.index(profile.unturned)))

    @property
    def unturned(self) -> str:
        """The name without its turned switches.

        Examples
        --------
        >>> Profile.of("5.3.3+heeds_settled_originals").unturned
        '5.3.3'
        """
        return re.split(r"[+-]", self.name, maxsplit=1)[0]

    @property
    def turned(self) -> tuple[str, ...]:
        """The turned switches, each as the name has it: `+settles_once`."""
        return tuple(re.findall(r"[+-]\w+", self.name[len(self.unturned) :]))

    @property
    def is_version(self) -> bool:
        """Whether it is a version of RocketMQ with no switch turned."""
        return self.name in VERSIONS

    def turn(self, *turns: str) -> Profile:
        """The profile with more switches turned, each given as `+settles_once`.

        Raises `ModelCheckError` when there is no such switch.
        """
        return Profile.of(self.name + "".join(turns))

    def same(self) -> str:
        """The names of all profiles with the same switches: the head of a column that speaks of them.

        Examples
        --------
        >>> Profile.of("5.5.0").same()
        '5.5.0'
        """
        return ", ".join(name for name, switches in PROFILES.items() if switches == self.switches)

    def __str__(self) -> str:
        return self.name


@cache
def _profile(name: str) -> Profile:
    unturned, *turned = re.split(r"(?=[+-])", name)
    require_known("profile", unturned, PROFILES, hint=_stand_in(unturned))
    for switch in turned:
        require_known("switch", switch[1:], SWITCHES, listed_by="halfcheck switches")
    return Profile(name, replace(PROFILES[unturned], **{switch[1:]: switch[0] == "+" for switch in turned}))


def _stand_in(name: str) -> str:
    """The hint for the name of no profile: the one that stands for a release, or the nearest."""
    try:
        profile, _ = profile_for(name, with_switches=True)
    except ModelCheckError:
        return nearest_release(name, VERSIONS)
    return profile if profile == name else f"{profile}, which stands for {name}"


class Environment(tuple[str, ...]):
    """A set of faults, in the order in which they are declared; the quiet world has none."""

    __slots__ = ()

    @classmethod
    def of(cls, faults: Iterable[str]) -> Self:
        """The set of these faults.

        Raises `ModelCheckError`, which names what there is, and what may have been meant, when one is none.

        Examples
        --------
        >>> Environment.of(["crash", "lose_end"])
        ('lose_end', 'crash')
        """
        chosen = set(faults)
        for name in sorted(chosen - set(FAULTS)):
            if name.strip().lower() in ("all", "any", "every"):
                msg = (
                    f"no fault {name!r}: all at once do not say which of them breaks what; halfcheck faults "
                    "tries set after set, halfcheck switches --faults says what each one is"
                )
                raise ModelCheckError(msg)
            require_known("fault", name, FAULTS)
        return cls(fault for fault in FAULTS if fault in chosen)

    @classmethod
    def named(cls, name: str) -> Self:
        """The set that `name` gives a name.

        Examples
        --------
        >>> Environment.named("quiet"), Environment.named("lose_end,crash")
        ((), ('lose_end', 'crash'))
        """
        return cls(() if name == QUIET else name.split(","))

    @property
    def name(self) -> str:
        """The faults as `halfcheck check --faults` takes them; `quiet` for none.

        Examples
        --------
        >>> Environment.of({"crash", "lose_end"}).name, Environment().name
        ('lose_end,crash', 'quiet')
        """
        return ",".join(self) or QUIET

    @property
    def beside_a_profile(self) -> str:
        """The set as it is said behind the name of a profile.

        Examples
        --------
        >>> Environment.of(["crash", "lose_end"]).beside_a_profile, Environment().beside_a_profile
        ('with lose_end, crash', 'in the quiet world')
        """
        return f"with {', '.join(self)}" if self else "in the quiet world"

    def in_words(self, between: str = " + ") -> str:
        """The set for people.

        Examples
        --------
        >>> Environment().in_words(), Environment.of(["lose_end", "crash"]).in_words(" and ")
        ('the quiet world', 'lose_end and crash')
        """
        return between.join(self) or "the quiet world"

    def smaller(self) -> Iterator[Self]:
        """The proper subsets, the smaller ones first.

        Examples
        --------
        >>> list(Environment.of(["lose_end", "crash"]).smaller())
        [(), ('lose_end',), ('crash',)]
        """
        for size in range(len(self)):
            yield from map(type(self), combinations(self, size))

    def is_within(self, others: Iterable[str]) -> bool:
        """Whether all of its faults are among others."""
        return set(self) <= set(others)

    @property
    def by_size(self) -> tuple[object, ...]:
        """A key to sort sets: fewer faults first, then in their order; those that no longer exist at the end."""
        places = [FAULTS.index(fault) if fault in FAULTS else len(FAULTS) for fault in self]
        return len(self), places, tuple(self)

    def __repr__(self) -> str:
        return tuple(self).__repr__()


NO_FAULTS: Final = Environment()
"""The quiet world's."""

ALL_FAULTS: Final = Environment(FAULTS)


def single_environments() -> tuple[Environment, ...]:
    """The quiet world, and each fault alone."""
    return NO_FAULTS, *(Environment([fault]) for fault in FAULTS)


@dataclass(frozen=True)
class World:
    """A profile, an environment and an instance: what one search searches."""

    profile: Profile
    environment: Environment
    instance: Instance

    @classmethod
    def of(cls, profile: str | Profile, faults: Iterable[str] = (), instance: str | Instance = "tiny") -> World:
        """The world of these names; see `Profile.of`, `Environment.of` and `model_check.instances.load_instance`.

        Raises `ModelCheckError`, which names what there is, and what may have been meant, when a name is unknown.
        """
        return cls(
            Profile.of(profile) if isinstance(profile, str) else profile,
            Environment.of(faults),
            load_instance(instance) if isinstance(instance, str) else instance,
        )

    @cached_property
    def constants(self) -> Constants:
        """The `c` of every action."""
        given = (self.instance, self.profile.switches)
        values: dict[str, Any] = {field.name: getattr(part, field.name) for part in given for field in fields(part)}
        return Constants(**values | dict.fromkeys(self.environment, True))

    @property
    def machine(self) -> Machine:
        """The specification: of one transaction among others, where the instance is crowded."""
        return AMONG_OTHERS if self.is_crowded else TRANSACTIONAL_MESSAGES

    @property
    def is_crowded(self) -> bool:
        """Whether its one transaction is among others."""
        return self.instance.crowded == 1

    @property
    def title(self) -> str:
        """The world for people, such as `5.3.3 with crash on tiny`."""
        return f"{self.profile} {self.environment.beside_a_profile} on {self.instance.name}"

    @property
    def options(self) -> str:
        """The options with which a command is asked about this world."""
        faults = f" --faults {self.environment.name}" if self.environment else ""
        return f"--profile {self.profile} --instance {self.instance.name}{faults}"

    @property
    def key(self) -> str:
        """The key of the world in caches, with all fields of its instance."""
        return json.dumps([self.profile.name, self.environment.name, asdict(self.instance)])

    def sizes_to_json(self) -> dict[str, Any]:
        """The instance as plain data."""
        return {name: getattr(self.instance, name) for name in ("name", *SIZES)}

    def on(self, instance: Instance) -> World:
        """The same profile and environment on another instance."""
        return replace(self, instance=instance)

    def under(self, environment: Environment) -> World:
        """The same profile and instance in another environment."""
        return replace(self, environment=environment)

    def in_profile(self, profile: Profile) -> World:
        """The same environment and instance in another profile."""
        return replace(self, profile=profile)

    def __str__(self) -> str:
        return f"{self.profile} {self.instance.name} {self.environment.name}"

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type[World], tuple[Profile, Environment, Instance]]:
        """Without what is cached: the hash of a text is another one in each process."""
        return World, (self.profile, self.environment, self.instance)

    @cached_property
    def _hash(self) -> int:
        """Worlds are keys; so many fields are not to be hashed each time."""
        return hash((self.profile.name, self.environment, self.instance))


@dataclass(frozen=True, slots=True)
class Asked:
    """A release or a profile."""

    name: str
    """As it was given: `5.3.4`, `5.4.0+settles_once`, `fixed`."""
    profile: Profile
    """The profile that is searched for it."""
    release: str
    """The release: what is said of releases (defects, remedies, settings) is said of this one."""
    why: str
    """Why the profile speaks for it; empty where it is its own."""

    @property
    def is_release(self) -> bool:
        """Whether it is a release as it was published, with no switch turned by hand."""
        return re.fullmatch(r"[\d.]+", self.name) is not None

    @property
    def stood_for(self) -> str:
        """The release that the profile only stands for; empty where the profile is its own."""
        return self.release if self.why else ""


def asked_for(name: str) -> Asked:
    """The release or profile of a word on the command line; turned switches may stand behind a release.

    Raises `ModelCheckError`, which names what there is, when there is no such profile, release or switch.

    Examples
    --------
    >>> asked_for("4.5.2").profile.name, asked_for("4.5.2").why
    ('4.5.1+keeps_discarded', '4.5.2 has no profile: it is judged by 4.5.1+keeps_discarded, as 4.5.1 stands for \
4.3.0 to 4.5.2')
    >>> asked_for("5.4.0+settles_once").release, asked_for("fixed").release, asked_for("5.2.0-keeps_flag").profile.name
    ('5.4.0', '5.5.1', '5.3.3-keeps_flag')
    """
    unturned = re.split(r"[+-]", name, maxsplit=1)[0]
    if unturned in PROFILES or not re.fullmatch(r"\d+\.\d+\.\d+", unturned):
        profile = Profile.of(name)
        return Asked(name, profile, unturned if release_numbers(unturned) else NEWEST_RELEASE, "")
    nearest, why = profile_for(unturned, with_switches=True)
    return Asked(name, Profile.of(nearest + name[len(unturned) :]), unturned, why)
