"""Coverage of the guards: whether each conjunct was once the first to be false, and each whole guard once true."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from fuzz.left_out import LEFT_OUT_RULES, may_happen
from model_check.front_end.lower import Lowering
from model_check.front_end.terms import FALSE, TRUE, Apply, Switch, apply
from model_check.instances import load_instance
from spec.constants import Constants

if TYPE_CHECKING:
    from fuzz.lockstep.pairing import World
    from model_check.front_end.terms import Expression
    from spec.language import Refused, Step

Conjunct = tuple[str, str]
"""An action's name and the words of one rule of its guard."""


@dataclass(frozen=True, slots=True)
class Guards:
    """The conjuncts of a machine in one profile and environment, read from its source.

    Attributes
    ----------
    open
        Those that some state may falsify, of actions that the profile and the environment allow; not those that only
        what the broker is spared would falsify (`fuzz.left_out`).
    allowed
        The actions that the profile and the environment allow.
    """

    open: frozenset[Conjunct]
    allowed: frozenset[str]

    @classmethod
    def of(cls, world: World) -> Guards:
        """The guards of a world. Which rules there are depends on no sizes, so that small ones will do."""
        given = world.constants
        small = replace(load_instance("small"), first_checks=given.first_checks, skews=given.skews)
        constants = Constants(**(asdict(given) | asdict(small)))
        lowering = Lowering(world.machine, constants)
        conditions: dict[Conjunct, set[Expression]] = {}
        for step in world.machine.steps(constants):
            for conjunct in lowering.action(step).guard:
                known = _with_switches(conjunct.condition, constants)
                conditions.setdefault((step.action.name, conjunct.rule), set()).add(known)
        closed = {name for (name, _), known in conditions.items() if known == {FALSE}}
        closed |= {action.name for action in world.machine.actions if not may_happen(action.name, constants)}
        return cls(
            frozenset(
                c
                for c, known in conditions.items()
                if c[0] not in closed and known != {TRUE} and c[1] not in LEFT_OUT_RULES
            ),
            frozenset(action.name for action in world.machine.actions) - closed,
        )


def _with_switches(term: Expression, constants: Constants) -> Expression:
    """The term with its switches folded."""
    if isinstance(term, Switch):
        return TRUE if getattr(constants, term.name) else FALSE
    if isinstance(term, Apply):
        return apply(term.operator, *(_with_switches(argument, constants) for argument in term.arguments))
    return term


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
        """Actions that the world allows and that were not possible in any state."""
        return sorted(self.guards.allowed - self.enabled.keys())

    @property
    def never_false(self) -> list[Conjunct]:
        """Conjuncts that were never the first to be false."""
        return sorted(self.guards.open - self.refused.keys())
