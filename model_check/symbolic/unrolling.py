"""The transition relation, step after step: the states after 0, 1, 2 … steps, in one solver that goes on learning."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

import z3

from model_check.symbolic.values import Formula, Truth, both, disjunction, negation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from model_check.symbolic.relation import Relation

SEED: Final = 20_100
"""The seed of the solver's choices."""


class Unrolling:
    """All runs of a machine of a given length.

    A state is a set of fresh variables that the step before it determines. Which step that is, is a variable for each
    step of the relation, of which exactly one is true. Only variables of the state that some guard or question depends
    on, at once or by way of other variables, are unrolled.

    `questions` are the conditions that will be asked, over the variables of the relation.
    """

    def __init__(self, relation: Relation, questions: Iterable[Truth]) -> None:
        self.relation = relation
        self.solver = z3.SolverFor("QF_FD", ctx=relation.context)  # holds the runs; questions may be pushed to it
        self.solver.set("random_seed", SEED)
        self.picks: list[list[Formula]] = []  # for each step of the runs, the variables that say which step it is
        self.states: list[list[Formula]] = [[z3.BoolVal(value, relation.context) for value in relation.initial]]
        self._unrolled = _cone(relation, questions)
        self._pick = [z3.Bool(f"step {k}", relation.context) for k in range(len(relation.steps))]
        self._after = {i: z3.Bool(f"{relation.variables[i]} after", relation.context) for i in self._unrolled}
        self._transition = self._template()

    def _template(self) -> Formula:
        """One step, over the variables of the state before, of the state after, and of the choice."""
        rules: list[Formula] = [z3.Or(self._pick)]
        rules += [z3.Or(negation(a), negation(b)) for a, b in combinations(self._pick, 2)]
        for pick, step in zip(self._pick, self.relation.steps, strict=True):
            rules.append(z3.Implies(pick, step.guard))
        for i, after in self._after.items():
            writers = [
                (p, s.updates[i]) for p, s in zip(self._pick, self.relation.steps, strict=True) if i in s.updates
            ]
            unchanged = both(self.relation.variables[i], negation(disjunction(p for p, _ in writers)))
            rules.append(after == disjunction([*(both(p, value) for p, value in writers), unchanged]))
        return z3.And(rules)

    def go_on(self) -> None:
        """Make all runs one step longer."""
        context, depth = self.relation.context, len(self.states)
        picks = [z3.Bool(f"{pick}@{depth}", context) for pick in self._pick]
        before = self.states[-1]
        after = list(before)
        for i in self._unrolled:
            after[i] = z3.Bool(f"{self.relation.variables[i]}@{depth}", context)
        self.solver.add(
            z3.substitute(
                self._transition,
                *zip(self.relation.variables, before, strict=True),
                *((self._after[i], after[i]) for i in self._unrolled),
                *zip(self._pick, picks, strict=True),
            )
        )
        self.picks.append(picks)
        self.states.append(after)

    def at_end(self, condition: Truth) -> Formula:
        """A condition on the variables of the relation, as one on the last state of the runs."""
        formula = z3.BoolVal(condition, self.relation.context) if isinstance(condition, bool) else condition
        return z3.substitute(formula, *zip(self.relation.variables, self.states[-1], strict=True))

    def taken(self) -> list[int]:
        """The numbers of the relation's steps in the run that the solver has found."""
        model = self.solver.model()
        return [next(k for k, pick in enumerate(picks) if z3.is_true(model[pick])) for picks in self.picks]


def _cone(relation: Relation, questions: Iterable[Truth]) -> list[int]:
    """The numbers of the variables that guards and questions depend on, also by way of other variables."""
    number = {variable.get_id(): i for i, variable in enumerate(relation.variables)}
    updates: dict[int, list[Truth]] = {}
    for step in relation.steps:
        for i, value in step.updates.items():
            updates.setdefault(i, []).append(value)
    seen: set[int] = set()
    reached: set[int] = set()
    open_terms = [f for f in (*questions, *(step.guard for step in relation.steps)) if not isinstance(f, bool)]
    while open_terms:
        term = open_terms.pop()
        if term.get_id() in seen:
            continue
        seen.add(term.get_id())
        open_terms += term.children()
        if term.get_id() in number:
            i = number[term.get_id()]
            reached.add(i)
            open_terms += [value for value in updates.get(i, ()) if not isinstance(value, bool)]
    return sorted(reached)
