"""The clauses that a release breaks, counterexample by counterexample, on a jar: broken still, in part, or no more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from fuzz.lockstep.real_replays import RealOutcome, replay_on
from fuzz.real_alone.builds import AT_A_TIME
from fuzz.real_alone.guarantees import IN_THE_END
from fuzz.real_alone.neighbours import decided_otherwise, neighbours
from fuzz.real_alone.schedules import as_played, texts_of
from fuzz.real_alone.shrinking import shortest
from model_check.clauses import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence
    from concurrent.futures import Future

    from fuzz.real_alone.builds import Builds
    from fuzz.real_alone.playing import PlayedAlone
    from fuzz.real_alone.schedules import StagedSchedule
    from model_check.verdicts.counterexamples import MinimalCounterexample
    from model_check.world import Profile
    from spec.language import Property

_QUIET_COUNTS: Final = 3
"""What needs no fault is looked at so much longer."""
_TIMELESS: Final = frozenset({"tick", "persist_offsets", "flush_log"})
_SHRINKING: Final = 0.3
"""The share of a clause's time that is kept for making a schedule short."""


class ClauseOutcome(StrEnum):
    """What has become of a clause that the release breaks."""

    STILL = "still broken"
    """The jar breaks it by the same steps."""
    PART = "mended in part"
    """Not by these steps, but by others by which the release breaks it, too."""
    MENDED = "not broken any more"
    """By none of the schedules that were played."""
    OPEN = "does otherwise"
    """The jar does otherwise, and nothing that clients or the log show says whether the clause is broken."""
    LEFT_OUT = "not played"
    """A step of it can't be done to real classes."""


@dataclass(frozen=True, slots=True)
class ClauseOnJar:
    """A counterexample of the release, and what the jar does with it."""

    one: MinimalCounterexample
    outcome: ClauseOutcome
    is_as_released: bool = False
    """Every answer is the release's."""
    difference: str = ""
    """The first answer that is not, or why nothing was played."""
    differs_at: int = 0
    """At which step that is."""
    schedule: StagedSchedule | None = None
    """The shortest schedule that shows the outcome; None where it is the counterexample itself."""
    what: str = ""
    """What was seen on it."""
    played: int = 0
    """How many schedules that break the clause in the release were played on the jar."""
    broken: int = 0
    """In how many of them it breaks the property."""

    @property
    def name(self) -> str:
        """The clause: ``S1.immune_half``."""
        return name_of(self.one.clause)

    @property
    def key(self) -> tuple[str, str]:
        """The clause and the faults."""
        return self.name, self.one.environment.name

    def to_json(self) -> dict[str, Any]:
        """The verdict as plain data."""
        return {
            "clause": self.name,
            "faults": list(self.one.environment),
            "outcome": self.outcome.value,
            "as_released": self.is_as_released,
            "difference": self.difference,
            "played": self.played,
            "broken": self.broken,
            "what": self.what,
            "counterexample": self.one.steps,
            "steps": "" if self.schedule is None else texts_of(self.schedule.steps),
        }


def first_verdicts(
    builds: Builds, profile: Profile, counterexamples: Sequence[MinimalCounterexample]
) -> Iterator[ClauseOnJar]:
    """What the jar does with the counterexamples themselves; `MENDED` means by no more than this one schedule."""
    for one in counterexamples:
        replay = replay_on(builds.jar, one.world(profile), one.path(profile), one.clause)
        if replay.outcome is RealOutcome.LEFT_OUT:
            yield ClauseOnJar(one, ClauseOutcome.LEFT_OUT, difference=replay.reason)
        elif replay.outcome is RealOutcome.TAKEN:
            yield ClauseOnJar(one, ClauseOutcome.STILL, is_as_released=True, played=1, broken=1)
        else:
            yield replace(_alone(builds, profile, one, replay.reason), differs_at=replay.steps)


def _alone(builds: Builds, profile: Profile, one: MinimalCounterexample, difference: str) -> ClauseOnJar:
    """The counterexample on each build alone, where the jar does otherwise in some answer."""
    schedule, identifier = as_played(one, profile), one.clause.identifier
    if schedule is None:
        return ClauseOnJar(one, ClauseOutcome.OPEN, difference=difference)
    jar, release = builds.on_both(schedule)
    if not release.how(identifier):
        return ClauseOnJar(one, ClauseOutcome.OPEN, difference=difference)
    how = jar.how(identifier)
    outcome = ClauseOutcome.STILL if how else ClauseOutcome.MENDED
    return ClauseOnJar(one, outcome, difference=difference, what=how, played=1, broken=int(bool(how)))


