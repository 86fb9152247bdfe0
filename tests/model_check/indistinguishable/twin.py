"""For a run that breaks a clause: another one of which the broker sees the same, and in which the clause holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spec.language import holds, successors
from tests.model_check.indistinguishable.seen import history

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spec.language import Machine, Property, Step
    from tests.model_check.indistinguishable.seen import Broker

Node = tuple[tuple[int, ...], int]


def find_twin(
    machine: Machine, constants: object, broker: Broker, run: Sequence[Step], clause: Property
) -> list[Step] | None:
    """The first shortest run of which the broker sees what it sees of `run`, and which never breaks the clause.

    The search goes through pairs of a state and of how much was seen so far, breadth first.
    """
    sights = history(broker, machine.initial(constants), constants, run)
    state = machine.initial(constants)
    steps = machine.steps(constants)
    first: Node = (state.canonical(), 0)
    parents: dict[Node, tuple[Node, Step] | None] = {first: None}
    level = [first]
    while level:
        following: list[Node] = []
        for node in level:
            values, seen = node
            if seen == len(sights):
                return _path_to(parents, node)
            for step, after in successors(state.load(values), constants, steps):
                sight = broker.sight(step, values, after)
                if sight is not None and sight != sights[seen]:
                    continue
                reached: Node = (after, seen + (sight is not None))
                if reached not in parents and holds(machine.initial(constants).load(after), constants, clause):
                    parents[reached] = (node, step)
                    following.append(reached)
        level = following
    return None


def _path_to(parents: dict[Node, tuple[Node, Step] | None], node: Node) -> list[Step]:
    path: list[Step] = []
    reached = parents[node]
    while reached is not None:
        path.append(reached[1])
        reached = parents[reached[0]]
    return path[::-1]
