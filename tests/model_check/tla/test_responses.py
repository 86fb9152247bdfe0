"""TLC finds the same responses violated as the other engines, by the exported formulas, in runs that CPython takes."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.tlc import A_RESPONSE
from model_check.instances import load_instance
from model_check.liveness.graph import Graph, compiled_graph
from model_check.tla.module import export_responses
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.liveness.cpython_graph import cpython_graph
from tests.model_check.tla.comparison import run_export
from tests.model_check.tla.endless_machine import ENDLESS, Constants
from tests.model_check.tla.runs_for_ever import all_hold, are_told_apart, judged, require_violation, violated

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


pytestmark = pytest.mark.untraced

SMALL = Constants()
VIOLATED = {"E2.weak", "E3.turning", "E5.blinking", "E6.resting"}
Known = tuple[Graph, frozenset[str]]
"""A graph, and the responses that are violated in it."""

OF_ENDLESS = {response.name: response for response in ENDLESS.responses}
PROTOCOL = TRANSACTIONAL_MESSAGES
OF_THE_PROTOCOL = {response.name: response for response in PROTOCOL.responses}


@lru_cache
def narrow(profile: str) -> Known:
    """Two checks, no immunities, short rounds: the graph by CPython, in which no queue is ever full."""
    sizes: dict[str, Any] = {"check_max": 2, "half_slots": 4, "op_slots": 4, "timeout": 1, "immunities": (-1,)}
    times: dict[str, Any] = {"round_limit": 0, "op_batch_interval": 0, "persist_interval": 1}
    instance = replace(load_instance("endless"), name="narrow", **sizes, **times)
    return known(cpython_graph(PROTOCOL, World.of(profile, (), instance).constants, PROTOCOL.responses))


@lru_cache
def endless(profile: str) -> Known:
    """All 15 checks: the graph by the compiled search."""
    return known(compiled_graph(PROTOCOL, World.of(profile, (), "endless").constants, PROTOCOL.responses)[0])


def known(graph: Graph) -> Known:
    """A graph with nothing unknown, in which TLA+ and the other engines mean the same by each promise."""
    assert not graph.at_the_edge.any()
    assert all(are_told_apart(graph, response) for response in graph.wanted)
    return graph, frozenset(violated(graph))


def test_what_holds_in_the_graph_holds_in_tlc(tmp_path: Path) -> None:
    graph = cpython_graph(ENDLESS, SMALL, ENDLESS.responses)
    assert violated(graph) == VIOLATED
    others = [response for name, response in OF_ENDLESS.items() if name not in VIOLATED]
    assert all_hold(judged(ENDLESS, SMALL, others, tmp_path), graph) == []


@pytest.mark.parametrize(
    ("name", "cycle"),
    [
        ("E3.turning", {"turn_round"}),
        pytest.param("E2.weak", {"open_door", "shut_door"}, marks=pytest.mark.sweep),
        pytest.param("E5.blinking", {"wink"}, marks=pytest.mark.sweep),
        pytest.param("E6.resting", set(), marks=pytest.mark.sweep),
    ],
)
def test_what_is_violated_in_the_graph_is_violated_in_tlc(tmp_path: Path, name: str, cycle: set[str]) -> None:
    told = judged(ENDLESS, SMALL, [OF_ENDLESS[name]], tmp_path)
    lasso = require_violation(told, ENDLESS, SMALL, OF_ENDLESS[name])
    assert {step.action.name for step in lasso.cycle} >= cycle


WRONG = {
    "4.5.1": {"P1.settled", "P2.committed", "P5.at_one_moment"},
    "4.9.7": {"P5.at_one_moment"},
    "5.3.3": {"P5.at_one_moment"},
}
"""What each release violates, with 2 checks as with 15."""

ASKED = ("P1.settled", "P5.at_one_moment", "P8.halves")


def runs(profiles: Sequence[str], names: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """What TLC is asked: alone what is violated, together what is not."""
    found: list[tuple[str, tuple[str, ...]]] = []
    for profile in profiles:
        found += [(profile, (name,)) for name in names if name in WRONG[profile]]
        found.append((profile, tuple(name for name in names if name not in WRONG[profile])))
    return found


@pytest.mark.parametrize(
    ("profile", "names"),
    [
        runs(["5.3.3"], ASKED)[-1],
        *(pytest.param(*one, marks=pytest.mark.sweep) for one in runs(["5.3.3"], ASKED)[:-1] + runs(["4.5.1"], ASKED)),
    ],
)
def test_tlc_agrees_on_three_responses_of_the_protocol(tmp_path: Path, profile: str, names: tuple[str, ...]) -> None:
    assert disagreement(narrow(profile), profile, names, tmp_path) == []


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("profile", "names"), runs(["4.5.1", "5.3.3"], [name for name in OF_THE_PROTOCOL if name not in ASKED])
)
def test_tlc_agrees_on_the_others(tmp_path: Path, profile: str, names: tuple[str, ...]) -> None:
    assert disagreement(narrow(profile), profile, names, tmp_path) == []


@pytest.mark.sweep
@pytest.mark.parametrize(("profile", "names"), runs(["4.5.1", "4.9.7"], ASKED))
def test_tlc_agrees_after_all_15_checks(tmp_path: Path, profile: str, names: tuple[str, ...]) -> None:
    assert disagreement(endless(profile), profile, names, tmp_path) == []


def disagreement(known: Known, profile: str, names: Sequence[str], folder: Path) -> list[str]:
    """What TLC finds otherwise: of one violated a run that CPython takes, of several others none, and all states."""
    graph, wrong = known
    assert wrong == WRONG[profile]
    responses = [OF_THE_PROTOCOL[name] for name in names]
    told = judged(PROTOCOL, graph.constants, responses, folder)
    if wrong.issuperset(names):
        require_violation(told, PROTOCOL, graph.constants, *responses)
        return []
    return all_hold(told, graph)


MISTAKES = [
    ("E1.strong", "SF_vars(", "WF_vars("),
    ("E3.turning", "THEN 1 - again", "THEN 0"),
    ("E4.turned", "<>[][Ending => Lasting]_vars", "TRUE"),
    ("E5.blinking", "[Ending_2 => Lasting_2]_vars", "[~Ending_2]_vars"),
    ("E7.edge", "AtTheEdge == ~waiting_has_room", "AtTheEdge == FALSE"),
    ("E8.dark", "/\\ FairLeaver", "/\\ FairDoor"),
    ("E6.resting", "~> (ComesIn(state)", "~> (~ComesIn(state)"),
    ("E6.resting", "    \\/ MayOpenDoor", "    \\/ TRUE"),
]
"""A response, a piece of the exported text, and what may stand there by mistake."""

QUICK = {0, 1}


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [pytest.param(*m, marks=() if n in QUICK else pytest.mark.sweep) for n, m in enumerate(MISTAKES)],
)
def test_a_mistake_in_what_is_promised_or_asked_is_seen(tmp_path: Path, name: str, right: str, wrong: str) -> None:
    told = judged(ENDLESS, SMALL, [OF_ENDLESS[name]], tmp_path, (right, wrong))
    assert told.distinct is not None
    assert told.violated == (None if name in VIOLATED else A_RESPONSE)


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("profile", "name", "right", "wrong"),
    [
        ("5.3.3", "P1.settled", "     /\\ FairCheckService\n", ""),
        ("5.3.3", "P8.halves", "FairClock == WF_vars(StepsOfClock)", "FairClock == TRUE"),
        ("4.5.1", "P5.at_one_moment", "THEN 1 - again", "THEN 0"),
    ],
)
def test_a_mistake_turns_the_verdict_on_a_response_of_the_protocol(
    tmp_path: Path, profile: str, name: str, right: str, wrong: str
) -> None:
    graph, violations = narrow(profile)
    told = judged(PROTOCOL, graph.constants, [OF_THE_PROTOCOL[name]], tmp_path, (right, wrong))
    assert told.distinct is not None
    assert told.violated == (None if name in violations else A_RESPONSE)


@pytest.mark.sweep
def test_where_tlc_carries_out_each_promised_step_nothing_is_otherwise(tmp_path: Path) -> None:
    broken = ("Nowhere == again' = 2 /\\ state' = state", "Nowhere == FALSE")
    graph = cpython_graph(ENDLESS, SMALL, ENDLESS.responses)
    others = [response for name, response in OF_ENDLESS.items() if name not in VIOLATED]
    assert all_hold(judged(ENDLESS, SMALL, others, tmp_path, broken), graph) == []
    for name in VIOLATED:
        told = judged(ENDLESS, SMALL, [OF_ENDLESS[name]], tmp_path, broken)
        require_violation(told, ENDLESS, SMALL, OF_ENDLESS[name])


def test_a_full_queue_is_a_violation_of_its_own(tmp_path: Path) -> None:
    told = run_export(export_responses(ENDLESS, SMALL, [OF_ENDLESS["E7.edge"]]), tmp_path)
    assert told.violated == "waiting_has_room"
