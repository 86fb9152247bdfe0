"""All minimal sets of faults that break a clause.

Environments are searched in the order of their size, the quiet world first. A fault only adds behaviour, so that a
superset of a breaking set breaks the clause too: it is not minimal, and it is not searched for that clause's sake. One
search of an environment decides all clauses, and is left out only when none of them is open any more. Faults that do
nothing in a version and an instance need no search of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from model_check.clauses import name_of
from model_check.finding import Finding, Verdict, Violated
from model_check.question import Question
from model_check.verdicts.same_searches import idle_faults
from model_check.world import ALL_FAULTS, NO_FAULTS, SIZES, Environment, Profile, World

if TYPE_CHECKING:
    from model_check.verdicts.searches import Searches
    from spec.constants import Instance
    from spec.language import Property

SCHEMA = Path(__file__).with_name("minimal_faults_schema.json")
"""The JSON Schema of `MinimalFaults.to_json`."""


@dataclass(frozen=True, slots=True)
class MinimalSet:
    """A set of faults that breaks a clause and has no smaller one in it that does."""

    environment: Environment
    shown: Violated
    """The shortest violation; its path is empty if none was asked for."""
    certain: bool
    """False when the search of a smaller set was cut short, which may break the clause as well."""

    def to_json(self) -> dict[str, Any]:
        """The set as plain data."""
        return {
            "faults": list(self.environment),
            "depth": self.shown.depth,
            "certain": self.certain,
            "schedule": self.shown.steps,
            "replay": self.shown.command,
        }


@dataclass(frozen=True, slots=True)
class MinimalFaults:
    """The answer for some profiles in one instance."""

    instance: Instance
    profiles: tuple[Profile, ...]
    clauses: tuple[Property, ...]
    most_faults: int
    idle: dict[Profile, tuple[str, ...]]
    """Profile to the faults that do nothing in it."""
    findings: dict[World, Finding]
    """The findings in the worlds that were searched."""

    def sets(self, profile: Profile, clause: Property) -> tuple[MinimalSet, ...]:
        """The minimal sets for a clause, the smaller ones first, then in the order of the faults."""
        return tuple(
            MinimalSet(
                world.environment,
                shown,
                all(self._is_known(world.under(part), clause) for part in world.environment.smaller()),
            )
            for world, finding in self.findings.items()
            if world.profile == profile
            and (shown := finding.violated.get(clause)) is not None
            and not any(self._breaks(world.under(part), clause) for part in world.environment.smaller())
        )

    def verdict(self, profile: Profile, clause: Property) -> Verdict:
        """Whether some set of at most so many faults breaks the clause."""
        verdicts = {found[clause].verdict for world, found in self.findings.items() if world.profile == profile}
        return next(v for v in (Verdict.VIOLATED, Verdict.UNKNOWN, Verdict.HOLDS) if v in verdicts)

    @property
    def is_violated(self) -> bool:
        """Whether a clause is violated in some environment."""
        return any(self.verdict(p, c) is Verdict.VIOLATED for p in self.profiles for c in self.clauses)

    @property
    def complete(self) -> bool:
        """Whether no verdict is unknown."""
        return not any(self.unknown())

    def unknown(self) -> Iterator[tuple[World, Property]]:
        """The worlds and the clauses in them that a search which was cut short left undecided."""
        for world, finding in self.findings.items():
            for clause in _open(self.clauses, world, self.findings):
                if finding[clause].verdict is Verdict.UNKNOWN:
                    yield world, clause

    def to_json(self) -> dict[str, Any]:
        """The answer as the plain data that scripts rely on (`halfcheck faults --json`)."""
        return {
            "instance": {name: getattr(self.instance, name) for name in ("name", *SIZES)},
            "most_faults": self.most_faults,
            "complete": self.complete,
            "environments": len(self.findings),
            "distinct": sum(finding.numbers.distinct for finding in self.findings.values()),
            "profiles": {
                profile.name: {
                    "idle": list(self.idle[profile]),
                    "clauses": {
                        name_of(clause): {
                            "verdict": self.verdict(profile, clause).value,
                            "minimal": [one.to_json() for one in self.sets(profile, clause)],
                        }
                        for clause in self.clauses
                    },
                }
                for profile in self.profiles
            },
        }

    def _breaks(self, world: World, clause: Property) -> bool:
        finding = self.findings.get(world)
        return finding is not None and clause in finding.violated

    def _is_known(self, world: World, clause: Property) -> bool:
        finding = self.findings.get(world)
        return finding is not None and finding[clause].verdict is not Verdict.UNKNOWN


def find_minimal_faults(
    profiles: Sequence[Profile],
    instance: Instance,
    clauses: Sequence[Property],
    searches: Searches,
    *,
    most_faults: int = 2,
    faults: Environment = ALL_FAULTS,
    is_hasty: bool = True,
    with_schedules: bool = True,
) -> MinimalFaults:
    """Search the quiet world, each fault, each pair and so on, up to `most_faults` at a time.

    The sets are made of `faults`. A hasty search ends when all clauses that are open in it are violated, so that its
    other numbers are those of a part; `with_schedules` gives each minimal set its schedule. Raises `EvaluationError`
    and `KeyboardInterrupt` as `Searches.run` does.
    """
    idle = {one: idle_faults(World(one, NO_FAULTS, instance).machine, one, instance) for one in profiles}
    findings: dict[World, Finding] = {}
    for size in range(most_faults + 1):
        questions = []
        for profile in profiles:
            live = [fault for fault in faults if fault not in idle[profile]]
            for chosen in combinations(live, size):
                world = World(profile, Environment(chosen), instance)
                wanted = _open(clauses, world, findings)
                if wanted:
                    paths, until = wanted if with_schedules else (), wanted if is_hasty else ()
                    questions.append(Question(world=world, paths=paths, until=until))
        findings |= searches.run(questions)
    by_profile = sorted(findings.items(), key=lambda item: list(profiles).index(item[0].profile))
    return MinimalFaults(instance, tuple(profiles), tuple(clauses), most_faults, idle, dict(by_profile))


def _open(clauses: Sequence[Property], world: World, findings: Mapping[World, Finding]) -> tuple[Property, ...]:
    """The clauses that no smaller environment breaks."""
    smaller = [world.under(part) for part in world.environment.smaller()]
    broken = {clause for part in smaller if part in findings for clause in findings[part].violated}
    return tuple(clause for clause in clauses if clause not in broken)
