"""Coverage of examples: conjuncts of guards that were once the first to be false, and states of a small instance.

Of the states first come those of random examples. Then, if all are to be visited, the pair is taken to each that they
have not seen, the deepest first, along the shortest path that the search knows.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Final

from fuzz.lockstep.fuzzed_instances import COUNTED
from fuzz.lockstep.pairing import DRIVEN, Pair, Pairing
from fuzz.search.examples import fuzz
from model_check.counterexample.steps import write_path
from model_check.cpython import State, explore
from model_check.front_end.lower import Lowering
from model_check.front_end.terms import FALSE, TRUE, Expression
from model_check.instances import load_instance
from spec.constants import Constants

if TYPE_CHECKING:
    from model_check.world import Profile, World
    from spec.language import Refused, Step

Conjunct = tuple[str, str]
"""An action's name and the words of one rule of its guard."""

EXCLUDED_RULES: Final = {
    "the instance has stray END_TRANSACTIONs left": "the instance has as many as an example has steps",
    "the instance has mishaps left": "the instance has as many as an example has steps",
}
"""Rules of guards that are never broken in the lockstep, each with the reason: they are not counted as open."""

_DECIDE_WHICH_RULES: Final = ("first_checks", "skews", "proxies", "data_life")
"""What of an instance decides which rules there are."""


@dataclass(frozen=True, slots=True)
class Guards:
    """The conjuncts of a machine in one profile and environment, read from its source."""

    open: frozenset[Conjunct]
    """Those that some state may falsify, of actions that the profile and the environment allow, without those that only
    excluded steps would falsify (`EXCLUDED_RULES`)."""
    allowed: frozenset[str]
    """The actions that the profile and the environment allow."""

    @classmethod
    def of(cls, pairing: Pairing) -> Guards:
        """The guards of a pairing. Which there are depends on no sizes but the proxies, so that small ones will do."""
        given = pairing.constants
        small = replace(load_instance("small"), **{name: getattr(given, name) for name in _DECIDE_WHICH_RULES})
        constants = Constants(**(asdict(given) | asdict(small)))
        lowering = Lowering(replace(pairing.machine, switches=()), constants)
        conditions: dict[Conjunct, set[Expression]] = {}
        steps = pairing.machine.steps(constants)
        for step in steps:
            for conjunct in lowering.action(step).guard:
                conditions.setdefault((step.action.name, conjunct.rule), set()).add(conjunct.condition)
        closed = {name for (name, _), known in conditions.items() if known == {FALSE}}
        closed |= {action.name for action in pairing.machine.actions if not DRIVEN[action.name].may_happen(constants)}
        closed |= {action.name for action in pairing.machine.actions} - {step.action.name for step in steps}
        return cls(
            frozenset(
                c
                for c, known in conditions.items()
                if c[0] not in closed and known != {TRUE} and c[1] not in EXCLUDED_RULES
            ),
            frozenset(action.name for action in pairing.machine.actions) - closed,
        )


@dataclass
class GuardCoverage:
    """Coverage of the guards by some runs."""

    guards: Guards
    enabled: Counter[str] = field(default_factory=Counter)
    """How often each action was taken, or found possible."""
    refused: Counter[Conjunct] = field(default_factory=Counter)
    """How often each conjunct was the first to be false."""

    def note(self, step: Step, refused: Refused | None) -> None:
        """Count one step that was tried."""
        if refused is None:
            self.enabled[step.action.name] += 1
        else:
            self.refused[step.action.name, refused.rule] += 1

    @property
    def never_enabled(self) -> list[str]:
        """Actions that the pairing allows and that were not possible in any state."""
        return sorted(self.guards.allowed - self.enabled.keys())

    @property
    def never_false(self) -> list[Conjunct]:
        """Conjuncts that were never the first to be false."""
        return sorted(self.guards.open - self.refused.keys())

    @property
    def conjuncts_seen(self) -> int:
        """How many conjuncts were once the first to be false."""
        return len(self.guards.open & self.refused.keys())

    @property
    def actions_seen(self) -> int:
        """How many actions were once possible."""
        return len(self.guards.allowed & self.enabled.keys())

    @property
    def unseen(self) -> list[str]:
        """The actions and conjuncts that were not, in words."""
        return [
            *(f"{name} was never possible" for name in self.never_enabled),
            *(f"{name}: never first to fail: {rule}" for name, rule in self.never_false),
        ]


_COUNTED_FAULTS: Final = {
    "4.5.1": ("put_failure", "null_half", "offline_producer"),
    "4.9.7": ("put_failure", "null_half", "offline_producer"),
    "5.3.3": ("put_failure", "offline_producer"),
    "5.4.0": ("put_failure", "offline_producer"),
    "5.5.0": ("put_failure", "offline_producer"),
    "5.5.1": ("put_failure", "offline_producer"),
    "fixed": ("put_failure", "offline_producer"),
}
"""The environments in which states are counted: each gives 5,000 to 20,000 of them."""

LISTED: Final = 20
"""So many of the states that are missing are listed."""


@dataclass(frozen=True, slots=True)
class StateCoverage:
    """How many of an instance's states the pair has been in."""

    world: World
    drawn: int
    """States that random examples saw."""
    seen: int
    """The same after visits of the others."""
    reachable: int
    """States that an exhaustive search finds."""
    missing: tuple[str, ...]
    """The shortest schedules to the first few states that were not reached."""

    @property
    def share(self) -> float:
        """Of 1."""
        return self.seen / self.reachable


def count_states(
    profile: Profile, *, examples: int, steps: int, random_seed: int, visits_all: bool = False
) -> StateCoverage:
    """The states of `COUNTED` that a pair sees in some examples, and on visits of the others if all are wanted.

    Raises
    ------
    Mismatch
        The pair disagrees on the way to a state that the examples did not see.
    """
    pairing = Pairing.of(profile, _COUNTED_FAULTS[profile.unturned], COUNTED.name)
    found = explore(pairing.machine, pairing.constants)
    done = fuzz(pairing, examples=examples, steps=steps, random_seed=random_seed, counts_states=True)
    drawn = done.states & found.parents.keys()
    seen = drawn | {pairing.machine.initial(pairing.constants).canonical()}
    for state in reversed(list(found.parents)):
        if visits_all and state not in seen:
            seen |= states_along(pairing, found.path_to(state))
    missing = [state for state in found.parents if state not in seen]
    return StateCoverage(
        pairing.world,
        len(drawn),
        len(seen),
        found.distinct,
        tuple(write_path(found.path_to(state)) for state in missing[:LISTED]),
    )


def states_along(pairing: Pairing, path: list[Step]) -> set[State]:
    """The states on a path, up to the first step that is excluded from the lockstep."""
    pair = Pair(pairing)
    states = set()
    for step in path:
        if pair.take(step) is not None:
            break
        states.add(pair.state.canonical())
    return states
