"""TLC on a machine that forgets reaches what the other engines have left, and judges what was reached before."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from model_check import cpython
from model_check.clauses import chosen_clauses
from model_check.explicit.search import explore
from model_check.instances import load_instance
from model_check.tla.module import TlaModule, export
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.tla.comparison import disagreements, run_export
from tests.model_check.tla.forgetful_machine import FORGETFUL, Constants
from tests.model_check.tla.states_of_tlc import states_of
from tests.model_check.tla.test_numbers import NANO

if TYPE_CHECKING:
    from pathlib import Path

    from spec.constants import Constants as OfTheProtocol

pytestmark = pytest.mark.untraced

SMALL = Constants(cells=2)


def protocol(profile: str, faults: list[str], instance: str, **sizes: Any) -> OfTheProtocol:
    return World.of(profile, faults, replace(load_instance(instance), persist_interval=2, forgets=1, **sizes)).constants


def whatever_is_full(exported: TlaModule) -> TlaModule:
    """TLC shall search on where a queue is full."""
    return replace(exported, config=re.sub(r"INVARIANTS\n(    \w+_has_room\n)+", "", exported.config))


@pytest.mark.parametrize("cells", [2, pytest.param(3, marks=pytest.mark.sweep)])
def test_each_state_is_what_the_slow_judge_has_left(tmp_path: Path, cells: int) -> None:
    constants = Constants(cells=cells)
    found = cpython.explore(FORGETFUL, constants)
    assert len(found.passing) > 200
    dump = tmp_path / "states.dump"
    told = run_export(export(FORGETFUL, constants, ()), tmp_path, "-dump", str(dump))
    assert disagreements(told, found.distinct, found.generated, found.depth) == []
    assert states_of(dump.read_text(), FORGETFUL, constants) == set(found.parents)


@pytest.mark.parametrize(
    ("profile", "faults"),
    [
        ("4.9.7", ["lose_end"]),
        pytest.param("4.5.1", [], marks=pytest.mark.sweep),
        pytest.param("fixed", ["crash"], marks=pytest.mark.sweep),
    ],
)
def test_the_protocol_has_the_numbers_of_the_slow_judge(tmp_path: Path, profile: str, faults: list[str]) -> None:
    constants = protocol(profile, faults, NANO, half_slots=3, op_slots=3)
    found = cpython.explore(TRANSACTIONAL_MESSAGES, constants)
    assert len(found.passing) > 100
    told = run_export(whatever_is_full(export(TRANSACTIONAL_MESSAGES, constants, ())), tmp_path)
    assert disagreements(told, found.distinct, found.generated, found.depth) == []


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("profile", "faults", "sizes"),
    [
        ("4.5.1", [], {}),
        ("4.5.1", ["lose_check"], {}),
        ("4.9.7", [], {}),
        ("fixed", [], {}),
        ("5.3.3", [], {"check_max": 2, "half_slots": 4, "op_slots": 3}),
    ],
)
def test_runs_of_any_length_have_the_numbers_of_the_compiled_search(
    tmp_path: Path, profile: str, faults: list[str], sizes: dict[str, int]
) -> None:
    constants = protocol(profile, faults, "lasting", **sizes)
    found = explore(TRANSACTIONAL_MESSAGES, constants)
    exported = export(TRANSACTIONAL_MESSAGES, constants, ())
    told = run_export(whatever_is_full(exported) if found.full_queues() else exported, tmp_path)
    assert disagreements(told, found.distinct, found.generated, found.depth) == []


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("profile", "clause", "depth"),
    [("4.5.1", "S9.unread_op", 20), ("4.9.7", "L2.immunity_burns_checks", 80), ("fixed", "R1.too_many_copies", 82)],
)
def test_the_shortest_counterexample_has_the_same_length(tmp_path: Path, profile: str, clause: str, depth: int) -> None:
    constants = World.of(profile, [], "lasting").constants
    (chosen,) = chosen_clauses([clause])
    assert explore(TRANSACTIONAL_MESSAGES, constants).seen_at[TRANSACTIONAL_MESSAGES.clauses.index(chosen)] == depth
    told = run_export(export(TRANSACTIONAL_MESSAGES, constants, [chosen]), tmp_path)
    assert (told.violated or "").removesuffix("_reached") == clause.replace(".", "_")
    assert len(told.trace) == depth


def test_what_is_forgotten_at_once_is_judged_before(tmp_path: Path) -> None:
    found = cpython.explore(FORGETFUL, SMALL)
    (state,) = found.violations.values()
    told = run_export(export(FORGETFUL, SMALL), tmp_path)
    assert told.violated == "Y1_no_blue_one_goes_reached"
    assert told.trace == ("PutBlue", "GoOn")
    assert [step.action.name for step in found.path_to(state)] == ["put_blue", "go_on"]


def test_a_full_queue_is_a_violation(tmp_path: Path) -> None:
    machine = replace(FORGETFUL, queues={"length": "cells"})
    told = run_export(export(machine, SMALL, ()), tmp_path)
    assert told.violated == "length_has_room"
    assert len(told.trace) == SMALL.cells


BROKEN = [
    ("ELSE IF reference = place THEN gone", "ELSE IF reference = place THEN reference"),
    ("IF reference > place THEN reference - 1", "IF reference > place THEN reference"),
    ("IF position > place", "IF position >= place"),
    ("IF m > place THEN m - 1 ELSE m", "m"),
    (r"members \ {place}}", r"members}"),
    ("IF i < place THEN array[i]", "IF i <= place THEN array[i]"),
    (r"ELSE first[i]", "ELSE array[i]"),
    ("MovedUp(s.shadow, place, First.shadow)", "s.shadow"),
    ("!.latest = Follow(@, place, NONE),", ""),
    ("ELSE LET before_i == after_i[i - 1]", "ELSE LET before_i == s"),
    ("state' = Forget(reached')", "state' = reached'"),
]
"""A piece of the exported text, and what may stand there by mistake."""

QUICK = {0, 10}


@pytest.mark.parametrize(
    ("right", "wrong"), [pytest.param(*b, marks=() if n in QUICK else pytest.mark.sweep) for n, b in enumerate(BROKEN)]
)
def test_a_mistake_in_what_is_forgotten_is_seen(tmp_path: Path, right: str, wrong: str) -> None:
    exported = export(FORGETFUL, SMALL, ())
    assert right in exported.module
    found = cpython.explore(FORGETFUL, SMALL)
    dump = tmp_path / "states.dump"
    broken = TlaModule(exported.name, exported.module.replace(right, wrong), exported.config)
    told = run_export(broken, tmp_path, "-dump", str(dump))
    numbers = disagreements(told, found.distinct, found.generated, found.depth)
    assert numbers or states_of(dump.read_text(), FORGETFUL, SMALL) != set(found.parents)


def test_without_its_view_tlc_counts_what_was_reached(tmp_path: Path) -> None:
    exported = export(FORGETFUL, SMALL, ())
    found = cpython.explore(FORGETFUL, SMALL)
    told = run_export(replace(exported, config=exported.config.replace("VIEW View\n", "")), tmp_path)
    assert disagreements(told, found.distinct, found.generated, found.depth)[0].startswith("distinct")


def test_one_module_serves_all_instances_that_forget_and_another_one_those_that_do_not() -> None:
    first, second, plain = (export(FORGETFUL, Constants(cells=c, forgets=f)) for c, f in [(2, 1), (3, 1), (2, 0)])
    assert first.module == second.module
    assert first.config != second.config
    assert "reached" not in plain.module


def test_what_refers_to_a_place_follows_it_by_its_kind() -> None:
    assert (
        r"""
RemoveFromCells(s, place) ==
    [s EXCEPT
        !.item =
            [i \in Cells |->
                [MovedUp(s.item, place, First.item)[i] EXCEPT
                    !.previous = Follow(@, place, NONE),
                    !.peers = FollowMembers(@, place)]],
        !.shadow =
            [i \in Cells |->
                [MovedUp(s.shadow, place, First.shadow)[i] EXCEPT
                    !.casts = Follow(@, place, 0)]],
        !.length = FollowPosition(@, place),
        !.latest = Follow(@, place, NONE),
        !.desk.cursor = FollowPosition(@, place),
        !.desk.eye = FollowPosition(@, place),
        !.desk.link =
            [i \in Cells |-> Follow(MovedUp(@, place, First.desk.link)[i], place, NONE)],
        !.desk.marked = FollowMembers(@, place)]
"""
        in export(FORGETFUL, SMALL).module
    )
