"""Fair cycles in small graphs, by both engines; in random graphs they decide the same."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from model_check.liveness.by_networkx import has_a_fair_run
from model_check.liveness.fair_cycles import fair_components
from model_check.liveness.graph import Graph
from model_check.liveness.lasso import shortest_lasso
from spec.language import Action, Fairness, Response, Step
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

ACTIONS = tuple(Action(lambda _s, _c: None, {}, event=name) for name in "abc")
STEPS = tuple(Step(action, ()) for action in ACTIONS)
Edge = tuple[int, str, int]


def asked(once: str = "") -> Response:
    return Response("P0", "p", lambda _s, _c: True, lambda _s, _c: True, {}, (), tuple(once), ())


def promise(name: str, *, is_strong: bool = False) -> Fairness:
    return Fairness(name, tuple(a for a in ACTIONS if a.event in name), is_strong, "")


def graph_of(
    states: int, edges: list[Edge], response: Response, given_at: set[int], wanted_at: set[int], edge_at: set[int]
) -> Graph:
    edges = sorted(edges)
    flags = [np.isin(np.arange(states), list(some)) for some in (given_at, wanted_at, edge_at)]
    starts = np.searchsorted([source for source, _, _ in edges], np.arange(states + 1)).astype(np.int64)
    targets = np.array([target for _, _, target in edges], dtype=np.int32)
    labels = np.array(["abc".index(label) for _, label, _ in edges], dtype=np.int32)
    nothing = np.zeros(states, dtype=np.int32)
    return Graph(
        TRANSACTIONAL_MESSAGES, None, STEPS, starts, targets, labels, nothing,
        {response: flags[0]}, {response: flags[1]}, flags[2], 0.0,
    )  # fmt: skip


def fair_states(edges: list[Edge], *promises: Fairness, wanted_at: set[int] = frozenset(), once: str = "") -> set[int]:  # type: ignore[assignment]
    """Of a graph of states 0 to 3 where it is owed from state 0 on."""
    response = asked(once)
    graph = graph_of(4, edges, response, {0}, set(wanted_at), set())
    found = {int(x) for x in np.flatnonzero(fair_components(graph, response, promises) >= 0)}
    assert has_a_fair_run(graph, response, promises) == bool(found)
    return found


def test_a_cycle_that_may_always_be_left_by_a_promised_step_is_not_fair() -> None:
    edges = [(0, "b", 1), (1, "b", 0), (0, "a", 2), (1, "a", 2)]
    assert fair_states(edges, promise("a"), wanted_at={2}) == set()
    assert fair_states(edges, promise("b"), wanted_at={2}) == {0, 1}


def test_a_weak_promise_asks_nothing_where_it_is_now_and_then_impossible() -> None:
    edges = [(0, "b", 1), (1, "b", 0), (0, "a", 2)]
    assert fair_states(edges, promise("a"), promise("b"), wanted_at={2}) == {0, 1}
    assert fair_states(edges, promise("a", is_strong=True), promise("b"), wanted_at={2}) == set()


def test_what_a_strong_promise_leaves_falls_into_smaller_cycles() -> None:
    edges = [(0, "b", 1), (1, "b", 0), (1, "b", 2), (2, "b", 1), (0, "a", 3)]
    assert fair_states(edges, promise("a", is_strong=True), promise("b"), wanted_at={3}) == {1, 2}


def test_a_run_may_end_only_where_nothing_promised_can_happen() -> None:
    assert fair_states([(0, "b", 1)], promise("b")) == {1}
    assert fair_states([(0, "b", 1)], promise("a")) == {0, 1}
    assert fair_states([(0, "b", 1)], promise("b"), wanted_at={1}) == set()


def test_what_comes_to_an_end_is_in_no_cycle_but_on_the_way() -> None:
    edges = [(0, "c", 1), (1, "c", 0), (1, "b", 1)]
    assert fair_states(edges, promise("b"), once="c") == {0, 1}  # in state 0 nothing promised can happen
    assert fair_states(edges, promise("b"), promise("c"), once="c") == set()


def test_only_what_is_owed_counts() -> None:
    edges = [(0, "a", 1), (1, "b", 2), (2, "b", 2), (3, "b", 3)]
    assert fair_states(edges, promise("ab"), wanted_at={1}) == set()


def test_a_cycle_goes_round_until_every_promise_is_kept() -> None:
    edges = [(0, "a", 1), (1, "c", 0), (0, "b", 2), (2, "c", 0)]
    response, promises = asked(), [promise("a", is_strong=True), promise("b", is_strong=True), promise("c")]
    graph = graph_of(3, edges, response, {0}, set(), set())
    lasso = shortest_lasso(graph, response, promises, fair_components(graph, response, promises))
    assert lasso is not None
    assert ([step.action.event for step in lasso.cycle], lasso.stem) == (["a", "c", "b", "c"], ())


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Graph, Response, list[Fairness]]:
    states = draw(st.integers(1, 7))
    places = st.integers(0, states - 1)
    edges = draw(st.lists(st.tuples(places, st.sampled_from("abc"), places), max_size=16, unique=True))
    response = asked(draw(st.sampled_from(["", "c"])))
    some = st.sets(places)
    graph = graph_of(states, edges, response, draw(some), draw(some), draw(st.sets(places, max_size=1)))
    promised = st.builds(promise, st.sampled_from(["a", "b", "c", "ab"]), is_strong=st.booleans())
    return graph, response, draw(st.lists(promised, max_size=3))


@given(graphs())
def test_both_engines_decide_the_same(case: tuple[Graph, Response, list[Fairness]]) -> None:
    graph, response, promises = case
    assert bool((fair_components(graph, response, promises) >= 0).any()) == has_a_fair_run(graph, response, promises)
