"""Breadth-first search in plain CPython: runs the actions themselves, keeps whole states and parents in a dictionary.

It shares nothing with the compiled search but the specification, and every write is checked against its declared range.
It is here to be believed, not to be fast.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from time import perf_counter

from spec.language import Machine, Property, Step, successors

State = tuple[int, ...]
Report = Callable[[int, int, int, int, float], None]


@dataclass
class CPythonExploration:
    """The result of a search: states, and the steps that first reached them."""

    parents: dict[State, tuple[State, Step] | None]  # of each canonical state found; None of the initial one
    passing: dict[State, tuple[State, Step]] = field(default_factory=dict)  # of states that forgot something at once
    generated: int = 1  # successors looked at, the initial state included
    depth: int = 0  # steps from the initial state to the deepest state
    violations: dict[Property, State] = field(default_factory=dict)  # the first state found
    witnesses: dict[Property, State] = field(default_factory=dict)
    complete: bool = True  # whether every reachable state was expanded
    seconds: float = 0.0

    @property
    def distinct(self) -> int:
        """States found."""
        return len(self.parents)

    def full_queues(self, machine: Machine, constants: object) -> tuple[str, ...]:
        """The lengths of queues that are as long as they may be in some state; none where nothing is forgotten."""
        if not getattr(constants, "forgets", 0):
            return ()
        places = {slot.label: place for place, slot in enumerate(machine.initial(constants).memory.slots)}
        return tuple(
            name
            for name in machine.queues
            if any(state[places[name]] >= machine.room(constants, name) for state in self.parents)
        )

    def path_to(self, state: State) -> list[Step]:
        """The first shortest path from the initial state."""
        path: list[Step] = []
        reached = self.passing.get(state) or self.parents[state]
        while reached is not None:
            path.append(reached[1])
            reached = self.parents[reached[0]]
        return path[::-1]


def explore(
    machine: Machine,
    constants: object,
    *,
    most_states: int | None = None,
    until: Collection[Property] = (),
    report: Report | None = None,
) -> CPythonExploration:
    """Search all reachable states, level by level, or until `most_states` are found or Ctrl-C ends it.

    With `until`, the search also ends behind the first level at which each of these clauses has been violated.

    Raises
    ------
    SpecificationError
        When an action writes a value outside its field's declared range.
    """
    started = perf_counter()
    state = machine.initial(constants)
    steps = machine.steps(constants)
    forgetting, forgets = machine.initial(constants), bool(getattr(constants, "forgets", False))
    first = state.canonical()
    found = CPythonExploration({first: None})
    level = [first]
    try:
        judge = _Judge(machine, constants, found)
        judge.look_at(first)
        while level:
            if until and all(clause in found.violations for clause in until):
                found.complete = False
                return found
            following: list[State] = []
            for number, values in enumerate(level):
                if most_states is not None and found.distinct >= most_states:
                    found.complete = False
                    return found
                for step, after in successors(state.load(values), constants, steps):
                    found.generated += 1
                    left = machine.forgotten(forgetting, constants, after) if forgets else after
                    if left != after and after not in found.passing:
                        found.passing[after] = (values, step)
                        judge.look_at(after)
                    if left not in found.parents:
                        found.parents[left] = (values, step)
                        following.append(left)
                        judge.look_at(left)
                if report is not None and number % 256 == 0:
                    queue = len(level) - number + len(following)
                    report(found.distinct, found.generated, found.depth, queue, perf_counter() - started)
            level = following
            found.depth += bool(level)
    except KeyboardInterrupt:
        found.complete = False
    finally:
        found.seconds = perf_counter() - started
    return found


class _Judge:
    """Looks at states for clauses that were never violated so far, and for witnesses that were never seen."""

    def __init__(self, machine: Machine, constants: object, found: CPythonExploration) -> None:
        self._constants = constants
        self._found = found
        self._state = machine.initial(constants)
        self._clauses = {clause: clause.arguments(constants) for clause in machine.clauses}
        self._witnesses = {witness: witness.arguments(constants) for witness in machine.witnesses}

    def look_at(self, values: State) -> None:
        """Judge one state."""
        s, c = self._state.load(values), self._constants
        violated = []
        for clause, given in self._clauses.items():
            holds = clause.function
            for some in given:
                if not holds(s, c, *some):
                    violated.append(clause)
                    break
        for clause in violated:
            self._found.violations[clause] = values
            del self._clauses[clause]
        seen = [p for p, given in self._witnesses.items() if any(p.function(s, c, *some) for some in given)]
        for witness in seen:
            self._found.witnesses[witness] = values
            del self._witnesses[witness]
