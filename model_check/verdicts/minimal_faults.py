"""All minimal sets of faults that break a clause.

Environments are searched in the order of their size, the quiet world first. A fault only adds behaviour, so that a
superset of a breaking set breaks the clause too: it is not minimal, and it is not searched for that clause's sake. One
search of an environment decides all clauses, and is left out only when none of them is open any more. Faults that do
nothing in a version and an instance need no search of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from model_check.check import Verdict
from model_check.instances import require_faults
from model_check.verdicts.environment import Environment, Outcome, in_order, smaller_sets
from model_check.verdicts.same_searches import idle_faults
from model_check.verdicts.searches import Request, Searches
from spec.constants import FAULTS
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spec.constants import Instance

SCHEMA = Path(__file__).with_name("minimal_faults_schema.json")
"""The JSON Schema of `MinimalFaults.to_json`."""


@dataclass(frozen=True, slots=True)
class MinimalSet:
    """A set of faults that breaks a clause and has no smaller one in it that does.

    Attributes
    ----------
    depth : int
        Steps of the shortest violation.
    schedule : str
        The first of the shortest, as `halfcheck replay --steps` takes it; empty if none was asked for.
    certain : bool
        False when the search of a smaller set was cut short, which may break the clause as well.
    """

    faults: tuple[str, ...]
    depth: int
    schedule: str
    certain: bool


@dataclass(frozen=True, slots=True)
class MinimalFaults:
    """The answer for some profiles in one instance.

    Attributes
    ----------
    idle : dict
        Profile to the faults that do nothing in it.
    outcomes : dict
        What was found in the environments that were searched.
    """

    instance: Instance
    profiles: tuple[str, ...]
    clauses: tuple[str, ...]
    most_faults: int
    idle: dict[str, tuple[str, ...]]
    outcomes: dict[Environment, Outcome]

    def sets(self, profile: str, clause: str) -> tuple[MinimalSet, ...]:
        """The minimal sets for a clause, the smaller ones first, then in the order of the faults."""
        return tuple(
            MinimalSet(
                environment.faults,
                outcome.violated[clause],
                outcome.schedules.get(clause, ""),
                all(self._is_known(profile, part, clause) for part in smaller_sets(environment.faults)),
            )
            for environment, outcome in self.outcomes.items()
            if environment.profile == profile
            and clause in outcome.violated
            and not any(self._breaks(profile, part, clause) for part in smaller_sets(environment.faults))
        )

    def verdict(self, profile: str, clause: str) -> Verdict:
        """Whether some set of at most so many faults breaks the clause."""
        verdicts = {o.verdict(clause) for e, o in self.outcomes.items() if e.profile == profile}
        return next(v for v in (Verdict.VIOLATED, Verdict.UNKNOWN, Verdict.HOLDS) if v in verdicts)

    @property
    def is_violated(self) -> bool:
        """Whether a clause is violated in some environment."""
        return any(self.verdict(p, c) is Verdict.VIOLATED for p in self.profiles for c in self.clauses)

    @property
    def complete(self) -> bool:
        """Whether no verdict is unknown."""
        return not any(self.unknown())

    def unknown(self) -> Iterator[tuple[Environment, str]]:
        """The environments and the clauses in them that a search which was cut short left undecided."""
        for environment, outcome in self.outcomes.items():
            for clause in _open(self.clauses, environment, self.outcomes):
                if outcome.verdict(clause) is Verdict.UNKNOWN:
                    yield environment, clause

    def replay_command(self, profile: str, found: MinimalSet) -> str:
        """The command that takes a schedule again."""
        faults = f" --faults {','.join(found.faults)}" if found.faults else ""
        name = self.instance.name
        return f'halfcheck replay --profile {profile} --instance {name}{faults} --steps "{found.schedule}"'

    def to_json(self) -> dict[str, Any]:
        """The answer as the plain data that scripts rely on (`halfcheck check --minimal-faults --json`)."""
        return {
            "instance": {
                "name": self.instance.name,
                "transactions": self.instance.transactions,
                "half_slots": self.instance.half_slots,
                "op_slots": self.instance.op_slots,
            },
            "most_faults": self.most_faults,
            "complete": self.complete,
            "environments": len(self.outcomes),
            "distinct": sum(outcome.distinct for outcome in self.outcomes.values()),
            "profiles": {
                profile: {
                    "idle": list(self.idle[profile]),
                    "clauses": {clause: self._clause_to_json(profile, clause) for clause in self.clauses},
                }
                for profile in self.profiles
            },
        }

    def _clause_to_json(self, profile: str, clause: str) -> dict[str, Any]:
        return {
            "verdict": self.verdict(profile, clause).value,
            "minimal": [
                {
                    "faults": list(found.faults),
                    "depth": found.depth,
                    "certain": found.certain,
                    "schedule": found.schedule,
                    "replay": self.replay_command(profile, found),
                }
                for found in self.sets(profile, clause)
            ],
        }

    def _outcome(self, profile: str, faults: tuple[str, ...]) -> Outcome | None:
        return self.outcomes.get(Environment(profile, faults, self.instance))

    def _breaks(self, profile: str, faults: tuple[str, ...], clause: str) -> bool:
        outcome = self._outcome(profile, faults)
        return outcome is not None and clause in outcome.violated

    def _is_known(self, profile: str, faults: tuple[str, ...], clause: str) -> bool:
        outcome = self._outcome(profile, faults)
        return outcome is not None and outcome.verdict(clause) is not Verdict.UNKNOWN


def find_minimal_faults(
    profiles: Sequence[str],
    instance: Instance,
    clauses: Sequence[str],
    searches: Searches,
    *,
    most_faults: int = 2,
    faults: Sequence[str] = FAULTS,
    is_hasty: bool = True,
    with_schedules: bool = True,
) -> MinimalFaults:
    """Search the quiet world, each fault, each pair and so on, up to `most_faults` at a time.

    Parameters
    ----------
    clauses
        Names such as `S1.immune_half`.
    faults
        Of which the sets are made.
    is_hasty
        End a search when all clauses that are open in it are violated; its other numbers are then those of a part.
    with_schedules
        Give each minimal set its schedule.

    Raises
    ------
    ModelCheckError
        When a fault is unknown; names what there is.
    EvaluationError, KeyboardInterrupt
        See `Searches.run`.
    """
    require_faults(faults)
    idle = {profile: idle_faults(TRANSACTIONAL_MESSAGES, profile, instance) for profile in profiles}
    outcomes: dict[Environment, Outcome] = {}
    for size in range(most_faults + 1):
        requests = []
        for profile in profiles:
            live = [fault for fault in in_order(faults) if fault not in idle[profile]]
            for chosen in combinations(live, size):
                environment = Environment(profile, chosen, instance)
                wanted = _open(clauses, environment, outcomes)
                if wanted:
                    requests.append(Request(environment, wanted if with_schedules else (), wanted if is_hasty else ()))
        outcomes |= searches.run(requests)
    by_profile = sorted(outcomes.items(), key=lambda item: list(profiles).index(item[0].profile))
    return MinimalFaults(instance, tuple(profiles), tuple(clauses), most_faults, idle, dict(by_profile))


def _open(clauses: Sequence[str], environment: Environment, outcomes: dict[Environment, Outcome]) -> tuple[str, ...]:
    """The clauses that no smaller environment breaks."""
    smaller = [
        Environment(environment.profile, part, environment.instance) for part in smaller_sets(environment.faults)
    ]
    broken = {clause for part in smaller if part in outcomes for clause in outcomes[part].violated}
    return tuple(clause for clause in clauses if clause not in broken)
