"""The graph of all states by the slow judge, held against that of the compiled search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from model_check.liveness import graph
from spec.language import is_witnessed, successors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.liveness.graph import Graph
    from spec.language import Machine, Response


def cpython_graph(machine: Machine, constants: object, responses: Sequence[Response]) -> Graph:
    """The same graph, with its states numbered otherwise."""
    predicates = graph._predicates(responses)
    steps = machine.steps(constants)
    number = {step: place for place, step in enumerate(steps)}
    state, forgetting = machine.initial(constants), machine.initial(constants)
    states = {state.canonical(): 0}
    queue, levels = list(states), [0]
    starts, targets, labels, truths = [0], [], [], []
    full: list[bool] = []
    for place, values in enumerate(queue):
        state.load(values)
        truths.append([is_witnessed(state, constants, predicate) for predicate in predicates])
        full.append(any(getattr(state, name) >= machine.room(constants, name) for name in machine.queues))
        for step, after in successors(state, constants, steps):
            left = machine.forgotten(forgetting, constants, after)
            if left not in states:
                states[left] = len(queue)
                queue.append(left)
                levels.append(levels[place] + 1)
            targets.append(states[left])
            labels.append(number[step])
        starts.append(len(targets))
    given, wanted = graph._by_response(responses, np.array(truths, dtype=np.bool_).reshape(len(queue), -1).T)
    return graph.Graph(
        machine, constants, steps, np.array(starts), np.array(targets, dtype=np.int32),
        np.array(labels, dtype=np.int32), np.array(levels, dtype=np.int32), given, wanted, np.array(full), 0.0,
    )  # fmt: skip
