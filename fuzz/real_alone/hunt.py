"""What a jar breaks and its release does not: schedules of any kind on both, and what faults it takes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, cycle, islice
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from fuzz.real_alone.neighbours import decided_otherwise, neighbours
from fuzz.real_alone.schedules import as_played, drawn, schedule_of, texts_of
from fuzz.real_alone.shrinking import shortest
from model_check.world import Environment, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fuzz.real_alone.builds import Builds
    from fuzz.real_alone.claims import ClauseOnJar
    from fuzz.real_alone.schedules import StagedSchedule
    from model_check.verdicts.counterexamples import MinimalCounterexample
    from model_check.world import Profile

_SEEN_AS: Final = {"L1": ("L1", "S4")}
"""The guarantees of the specification of which clients and log see that one: a half that is taken for settled with
another transaction is lost, too."""
_KEPT: Final = 3
"""So many schedules are kept of each property, the shortest."""
_LENGTHS: Final = (10, 60)
_SHRINKING: Final = 0.35
"""The share of the time that is kept for making schedules short."""


@dataclass(frozen=True, slots=True)
class NewlyBroken:
    """A property that the jar breaks by a schedule by which the release does not."""

    identifier: str
    schedule: StagedSchedule
    """The shortest that was found, in the smallest set of faults that has its steps."""
    what: str
    """What was seen on it."""
    is_known: bool
    """Under these faults the release breaks the property, too, by other schedules."""

    @property
    def environment(self) -> Environment:
        """The faults that it takes."""
        return self.schedule.world.environment

    def to_json(self) -> dict[str, Any]:
        """The finding as plain data."""
        return {
            "property": self.identifier,
            "faults": list(self.environment),
            "release_breaks_it_otherwise": self.is_known,
            "what": self.what,
            "steps": texts_of(self.schedule.steps),
        }


@dataclass(frozen=True, slots=True)
class Hunted:
    """The result of a hunt."""

    played: int
    """How many schedules were played on both."""
    alike: int
    """How many of them broke the same properties in both."""
    found: tuple[NewlyBroken, ...]


def hunt(
    builds: Builds,
    profile: Profile,
    verdicts: Sequence[ClauseOnJar],
    seconds: float,
    seed: int,
    report: Callable[[str], None],
) -> Hunted:
    """Play neighbours of all counterexamples and workloads of the fuzzer on both, until time is up.

    What differs comes first: those on which the jar does otherwise, with other outcomes of their local transactions.

    Parameters
    ----------
    verdicts
        What the jar does with the counterexamples.
    report
        Is given how many were played.
    """
    ends, chance = monotonic() + seconds, Random(seed)
    kept: dict[str, list[StagedSchedule]] = {}
    counterexamples = [each.one for each in verdicts]
    played = alike = 0
    for schedule in chain(_where_it_differs(profile, verdicts), _schedules(profile, counterexamples, chance)):
        if monotonic() > ends - seconds * _SHRINKING:
            break
        jar, release = (did.broken_in_the_end for did in builds.on_both(schedule))
        played, alike = played + 1, alike + (jar == release)
        for identifier in jar - release:
            kept[identifier] = sorted([*kept.get(identifier, ()), schedule], key=lambda one: len(one.staged))[:_KEPT]
        if played % 20 == 0:
            report(f"{played} schedules on both")
    found = []
    for left, (identifier, schedules) in enumerate(sorted(kept.items())):
        report(f"a short schedule of {identifier}")
        until = monotonic() + (ends - monotonic()) / (len(kept) - left)
        found.append(_shortened(builds, profile, counterexamples, identifier, schedules, until))
    return Hunted(played, alike, tuple(sorted(found, key=lambda one: (one.is_known, len(one.schedule.staged)))))


def _where_it_differs(profile: Profile, verdicts: Sequence[ClauseOnJar]) -> Iterator[StagedSchedule]:
    """Those with other outcomes, the shortest first, whole and up to the step in which the jar does otherwise."""
    for each in sorted((each for each in verdicts if each.differs_at), key=lambda each: each.one.depth):
        schedule = as_played(each.one, profile)
        if schedule is not None:
            yield from decided_otherwise(schedule, each.differs_at)


def _schedules(
    profile: Profile, counterexamples: Sequence[MinimalCounterexample], chance: Random
) -> Iterator[StagedSchedule]:
    """Neighbours of each counterexample in turn, and as many drawn ones."""
    around: dict[int, Iterator[StagedSchedule]] = {}
    for number in cycle(chance.sample(range(len(counterexamples)), len(counterexamples))):
        if number not in around:
            one = counterexamples[number]
            schedule = as_played(one, profile)
            around[number] = iter(()) if schedule is None else neighbours(schedule, one.clause, Random(chance.random()))
        yield from islice(around[number], 1)
        yield drawn(profile, chance.randrange(*_LENGTHS), chance)


def _shortened(
    builds: Builds,
    profile: Profile,
    counterexamples: Sequence[MinimalCounterexample],
    identifier: str,
    schedules: Sequence[StagedSchedule],
    until: float,
) -> NewlyBroken:
    """The one of some schedules that takes the fewest faults, made short."""

    def shows(tried: StagedSchedule) -> bool:
        jar, release = (did.broken_in_the_end for did in builds.on_both(tried))
        return identifier in jar - release

    best = min(
        (shortest(_of_fewest_faults(one), shows, may_go_on=lambda: monotonic() < until) for one in schedules),
        key=lambda one: (_is_known(profile, counterexamples, identifier, _of_fewest_faults(one)), len(one.staged)),
    )
    best = _of_fewest_faults(best)
    did = builds.on_both(best)[0].in_the_end
    what = next((each.what for each in did if each.identifier == identifier), "")
    return NewlyBroken(identifier, best, what, _is_known(profile, counterexamples, identifier, best))


def _of_fewest_faults(schedule: StagedSchedule) -> StagedSchedule:
    """The same steps in a world that has no fault too many."""
    world = schedule.world
    for fault in world.environment:
        rest = Environment.of([other for other in schedule.world.environment if other != fault])
        tried = schedule_of(World(world.profile, rest, world.instance), schedule.steps, schedule.origin)
        if len(tried.staged) == len(schedule.staged):
            schedule = tried
    return schedule


def _is_known(
    profile: Profile, counterexamples: Sequence[MinimalCounterexample], identifier: str, schedule: StagedSchedule
) -> bool:
    faults = set(schedule.world.environment)
    same = _SEEN_AS.get(identifier, (identifier,))
    return any(
        one.clause.identifier in same and set(one.environment) <= faults
        for one in counterexamples
        if profile in one.profiles
    )