def with_neighbours(
    builds: Builds,
    profile: Profile,
    verdicts: Sequence[ClauseOnJar],
    seconds: float,
    seed: int,
    report: Callable[[str], None],
) -> list[ClauseOnJar]:
    """The verdicts, where those that seem mended have stood against the neighbours of their counterexamples.

    Parameters
    ----------
    seconds
        For all of them; those that need no fault get the most.
    report
        Is given which clause is looked at.
    """
    seem_mended = [each for each in verdicts if each.outcome is ClauseOutcome.MENDED]
    parts = sum(_weight(each) for each in seem_mended)
    done: dict[tuple[str, str], ClauseOnJar] = {}
    ends = monotonic() + seconds
    for number, each in enumerate(seem_mended, start=1):
        report(f"neighbours of {each.name} ({number} of {len(seem_mended)})")
        share = max(ends - monotonic(), 0) * _weight(each) / parts
        parts -= _weight(each)
        done[each.key] = _against_neighbours(builds, profile, each, share, seed)
    found = [each.schedule for each in done.values() if each.schedule is not None]
    for each in [each for each in done.values() if each.outcome is ClauseOutcome.MENDED]:
        done[each.key] = _against_found(builds, each, found)
    return [done.get(each.key, each) for each in verdicts]


def _weight(verdict: ClauseOnJar) -> int:
    return 1 if len(verdict.one.environment) else _QUIET_COUNTS


def _against_found(builds: Builds, verdict: ClauseOnJar, found: Sequence[StagedSchedule]) -> ClauseOnJar:
    """What shows half a repair of one clause may show it of another, with another outcome of its local transaction."""
    clause, faults = verdict.one.clause, set(verdict.one.environment)
    tried = [
        schedule
        for base in found
        if faults >= set(base.world.environment)
        for schedule in decided_otherwise(base, clause=clause)
        if _breaks_alone(schedule, clause)
    ]
    breaking = [schedule for schedule in tried if _how(builds, clause, schedule)]
    counted = replace(verdict, played=verdict.played + len(tried), broken=verdict.broken + len(breaking))
    return _in_part(builds, counted, breaking, lambda: True) if breaking else counted


def _how(builds: Builds, clause: Property, schedule: StagedSchedule) -> str:
    """How the jar breaks the property of a clause by a schedule; '' if it does not."""
    (job,) = builds.on_jar([schedule], settles=clause.identifier in IN_THE_END)
    return job.result().how(clause.identifier)


def _in_part(
    builds: Builds, verdict: ClauseOnJar, breaking: Sequence[StagedSchedule], may_go_on: Callable[[], bool]
) -> ClauseOnJar:
    """The verdict with the shortest of some schedules by which the jar breaks the clause, made short."""
    clause = verdict.one.clause
    short = shortest(
        min(breaking, key=lambda each: len(each.staged)),
        lambda tried: _breaks_alone(tried, clause) and bool(_how(builds, clause, tried)),
        may_go_on=may_go_on,
    )
    return replace(verdict, outcome=ClauseOutcome.PART, schedule=short, what=_how(builds, clause, short))


def _against_neighbours(
    builds: Builds, profile: Profile, verdict: ClauseOnJar, seconds: float, seed: int
) -> ClauseOnJar:
    first = as_played(verdict.one, profile)
    if first is None:
        return verdict
    began, clause = monotonic(), verdict.one.clause
    played, breaking = _played_neighbours(builds, first, clause, began + seconds * (1 - _SHRINKING), Random(seed))
    counted = replace(verdict, played=verdict.played + played, broken=verdict.broken + len(breaking))
    return _in_part(builds, counted, breaking, lambda: monotonic() - began < seconds) if breaking else counted


def _played_neighbours(
    builds: Builds, first: StagedSchedule, clause: Property, until: float, chance: Random
) -> tuple[int, list[StagedSchedule]]:
    """How many were played on the jar, and those of them by which it breaks the property; some are enough."""
    identifier, settles = clause.identifier, clause.identifier in IN_THE_END
    seen: set[Hashable] = {_shape(first)}
    waiting: list[StagedSchedule] = []
    playing: list[tuple[StagedSchedule, Future[PlayedAlone]]] = []
    played = 0
    breaking: list[StagedSchedule] = []
    for schedule in neighbours(first, clause, chance):
        is_over = monotonic() > until
        if not is_over and (_shape(schedule) in seen or not _breaks_alone(schedule, clause)):
            continue
        is_over = is_over or bool(breaking)
        if is_over or len(waiting) == AT_A_TIME:
            breaking += [each for each, job in playing if job.result().how(identifier)]
            played += len(playing)
            playing = list(zip(waiting, builds.on_jar(waiting, settles=settles), strict=True))
            waiting = []
        if is_over:
            break
        seen.add(_shape(schedule))
        waiting.append(schedule)
    breaking += [each for each, job in playing if job.result().how(identifier)]
    return played + len(playing), breaking


def _shape(schedule: StagedSchedule) -> Hashable:
    """A schedule but for the times at which things happen."""
    return tuple(
        (each.step.action.name, each.transaction, each.nth)
        for each in schedule.staged
        if each.step.action.name not in _TIMELESS
    )


def _breaks_alone(schedule: StagedSchedule, clause: Property) -> bool:
    """The release breaks this clause of the property by the schedule, and no other one of it."""
    return schedule.broken(clause.identifier) == {name_of(clause)}
