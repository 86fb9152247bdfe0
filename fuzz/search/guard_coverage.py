"""Coverage of the guards: whether each conjunct was once the first to be false, and each whole guard once true."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Final

from fuzz.actions.records import DRIVEN
from model_check.front_end.lower import Lowering
from model_check.front_end.terms import FALSE, TRUE
from model_check.instances import load_instance
from spec.constants import Constants

if TYPE_CHECKING:
    from fuzz.lockstep.pairing import Pairing
    from model_check.front_end.terms import Expression
    from spec.language import Refused, Step

Conjunct = tuple[str, str]
"""An action's name and the words of one rule of its guard."""

EXCLUDED_RULES: Final = {
    "the instance has stray END_TRANSACTIONs left": "the instance has as many as an example has steps",
    "the instance has mishaps left": "the instance has as many as an example has steps",
}
"""Rules of guards that are never broken in the lockstep, each with the reason: they are not counted as open."""


@dataclass(frozen=True, slots=True)
class Guards:
    """The conjuncts of a machine in one profile and environment, read from its source.

    Attributes
    ----------
    open
        Those that some state may falsify, of actions that the profile and the environment allow; not those that only
        what the broker is spared would falsify (`EXCLUDED_RULES`).
    allowed
        The actions that the profile and the environment allow.
    """

    open: frozenset[Conjunct]
    allowed: frozenset[str]

    @classmethod
    def of(cls, pairing: Pairing) -> Guards:
        """The guards of a pairing. Which rules there are depends on no sizes, so that small ones will do."""
        given = pairing.constants
        small = replace(load_instance("small"), first_checks=given.first_checks, skews=given.skews)
        constants = Constants(**(asdict(given) | asdict(small)))
        lowering = Lowering(replace(pairing.machine, switches=()), constants)
        conditions: dict[Conjunct, set[Expression]] = {}
        for step in pairing.machine.steps(constants):
            for conjunct in lowering.action(step).guard:
                conditions.setdefault((step.action.name, conjunct.rule), set()).add(conjunct.condition)
        closed = {name for (name, _), known in conditions.items() if known == {FALSE}}
        closed |= {action.name for action in pairing.machine.actions if not DRIVEN[action.name].may_happen(constants)}
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
    """What some runs have shown of the guards.

    Attributes
    ----------
    enabled
        How often each action was taken, or found possible.
    refused
        How often each conjunct was the first to be false.
    """

    guards: Guards
    enabled: Counter[str] = field(default_factory=Counter)
    refused: Counter[Conjunct] = field(default_factory=Counter)

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
