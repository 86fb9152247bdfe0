"""The same question to networkx: sets and dictionaries in place of arrays, so that the two share nothing but the graph.

Slow, and for graphs of at most some 300,000 states; what it decides is compared with `fair_cycles` in the tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.liveness.graph import Graph
    from spec.language import Fairness, Response


def has_a_fair_run(graph: Graph, response: Response, promises: Sequence[Fairness]) -> bool:
    """Whether some fair run owes the response for ever."""
    whole = _whole(graph)
    owed = {x for x in whole if not graph.wanted[response][x] and not graph.at_the_edge[x]}
    owing = nx.descendants(_from_everywhere(whole.subgraph(owed), [x for x in owed if graph.given[response][x]]), -1)
    left = whole.subgraph(owing)
    allowed = {x: {step.action for *_, step in whole.out_edges(x, data="step")} for x in owing}
    if any(all(actions.isdisjoint(promise.actions) for promise in promises) for actions in allowed.values()):
        return True
    going_on = nx.MultiDiGraph()
    going_on.add_edges_from(
        (x, y, {"step": step}) for x, y, step in left.edges(data="step") if step.action.event not in response.once
    )
    return any(_is_fair(going_on.subgraph(part), promises, allowed) for part in _parts(going_on))


def _whole(graph: Graph) -> nx.MultiDiGraph:
    whole = nx.MultiDiGraph()
    whole.add_nodes_from(range(graph.states))
    edges = zip(graph.sources.tolist(), graph.targets.tolist(), graph.labels.tolist(), strict=True)
    whole.add_edges_from((x, y, {"step": graph.steps[label]}) for x, y, label in edges if y >= 0)
    return whole


def _from_everywhere(graph: nx.MultiDiGraph, beginnings: Sequence[int]) -> nx.DiGraph:
    """The graph with one more state, -1, that leads to all beginnings."""
    more = nx.DiGraph(graph.edges())
    more.add_node(-1)
    more.add_edges_from((-1, x) for x in beginnings)
    return more


def _parts(graph: nx.MultiDiGraph) -> list[set[int]]:
    """Strongly connected components in which something goes round."""
    whole = nx.condensation(nx.DiGraph(graph.edges()))
    members = (data["members"] for _, data in whole.nodes(data=True))
    return [part for part in members if len(part) > 1 or any(graph.has_edge(x, x) for x in part)]


def _is_fair(part: nx.MultiDiGraph, promises: Sequence[Fairness], allowed: dict[int, set[object]]) -> bool:
    taken = {step.action for *_, step in part.edges(data="step")}
    for promise in promises:
        if not taken.isdisjoint(promise.actions):
            continue
        allowing = {x for x in part if not allowed[x].isdisjoint(promise.actions)}
        if promise.is_strong and allowing:
            rest = part.subgraph(set(part) - allowing)
            return any(_is_fair(rest.subgraph(smaller), promises, allowed) for smaller in _parts(rest))
        if not promise.is_strong and len(allowing) == len(part):
            return False
    return True
