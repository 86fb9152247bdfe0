"""Does a tour take each transition once, leave out only what is excluded, and end where the pair differs?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuzz.lockstep.pairing import DRIVEN_MACHINE, Pairing
from fuzz.mutants.of_the_broker import BROKER_MUTANTS
from fuzz.search import transition_tour
from fuzz.search.transition_tour import graph_of, tour
from model_check.cpython import explore
from model_check.errors import ModelCheckError
from model_check.instances import load_instance
from model_check.world import World
from spec.language import NONE
from tests.sampled import sampled

SMALLER = replace(load_instance("tiny"), name="smaller", half_slots=2, immunities=(NONE,))


@pytest.mark.parametrize(("profile", "faults"), sampled([("4.9.7", ("crash",)), ("4.5.1", ()), ("5.5.1", ())], 3))
def test_each_transition_is_taken(profile: str, faults: tuple[str, ...]) -> None:
    pairing = Pairing(World.of(profile, faults, SMALLER))
    done = tour(pairing)
    assert done.failure is None
    assert done.transitions == explore(DRIVEN_MACHINE, pairing.constants).generated - 1
    assert done.taken == done.transitions > 400
    assert not done.left_out
    assert done.steps >= done.taken


def test_what_the_lockstep_excludes_is_left_out_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transition_tour, "is_excluded", lambda _record, _side, step: step.action.name == "crash")
    done = tour(Pairing(World.of("4.9.7", ("crash",), SMALLER)))
    assert done.failure is None
    assert done.taken == tour(Pairing(World.of("4.9.7", (), SMALLER))).taken
    assert done.left_out == {"crash": explore(DRIVEN_MACHINE, World.of("4.9.7", (), SMALLER).constants).distinct}


def test_the_way_leads_over_each_transition_by_the_graph() -> None:
    pairing = Pairing(World.of("4.9.7", (), SMALLER))
    graph = graph_of(pairing)
    assert len(graph) == explore(DRIVEN_MACHINE, pairing.constants).distinct
    assert tour(pairing).taken == sum(map(len, graph.values()))


def test_a_broken_broker_ends_the_tour() -> None:
    mutant = next(mutant for mutant in BROKER_MUTANTS if mutant.name == "op not done on a hit")
    broken = Pairing(World.of("4.9.7", (), SMALLER), make_broker=mutant.pairing.make_broker)
    failure = tour(broken).failure
    assert failure is not None
    assert failure.mismatch.variable in mutant.seen_in
    assert len(failure.script.steps) == failure.mismatch.number


def test_an_instance_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transition_tour, "MOST_STATES", 50)
    with pytest.raises(ModelCheckError, match="instance smaller has more than 50 states in that environment"):
        tour(Pairing(World.of("4.9.7", (), SMALLER)))
