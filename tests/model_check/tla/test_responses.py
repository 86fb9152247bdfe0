"""TLC finds the same responses violated as the other engines, by the exported formulas, in runs that CPython takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.tlc import A_RESPONSE
from model_check.instances import constants_for, load_instance
from model_check.liveness.graph import Graph, compiled_graph, cpython_graph
from model_check.tla.module import export_responses
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.tla.comparison import run_export
from tests.model_check.tla.endless_machine import ENDLESS, Constants
from tests.model_check.tla.runs_for_ever import all_hold, are_told_apart, judged, require_violation, violated

if TYPE_CHECKING:
    from pathlib import Path

    from spec.constants import Constants as OfTheProtocol

pytestmark = pytest.mark.untraced

SMALL = Constants()
VIOLATED = {"E2.weak", "E3.turning", "E5.blinking", "E6.resting"}
OF_ENDLESS = {response.name: response for response in ENDLESS.responses}
OF_THE_PROTOCOL = {response.name: response for response in TRANSACTIONAL_MESSAGES.responses}


def narrow(profile: str, faults: tuple[str, ...] = ()) -> OfTheProtocol:
    """Two checks, no immunities, no clocks of producers that are wrong."""
    sizes: dict[str, Any] = {"immunities": (-1,), "check_max": 2, "timeout": 1, "half_slots": 3, "op_slots": 3}
    return constants_for(profile, faults, replace(load_instance("endless"), name="narrow", **sizes))


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
    assert {step.action.name for step in lasso.cycle} == cycle


@pytest.mark.parametrize(
    ("profile", "wrong"),
    [("4.5.1", {"P1.settled", "P2.committed", "P5.at_one_moment"}), ("5.3.3", {"P5.at_one_moment"})],
)
def test_tlc_agrees_on_every_response_of_the_protocol(tmp_path: Path, profile: str, wrong: set[str]) -> None:
    constants = narrow(profile)
    graph = cpython_graph(TRANSACTIONAL_MESSAGES, constants, TRANSACTIONAL_MESSAGES.responses)
    assert violated(graph) == wrong
    require_agreement(graph, wrong, tmp_path)


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("profile", "wrong"),
    [("4.5.1", {"P1.settled", "P2.committed", "P5.at_one_moment"}), ("fixed", set())],
)
def test_tlc_agrees_after_all_15_checks(tmp_path: Path, profile: str, wrong: set[str]) -> None:
    constants = constants_for(profile, (), "endless")
    graph, _ = compiled_graph(TRANSACTIONAL_MESSAGES, constants, TRANSACTIONAL_MESSAGES.responses)
    assert violated(graph) == wrong
    require_agreement(graph, wrong, tmp_path)


def require_agreement(graph: Graph, wrong: set[str], folder: Path) -> None:
    """TLC finds the states of the graph, violates what is wrong, by runs that CPython takes, and nothing else."""
    machine, constants = graph.machine, graph.constants
    assert all(are_told_apart(graph, response) for response in OF_THE_PROTOCOL.values())
    others = [response for name, response in OF_THE_PROTOCOL.items() if name not in wrong]
    assert all_hold(judged(machine, constants, others, folder), graph) == []
    for name in sorted(wrong):
        told = judged(machine, constants, [OF_THE_PROTOCOL[name]], folder)
        require_violation(told, machine, constants, OF_THE_PROTOCOL[name])


MISTAKES = [
    ("E1.strong", "SF_vars(", "WF_vars("),
    ("E3.turning", "THEN 1 - again", "THEN 0"),
    ("E4.turned", "<>[][Ending => Lasting]_vars", "TRUE"),
    ("E5.blinking", "[Ending_2 => Lasting_2]_vars", "[~Ending_2]_vars"),
    ("E7.edge", "AtTheEdge == ~waiting_has_room", "AtTheEdge == FALSE"),
    ("E8.dark", "/\\ FairLeaver", "/\\ FairDoor"),
    ("E6.resting", "~> (ComesIn(state)", "~> (~ComesIn(state)"),
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


def test_a_full_queue_is_a_violation_of_its_own(tmp_path: Path) -> None:
    told = run_export(export_responses(ENDLESS, SMALL, [OF_ENDLESS["E7.edge"]]), tmp_path)
    assert told.violated == "waiting_has_room"
