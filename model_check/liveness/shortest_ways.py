"""Shortest ways through a graph of states: breadth-first, a whole level at a time, as states may be millions.

Within a level the order is that in which one state after the other would be looked at, so that of several shortest ways
always the same one is found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from model_check.liveness.graph import Flags, Graph

NOT_REACHED, FIRST = -2, -1
"""In place of the edge by which a state was reached."""


def way_into(graph: Graph, begins: Flags, owed: Flags, goal: Flags) -> tuple[list[int], int] | None:
    """The shortest way to a state of the goal on which something begins to be owed, and stays so.

    Parameters
    ----------
    begins, owed, goal : array, shape (states,)
        Where it may begin, where it can stay, and where the way may end.

    Returns
    -------
    way : list of int
        Edges from the initial state.
    owed_from : int
        After how many of them it begins to be owed.
    """
    states = graph.states  # what is owed in state x is written x + states
    known = np.full(2 * states, NOT_REACHED, dtype=np.int64)
    known[0] = FIRST
    level = np.zeros(1, dtype=np.int64)
    while len(level):
        now = (level < states) & begins[level % states] & (known[(level % states) + states] == NOT_REACHED)
        beginning = level[now] + states
        known[beginning] = FIRST
        level = np.insert(level, np.flatnonzero(now) + 1, beginning)
        there = level[(level >= states) & goal[level % states]]
        if len(there):
            return _way_back(graph, known, int(there[0]))
        edges, owner = edges_of(graph, level % states)
        is_owing = level[owner] >= states
        targets = graph.targets[edges].astype(np.int64)
        may = (targets >= 0) & (owed[targets] | ~is_owing)
        level = _reached(known, edges[may], (targets + states * is_owing)[may])
    return None


def _way_back(graph: Graph, known: npt.NDArray[np.int64], at: int) -> tuple[list[int], int]:
    way: list[int] = []
    owed_from = 0
    while known[at] != FIRST or at >= graph.states:
        edge, layer = int(known[at]), at // graph.states
        if edge == FIRST:
            at, owed_from = at - graph.states, len(way)
        else:
            way.append(edge)
            at = _source(graph, edge) + layer * graph.states
    return way[::-1], len(way) - owed_from


def way_over(graph: Graph, usable: Flags, start: int, goal: Flags) -> list[int] | None:
    """The shortest way from a state whose last edge is one of the goal.

    Parameters
    ----------
    usable, goal : array, shape (edges,)
    """
    known = np.full(graph.states, NOT_REACHED, dtype=np.int64)
    known[start] = FIRST
    level = np.array([start], dtype=np.int64)
    while len(level):
        edges = edges_of(graph, level)[0]
        edges = edges[usable[edges]]
        there = edges[goal[edges]]
        if len(there):
            way = [int(there[0])]
            while known[at := _source(graph, way[-1])] != FIRST:
                way.append(int(known[at]))
            return way[::-1]
        level = _reached(known, edges, graph.targets[edges].astype(np.int64))
    return None


def edges_of(graph: Graph, states: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The edges of some states, one state after the other, and of each edge the place of its state among these."""
    firsts = graph.starts[states]
    counts = graph.starts[states + 1] - firsts
    owner = np.repeat(np.arange(len(states)), counts)
    return (firsts - np.cumsum(counts) + counts)[owner] + np.arange(len(owner)), owner


def _reached(
    known: npt.NDArray[np.int64], edges: npt.NDArray[np.int64], targets: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The targets that were not known, each once, in the order in which edges lead to them; they are known now."""
    is_new = known[targets] == NOT_REACHED
    edges, targets = edges[is_new], targets[is_new]
    firsts = np.sort(np.unique(targets, return_index=True)[1])
    known[targets[firsts]] = edges[firsts]
    return targets[firsts]


def _source(graph: Graph, edge: int) -> int:
    return int(np.searchsorted(graph.starts, edge, side="right")) - 1
