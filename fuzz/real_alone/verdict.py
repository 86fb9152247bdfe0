"""The verdict on a jar: what it breaks that its release does not, what it mends, in part or whole, what it leaves."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from fuzz.broker_side.twin_process import TwinProcesses
from fuzz.lockstep.pairing import Pairing
from fuzz.lockstep.script import shortest
from fuzz.real_alone.builds import Builds
from fuzz.real_alone.claims import ClauseOutcome, first_verdicts, with_neighbours
from fuzz.real_alone.hunt import hunt
from fuzz.search.examples import fuzz
from model_check.world import Profile
from spec.constants import FAULTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.java.given_jar import GivenJar
    from fuzz.real_alone.claims import ClauseOnJar
    from fuzz.real_alone.hunt import Hunted, NewlyBroken
    from model_check.verdicts.counterexamples import MinimalCounterexample

_NEIGHBOURS: Final = 0.6
"""The share of the time that neighbours of what seems mended get; the hunt gets the rest."""
_EXAMPLES, _STEPS = 60, 50


@dataclass(frozen=True, slots=True)
class JarVerdict:
    """The verdict."""

    given: GivenJar
    clauses: tuple[ClauseOnJar, ...]
    """One for each counterexample of the release."""
    hunted: Hunted
    first_difference: str
    """An answer that is not the release's, on a short schedule; '' if none was found."""
    seconds: float

    @property
    def newly_broken(self) -> tuple[NewlyBroken, ...]:
        """What the release does not break under the same faults by any schedule that is known."""
        return tuple(found for found in self.hunted.found if not found.is_known)

    @property
    def otherwise_broken(self) -> tuple[NewlyBroken, ...]:
        """What the release breaks under the same faults, too, but not by that schedule."""
        return tuple(found for found in self.hunted.found if found.is_known)

    def of(self, outcome: ClauseOutcome) -> tuple[ClauseOnJar, ...]:
        """The clauses of which that has become."""
        return tuple(each for each in self.clauses if each.outcome is outcome)

    @property
    def mended_by_half(self) -> tuple[ClauseOnJar, ...]:
        """Those that are mended in part under the fewest faults under which the jar mends anything.

        With more faults other defects than the one that is repaired may break the same clause.
        """
        part = self.of(ClauseOutcome.PART)
        mends = [set(each.one.environment) for each in (*self.of(ClauseOutcome.MENDED), *part)]
        return tuple(each for each in part if not any(fewer < set(each.one.environment) for fewer in mends))

    @property
    def is_good(self) -> bool:
        """It breaks nothing anew, and mends nothing by half."""
        return not self.newly_broken and not self.mended_by_half

    def to_json(self) -> dict[str, Any]:
        """The verdict as plain data."""
        counts = Counter(each.outcome.value for each in self.clauses)
        return {
            "jar": str(self.given.path),
            "release": self.given.release,
            "good": self.is_good,
            "newly_broken": [found.to_json() for found in self.newly_broken],
            "broken_otherwise": [found.to_json() for found in self.otherwise_broken],
            "counts": {outcome.value: counts[outcome.value] for outcome in ClauseOutcome},
            "mended_by_half": [" ".join(each.key) for each in self.mended_by_half],
            "clauses": [each.to_json() for each in self.clauses],
            "schedules_on_both": self.hunted.played,
            "alike_on_both": self.hunted.alike,
            "first_difference": self.first_difference,
            "seconds": round(self.seconds, 1),
        }


def judge_jar(
    given: GivenJar,
    counterexamples: Sequence[MinimalCounterexample],
    *,
    seconds: float,
    seed: int,
    report: Callable[[str], None],
) -> JarVerdict:
    """Judge a jar against the release that it is built upon.

    Parameters
    ----------
    counterexamples
        Those of the release.
    seconds
        For the schedules that come behind the counterexamples themselves.
    report
        Is given what is being done.

    Raises
    ------
    MavenError
        The release's jars are not there, and Maven can't bring them.
    JavaError
        There is no JDK, the harness does not fit the jar, or its classes are built otherwise than the agent knows.
    """
    began, profile = monotonic(), Profile.of(given.release)
    with Builds(given) as builds:
        verdicts = []
        for number, each in enumerate(first_verdicts(builds, profile, counterexamples), start=1):
            report(f"counterexample {number} of {len(counterexamples)}: {each.name} {each.outcome.value}")
            verdicts.append(each)
        seem_mended = any(each.outcome is ClauseOutcome.MENDED for each in verdicts)
        first_difference = _first_difference(verdicts) or _difference_by_chance(builds, seed, report)
        for_neighbours = seconds * _NEIGHBOURS if seem_mended else 0
        whole = with_neighbours(builds, profile, verdicts, for_neighbours, seed, report)
        hunted = hunt(builds, profile, verdicts, seconds - for_neighbours, seed, report)
    return JarVerdict(given, tuple(whole), hunted, first_difference, monotonic() - began)


def _first_difference(verdicts: Sequence[ClauseOnJar]) -> str:
    """That of the shortest counterexample on which the jar does otherwise."""
    differ = [each for each in verdicts if each.difference and each.outcome is not ClauseOutcome.LEFT_OUT]
    return min(differ, key=lambda each: each.one.depth).difference if differ else ""


def _difference_by_chance(builds: Builds, seed: int, report: Callable[[str], None]) -> str:
    """The first difference in random schedules of the lockstep, made short."""
    report("random schedules, answer by answer")
    pairing = Pairing.of_release(builds.given.release, FAULTS)
    pairing = replace(pairing, make_process=TwinProcesses(builds.jar))
    failure = fuzz(pairing, examples=_EXAMPLES, steps=_STEPS, random_seed=seed).failure
    return "" if failure is None else str(shortest(pairing, failure.script, failure.mismatch)[1])
