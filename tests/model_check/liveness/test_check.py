"""Verdicts on endless runs: two ways to the graph, two engines over it, and lassos that CPython takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from model_check.errors import EvaluationError, ModelCheckError
from model_check.finding import Verdict
from model_check.instances import load_instance
from model_check.liveness.by_networkx import has_a_fair_run
from model_check.liveness.check import check_responses, chosen_promises, chosen_responses, usual_worlds
from model_check.liveness.fair_cycles import fair_components
from model_check.liveness.graph import compiled_graph, graph_of
from model_check.liveness.lasso import require_lasso, shortest_lasso
from model_check.world import Environment, Profile, World
from spec.profiles import PROFILES, distinct
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.liveness.cpython_graph import cpython_graph

if TYPE_CHECKING:
    from model_check.liveness.graph import Graph
    from model_check.liveness.lasso import Lasso
    from spec.constants import Constants, Instance
    from spec.language import Fairness, Response

MACHINE = TRANSACTIONAL_MESSAGES


@pytest.fixture(autouse=True, params=["endless"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def narrow(**sizes: int) -> Instance:
    """A small instance with room for so many halves that a state takes as many words as one of `endless`.

    So its kernels are those of `endless`, too.
    """
    usual: dict[str, Any] = {"immunities": (-1,), "check_max": 1, "timeout": 1, "half_slots": 7, "op_slots": 3}
    return replace(load_instance("endless"), name="narrow", **{**usual, "persist_interval": 1, **sizes})


def promises_of(response: Response) -> list[Fairness]:
    return [MACHINE.fairness[name] for name in response.under]


def by_arrays(graph: Graph) -> dict[str, bool]:
    """Of each response whether it is violated."""
    return {one.name: bool((fair_components(graph, one, promises_of(one)) >= 0).any()) for one in graph.wanted}


def by_sets(graph: Graph) -> dict[str, bool]:
    return {one.name: has_a_fair_run(graph, one, promises_of(one)) for one in graph.wanted}


@pytest.mark.parametrize(
    ("profile", "faults", "violated"),
    [
        ("fixed", ("slow_round",), set()),
        ("4.5.1", (), {"P1.settled", "P2.committed", "P5.at_one_moment"}),
    ],
)
def test_two_ways_to_the_graph_and_two_engines_agree(
    profile: str, faults: tuple[str, ...], violated: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    constants = World.of(profile, faults, narrow()).constants
    graph, found = compiled_graph(MACHINE, constants, MACHINE.responses)
    slow = cpython_graph(MACHINE, constants, MACHINE.responses)
    assert (
        (graph.states, len(graph.targets)) == (slow.states, len(slow.targets)) == (found.distinct, found.generated - 1)
    )
    assert np.bincount(graph.levels).tolist() == np.bincount(slow.levels).tolist()
    assert np.bincount(graph.labels).tolist() == np.bincount(slow.labels).tolist()
    assert graph.at_the_edge.sum() == slow.at_the_edge.sum()
    monkeypatch.setattr("model_check.liveness.graph.EDGES_AT_ONCE", len(graph.targets) // 3)
    by_parts = graph_of(found, MACHINE, MACHINE.responses)
    for name in ("starts", "targets", "labels"):
        assert np.array_equal(getattr(by_parts, name), getattr(graph, name)), name
    for response in MACHINE.responses:
        assert graph.given[response].sum() == slow.given[response].sum()
        assert graph.wanted[response].sum() == slow.wanted[response].sum()
    assert (
        by_arrays(graph)
        == by_arrays(slow)
        == by_sets(slow)
        == {one.name: one.name in violated for one in MACHINE.responses}
    )


@pytest.mark.sweep
@pytest.mark.parametrize("faults", [(), ("slow_round",), ("lose_check",), ("offline_producer",), ("crash",)])
@pytest.mark.parametrize("profile", distinct(PROFILES))
def test_both_engines_agree_in_larger_worlds(profile: str, faults: tuple[str, ...]) -> None:
    graph, _ = compiled_graph(MACHINE, World.of(profile, faults, narrow()).constants, MACHINE.responses)
    assert 2_000 < graph.states < 300_000
    found = by_arrays(graph)
    assert by_sets(graph) == found
    assert sum(found.values()) < len(MACHINE.responses)


def usual(profile: str, faults: tuple[str, ...] = ()) -> tuple[World, ...]:
    return usual_worlds(Profile.of(profile), Environment.of(faults))


def responses(*names: str) -> tuple[Response, ...]:
    return chosen_responses(MACHINE, names)


def test_a_discarded_transaction_without_a_record_is_never_settled_after_all_15_checks() -> None:
    finding = check_responses(usual("4.5.1"), responses("P1", "p5.at_one_moment"))
    settled, spinning = finding.rows
    assert (settled.response.name, settled.verdict) == ("P1.settled", Verdict.VIOLATED)
    assert settled.lasso is not None
    assert [event.step.action.name for event in settled.lasso.cycle] == [
        "tick",
        "begin_round",
        "end_round_at_queue_end",
    ]
    put_back = [e for e in settled.lasso.stem if e.step.action.name in ("put_back_and_check", "put_back_immune_half")]
    assert len(put_back) == 15
    assert "discard_half" in [event.step.action.name for event in settled.lasso.stem]
    assert spinning.lasso is not None
    assert [str(event.step) for event in spinning.lasso.cycle] == ["pull_more_ops"]
    assert finding.numbers.complete
    assert finding.is_decided


def test_without_promises_nothing_is_certain() -> None:
    finding = check_responses([World.of("fixed", (), narrow())], responses("P1"), fairness=[])
    assert [row.verdict for row in finding.rows] == [Verdict.VIOLATED]
    lasso = finding.rows[0].lasso
    assert lasso is not None
    assert ([str(event.step.action.name) for event in lasso.stem], lasso.cycle) == (["send_half"], ())


def test_a_full_queue_and_a_search_cut_short_leave_what_is_not_violated_unknown() -> None:
    full = check_responses([World.of("5.3.3", ["slow_round"], narrow())])
    reasons = {row.why for row in full.rows if row.verdict is Verdict.UNKNOWN}
    assert reasons == {"no violation is found; the instance has no room for more, as op_length of some state say"}
    assert full.violated
    short = check_responses(usual("5.3.3"), responses("P1", "P5"), most_states=3_000)
    assert [row.verdict.value for row in short.rows] == ["unknown", "unknown", "violated"]
    assert not short.numbers.complete


@pytest.mark.parametrize(("profile", "searched"), [("fixed", "narrow"), ("5.3.3", "endless")])
def test_a_roomier_instance_is_searched_where_a_queue_is_full(profile: str, searched: str) -> None:
    worlds = [World.of(profile, ["slow_round"], instance) for instance in (narrow(), "endless")]
    finding = check_responses(worlds, responses("P6"))
    assert (finding.world.instance.name, finding.is_decided) == (searched, True)
    assert [world.instance.name for world in usual(profile)] == ["endless", "roomy"]


def a_lasso() -> tuple[Constants, Response, Lasso]:
    constants = World.of("4.5.1", (), narrow()).constants
    response = chosen_responses(MACHINE, ["P1"])[0]
    graph, _ = compiled_graph(MACHINE, constants, [response])
    promises = promises_of(response)
    lasso = shortest_lasso(graph, response, promises, fair_components(graph, response, promises))
    assert lasso is not None
    return constants, response, lasso


def test_what_is_no_violation_is_refused() -> None:
    constants, response, lasso = a_lasso()
    promises = promises_of(response)
    require_lasso(MACHINE, constants, response, promises, lasso)
    tick, begin, end = lasso.cycle
    for wrong, why in [
        (replace(lasso, cycle=(tick, begin)), "the cycle does not close|cannot be taken"),
        (replace(lasso, cycle=()), "the promise clock is broken"),
        (replace(lasso, owed_from=0), "what is wanted comes|nothing is owed"),
        (replace(lasso, stem=lasso.stem[1:]), "cannot be taken"),
    ]:
        with pytest.raises(EvaluationError, match=why):
            require_lasso(MACHINE, constants, response, promises, wrong)
    again = replace(response, once=("time_passed",))
    with pytest.raises(EvaluationError, match="what comes to an end comes again and again"):
        require_lasso(MACHINE, constants, again, promises, lasso)
    assert end.action.name == "end_round_at_queue_end"


def test_an_instance_that_cannot_be_asked_is_refused() -> None:
    with pytest.raises(ModelCheckError, match=r"^instance tiny has no endless runs: give endless, or one with"):
        check_responses([World.of("5.3.3", (), "tiny")])
    with pytest.raises(ModelCheckError, match=r"^instance narrow has 2 transactions, which take each other's places"):
        check_responses([World.of("5.3.3", (), narrow(transactions=2))])
    with pytest.raises(ModelCheckError, match=r"^no fairness 'clocks'; did you mean clock\?"):
        chosen_promises(MACHINE, ["clocks"])
