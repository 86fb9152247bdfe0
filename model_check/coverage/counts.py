"""What a search has put to use: which guards were true, which conjunct was the first to be false, which clauses failed.

A conjunct that is never the first to be false could be left out of its guard without a change of the states; a guard
that is never true is an action that does not exist. Both say that a world is too small to show what the rule is for, or
that the rule is wrong.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from model_check.front_end.source import WrittenConjunct, written_guard

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spec.language import Action, Machine

Place = tuple[str, tuple[int, ...]]
"""A conjunct in the counts: the action's name, and the place of `WrittenConjunct`."""


@dataclass(frozen=True, slots=True)
class ConjunctCoverage:
    """One conjunct of a guard.

    Attributes
    ----------
    label : str
        Its rule; behind the second conjunct of the same words in a guard stands (2), and so on.
    first_false : int
        How often it was false and all conjuncts before it true, over all states and all choices of parameters.
    """

    kind: str
    label: str
    first_false: int


@dataclass(frozen=True, slots=True)
class ActionCoverage:
    """One action.

    Attributes
    ----------
    enabled : int
        How often its whole guard was true, over all states and all choices of parameters.
    """

    name: str
    enabled: int
    conjuncts: tuple[ConjunctCoverage, ...]


@dataclass(frozen=True, slots=True)
class Uncovered:
    """What no state put to use: a guard that was never true (no rule), or a conjunct that was never the first false."""

    action: str
    rule: str | None

    def __str__(self) -> str:
        return f"{self.action}: {'never enabled' if self.rule is None else f'never the first false: {self.rule}'}"


@dataclass(frozen=True, slots=True)
class Coverage:
    """What some states have put to use.

    Attributes
    ----------
    states : int
        How many were looked at.
    actions : tuple of ActionCoverage
        In the machine's order.
    violated : dict
        Clause, such as `S1.immune_half` → states in which it is false for some choice of its parameters.
    witnessed : dict
        Name of a witness → states in which it is true for some choice of its parameters.
    """

    states: int
    actions: tuple[ActionCoverage, ...]
    violated: dict[str, int]
    witnessed: dict[str, int]

    def __add__(self, other: Coverage) -> Coverage:
        """What both have put to use, of the same machine in whatever instances and environments."""
        return Coverage(
            self.states + other.states,
            tuple(_join(mine, theirs) for mine, theirs in zip(self.actions, other.actions, strict=True)),
            {clause: n + other.violated[clause] for clause, n in self.violated.items()},
            {witness: n + other.witnessed[witness] for witness, n in self.witnessed.items()},
        )

    def uncovered(self) -> tuple[Uncovered, ...]:
        """What was never put to use, in the order of the source."""
        found: list[Uncovered] = []
        for action in self.actions:
            found += [Uncovered(action.name, None)] if action.enabled == 0 else []
            found += [Uncovered(action.name, c.label) for c in action.conjuncts if c.first_false == 0]
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        """The counts as plain data."""
        return {
            "states": self.states,
            "actions": {
                action.name: {
                    "enabled": action.enabled,
                    "conjuncts": [
                        {"kind": c.kind, "rule": c.label, "first_false": c.first_false} for c in action.conjuncts
                    ],
                }
                for action in self.actions
            },
            "violated": self.violated,
            "witnessed": self.witnessed,
            "uncovered": [asdict(gap) for gap in self.uncovered()],
        }


def _join(mine: ActionCoverage, theirs: ActionCoverage) -> ActionCoverage:
    conjuncts = tuple(
        ConjunctCoverage(c.kind, c.label, c.first_false + d.first_false)
        for c, d in zip(mine.conjuncts, theirs.conjuncts, strict=True)
    )
    return ActionCoverage(mine.name, mine.enabled + theirs.enabled, conjuncts)


def coverage_of(
    machine: Machine,
    states: int,
    enabled: Mapping[str, int],
    first_false: Mapping[Place, int],
    claims: Sequence[int],
) -> Coverage:
    """Put counts beside the source.

    Parameters
    ----------
    machine : Machine
    states : int
        How many were looked at.
    enabled, first_false : mapping
        Action's name, or place of a conjunct → count; what is not there is 0.
    claims : sequence of int
        States that violate each clause, then states that are each witness, in the machine's order.
    """
    clauses = [f"{clause.identifier}.{clause.clause}" for clause in machine.clauses]
    witnesses = [witness.name for witness in machine.witnesses]
    counts = dict(zip((*clauses, *witnesses), map(int, claims), strict=True))
    return Coverage(
        states,
        tuple(_action(action, enabled, first_false) for action in machine.actions),
        {name: counts[name] for name in clauses},
        {name: counts[name] for name in witnesses},
    )


def _action(action: Action, enabled: Mapping[str, int], first_false: Mapping[Place, int]) -> ActionCoverage:
    seen: Counter[str] = Counter()
    conjuncts: list[ConjunctCoverage] = []
    for written in written_guard(action.function):
        seen[written.rule] += 1
        conjuncts.append(
            ConjunctCoverage(
                written.kind, _label(written, seen[written.rule]), int(first_false.get((action.name, written.place), 0))
            )
        )
    return ActionCoverage(action.name, int(enabled.get(action.name, 0)), tuple(conjuncts))


def _label(written: WrittenConjunct, which: int) -> str:
    return written.rule if which == 1 else f"{written.rule} ({which})"
