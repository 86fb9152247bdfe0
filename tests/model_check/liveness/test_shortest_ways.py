"""Shortest ways through random graphs, held against networkx."""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from model_check.liveness.lasso import way_into, way_over
from tests.model_check.liveness.test_fair_cycles import asked, graph_of

if TYPE_CHECKING:
    from model_check.liveness.graph import Graph

STATES = 7
PLACES = st.integers(0, STATES - 1)
SOME = st.sets(PLACES)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    edges = draw(st.lists(st.tuples(PLACES, st.sampled_from("abc"), PLACES), max_size=20, unique=True))
    graph = graph_of(STATES, edges, asked(), set(), set(), set())
    graph.targets[[draw(st.sampled_from((False, False, True))) for _ in edges]] = -1
    return graph


def flags(some: set[int], size: int = STATES) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.isin(np.arange(size), list(some))


def goes(graph: Graph, way: list[int], start: int) -> list[int]:
    """The states on a way, each edge of which begins where the one before ends."""
    states = [start]
    for edge in way:
        assert graph.sources[edge] == states[-1]
        states.append(int(graph.targets[edge]))
    return states


@settings(max_examples=500)
@given(graphs(), SOME, SOME, SOME)
def test_the_way_on_which_something_is_owed_is_the_shortest(
    graph: Graph, begins: set[int], owed: set[int], goal: set[int]
) -> None:
    begins &= owed
    product = nx.DiGraph()
    for x, y in zip(graph.sources.tolist(), graph.targets.tolist(), strict=True):
        if y >= 0:
            product.add_edge((0, x), (0, y), weight=1)
            if y in owed:
                product.add_edge((1, x), (1, y), weight=1)
    product.add_node((0, 0))
    product.add_weighted_edges_from(((0, x), (1, x), 0) for x in begins)
    lengths = nx.single_source_dijkstra_path_length(product, (0, 0))
    expected = min((length for (owing, x), length in lengths.items() if owing and x in goal), default=None)
    found = way_into(graph, flags(begins), flags(owed), flags(goal))
    assert (None if found is None else len(found[0])) == expected
    if found is not None:
        way, owed_from = found
        states = goes(graph, way, 0)
        assert states[owed_from] in begins
        assert owed.issuperset(states[owed_from:])
        assert states[-1] in goal


@given(graphs(), PLACES, st.sets(st.integers(0, 19)), st.sets(st.integers(0, 19)))
def test_the_way_over_an_edge_is_the_shortest(graph: Graph, start: int, usable: set[int], goal: set[int]) -> None:
    count = len(graph.targets)
    usable = {edge for edge in usable if edge < count and graph.targets[edge] >= 0}
    ways = nx.DiGraph()
    ways.add_node(start)
    ways.add_edges_from((int(graph.sources[edge]), int(graph.targets[edge])) for edge in usable)
    lengths = nx.single_source_shortest_path_length(ways, start)
    sources = graph.sources
    expected = min((lengths[sources[e]] + 1 for e in goal & usable if sources[e] in lengths), default=None)
    found = way_over(graph, flags(usable, count), start, flags(goal, count))
    assert (None if found is None else len(found)) == expected
    if found is not None:
        assert goes(graph, found, start)
        assert usable.issuperset(found)
        assert found[-1] in goal
