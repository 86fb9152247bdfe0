"""What TLC says of an export with responses beside the graph of the other engines."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.tlc import A_RESPONSE, TlcResult
from model_check.liveness.by_networkx import has_a_fair_run
from model_check.liveness.fair_cycles import fair_components
from model_check.liveness.lasso import Lasso, require_lasso
from model_check.tla.module import TlaModule, export_responses
from spec.language import is_witnessed, successors
from tests.model_check.tla.comparison import disagreements, run_export
from tests.model_check.tla.states_of_tlc import states_in_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from model_check.liveness.graph import Graph
    from spec.language import Fairness, Machine, Response, Step

State = tuple[int, ...]


def promises_of(machine: Machine, response: Response) -> list[Fairness]:
    return [machine.fairness[name] for name in response.under]


def violated(graph: Graph) -> set[str]:
    """The responses that are violated, on which SciPy and networkx agree."""
    machine, found = graph.machine, set()
    for response in graph.wanted:
        promises = promises_of(machine, response)
        is_violated = bool((fair_components(graph, response, promises) >= 0).any())
        assert has_a_fair_run(graph, response, promises) == is_violated
        found |= {response.name} if is_violated else set()
    return found


def numbers(graph: Graph) -> tuple[int, int, int]:
    """States, successors and depth of the export: a state that some step leaves as it is is there twice."""
    loops = np.unique(graph.sources[graph.sources == graph.targets])
    again = int(np.diff(graph.starts)[loops].sum())
    depth = max(int(graph.levels.max()), int(graph.levels[loops].max(initial=-1)) + 1)
    return graph.states + len(loops), len(graph.targets) + 1 + again, depth


def are_told_apart(graph: Graph, response: Response) -> bool:
    """No promised step of an event that comes to an end leads where another step leads that does not.

    TLA+, whose steps have no labels, and the other engines would not mean the same by such a promise.
    """
    promised = {action for promise in promises_of(graph.machine, response) for action in promise.actions}
    ends = np.array([step.action.event in response.once for step in graph.steps])[graph.labels]
    is_promised = np.array([step.action in promised for step in graph.steps])[graph.labels]
    pairs = graph.sources.astype(np.int64) * graph.states + graph.targets
    return not np.isin(pairs[ends & is_promised], pairs[~ends]).any()


def judged(
    machine: Machine, constants: object, responses: Iterable[Response], folder: Path, *broken: tuple[str, str]
) -> TlcResult:
    """What TLC says of some responses, where it searches on behind full queues; the text may be broken."""
    exported = whatever_is_full(export_responses(machine, constants, tuple(responses)))
    for right, wrong in broken:
        assert right in exported.module
        exported = replace(exported, module=exported.module.replace(right, wrong))
    return run_export(exported, folder)


def whatever_is_full(exported: TlaModule) -> TlaModule:
    """TLC shall search on where a queue is full."""
    lines = exported.config.splitlines(keepends=True)
    full = [n for n, line in enumerate(lines) if line.endswith("_has_room\n")]
    return replace(exported, config="".join(lines[: full[0] - 1] + lines[full[-1] + 1 :]) if full else exported.config)


def all_hold(told: TlcResult, graph: Graph) -> list[str]:
    """What TLC says otherwise than that all states of a graph were found, and nothing is violated."""
    return disagreements(told, *numbers(graph))


def require_violation(told: TlcResult, machine: Machine, constants: object, response: Response) -> Lasso:
    """Take TLC's run for ever in CPython, as one that violates the response."""
    assert told.violated == A_RESPONSE
    assert told.back_to is not None
    states = states_in_order(told.output, machine, constants)
    first = told.back_to - 1
    way, cycle = states[: first + 1], [] if told.is_resting else [*states[first:], states[first]]
    stem = [steps[0] for steps in _ways(machine, constants, way)]
    lasting = [
        [step for step in steps if step.action.event not in response.once] for steps in _ways(machine, constants, cycle)
    ]
    turns = max(map(len, lasting), default=0)  # of several steps that lead to the same next state, each has its turn
    rounds = tuple(steps[turn % len(steps)] for turn in range(turns) for steps in lasting)
    owed_from = _owed_from(machine, constants, response, [*way, *cycle[1:]])
    lasso = Lasso((*stem, *rounds), rounds, owed_from)
    require_lasso(machine, constants, response, promises_of(machine, response), lasso)
    return lasso


def _ways(machine: Machine, constants: object, path: Sequence[State]) -> list[list[Step]]:
    """For each state of a path but the last all steps that lead to the next one."""
    state, forgetting = machine.initial(constants), machine.initial(constants)
    steps = machine.steps(constants)
    found = []
    for one, following in pairwise(path):
        state.load(one)
        ways = [
            step
            for step, after in successors(state, constants, steps)
            if machine.forgotten(forgetting, constants, after) == following
        ]
        assert ways, (one, following)
        found.append(ways)
    return found


def _owed_from(machine: Machine, constants: object, response: Response, path: Sequence[State]) -> int:
    """The first place behind all that are wanted, or where a queue is full, at which the response is owed."""
    state = machine.initial(constants)
    owed_from = None
    for place, one in enumerate(path):
        state.load(one)
        is_full = any(getattr(state, name) >= machine.room(constants, name) for name in machine.queues)
        if is_full or is_witnessed(state, constants, response.wanting):
            owed_from = None
        elif owed_from is None and (response.giving is None or is_witnessed(state, constants, response.giving)):
            owed_from = place
    assert owed_from is not None
    return owed_from
