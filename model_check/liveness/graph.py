"""The graph of all states of an instance that forgets: rows of successors, and what is true of each state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from model_check.errors import EvaluationError
from model_check.explicit.search import explore
from model_check.explicit.state_store.resources import Resources

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from model_check.explicit.exploration import Exploration, Report
    from spec.language import Machine, Property, Response, Step

Flags = npt.NDArray[np.bool_]

EDGES_AT_ONCE = 1 << 22
"""For so many edges there is room in one call of the kernel."""


@dataclass(frozen=True, eq=False)
class Graph:
    """States in the order in which they were found, the initial one first."""

    machine: Machine
    constants: object
    steps: tuple[Step, ...]
    starts: npt.NDArray[np.int64]  # shape (states + 1,): where each state's edges begin
    # shape (edges,): the state that each edge leads to; -1 for one that a search cut short has not found
    targets: npt.NDArray[np.int32]
    labels: npt.NDArray[np.int32]  # shape (edges,): the number of the step of each edge
    levels: npt.NDArray[np.int32]  # shape (states,): steps from the initial state
    given: Mapping[Response, Flags]  # of each response the states where it is; see `spec.language.Response`
    wanted: Mapping[Response, Flags]
    # shape (states,): those with a full queue, or not expanded: what can happen next is not all known
    at_the_edge: Flags
    seconds: float

    @property
    def states(self) -> int:
        """How many there are."""
        return len(self.levels)

    @cached_property
    def sources(self) -> npt.NDArray[np.int32]:
        """The state from which each edge leads."""
        return np.repeat(np.arange(self.states, dtype=np.int32), np.diff(self.starts))


def _predicates(responses: Sequence[Response]) -> tuple[Property, ...]:
    """The predicates of the responses on a state: given and wanted of each, one after the other."""
    return tuple(predicate for one in responses for predicate in (one.giving, one.wanting) if predicate is not None)


def _answered(machine: Machine, responses: Sequence[Response]) -> tuple[Response, ...]:
    """Those whose predicates are compiled: all of the machine, so that one code serves each choice of them."""
    return machine.responses if set(responses) <= set(machine.responses) else tuple(responses)


@cache
def _observed(machine: Machine, responses: tuple[Response, ...]) -> Machine:
    """The machine with the predicates as witnesses."""
    return replace(machine, clauses=(), witnesses=_predicates(responses))


def _by_response(responses: Sequence[Response], truths: npt.NDArray[np.bool_]) -> tuple[dict[Response, Flags], ...]:
    """Given and wanted of each response; `truths` has a row a predicate."""
    given: dict[Response, Flags] = {}
    wanted: dict[Response, Flags] = {}
    rows = iter(truths)
    for one in responses:
        given[one] = np.ones(truths.shape[1], dtype=np.bool_) if one.given is None else next(rows)
        wanted[one] = next(rows)
    return given, wanted


def compiled_graph(
    machine: Machine, constants: object, responses: Sequence[Response], *, most_states: int | None = None
) -> tuple[Graph, Exploration]:
    """The graph by the compiled search; see `all_states` and `graph_of`."""
    found = all_states(machine, constants, responses, most_states=most_states)
    return graph_of(found, machine, responses), found


def all_states(
    machine: Machine,
    constants: object,
    responses: Sequence[Response],
    *,
    most_states: int | None = None,
    report: Report | None = None,
) -> Exploration:
    """The states of the graph, numbered in the order in which one thread finds them.

    `EvaluationError` when a step leaves a declared range.
    """
    observed = _observed(machine, _answered(machine, responses))
    found = explore(
        observed, constants, threads=1, most_states=most_states, report=report, resources=Resources(spill=False)
    )
    if not found.store.has_numbers:
        message = "the states of this instance are too small to be numbered: ask the engine cpython"
        raise EvaluationError(message)
    return found


def graph_of(found: Exploration, machine: Machine, responses: Sequence[Response]) -> Graph:
    """The graph of the states found: each is expanded once more, and its successors are looked up."""
    starts, targets, labels = _rows(found)
    levels = np.repeat(np.arange(len(found.sizes), dtype=np.int32), found.sizes)
    given, wanted = (
        {one: flags[one] for one in responses} for flags in _by_response(_answered(machine, responses), _truths(found))
    )
    edge = np.zeros(len(levels), dtype=np.bool_)
    for name in machine.queues:
        edge |= found.at_full_queue(name)
    edge[np.repeat(np.arange(len(edge)), np.diff(starts))[targets < 0]] = True
    steps = found.compiled.steps
    return Graph(machine, found.constants, steps, starts, targets, labels, levels, given, wanted, edge, found.seconds)


def _truths(found: Exploration) -> npt.NDArray[np.bool_]:
    """The truth of each witness of the machine, a row each, in all states."""
    kernels, words = found.compiled.module, found.compiled.verdict_words
    count = int(found.store.counts[0])
    into, verdict = np.zeros(count * words, dtype=np.int64), np.zeros(words, dtype=np.int64)
    kernels.verdicts(found.store.arrays, 0, 0, count, found.compiled.switches(found.constants), verdict, into)
    a_word, witnesses = kernels.CLAIMS_A_WORD, len(found.compiled.machine.witnesses)
    rows = [into[bit // a_word :: words] >> bit % a_word & 1 for bit in range(witnesses)]
    return np.array(rows, dtype=np.bool_).reshape(witnesses, count)


def _rows(found: Exploration) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Where the edges of each state begin, where they lead, and their steps."""
    store, count = found.store, int(found.store.counts[0])
    ends, bases = np.zeros(count, dtype=np.int64), np.zeros(1, dtype=np.int64)
    to, by = np.empty(EDGES_AT_ONCE, dtype=np.int32), np.empty(EDGES_AT_ONCE, dtype=np.int32)
    targets, labels = [], []
    first = total = 0
    while first < count:
        reached, n = found.compiled.module.edges(
            store.arrays, 0, first, count, bases, found.compiled.switches(found.constants), store.buffers,
            ends[first:], to, by,
        )  # fmt: skip
        if reached < 0:
            message = f"a step from state {-1 - reached} leaves a declared range"
            raise EvaluationError(message)
        ends[first:reached] += total
        targets.append(to[:n].copy())
        labels.append(by[:n].copy())
        first, total = reached, total + n
    starts = np.concatenate([np.zeros(1, dtype=np.int64), ends])
    return starts, np.concatenate(targets), np.concatenate(labels)
