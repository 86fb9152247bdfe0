"""Choices of every kind, fields with one value and arrays of no places mean the same in all readings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from model_check import cpython
from model_check.explicit.code_generation.packing import pack_machine, state_width
from model_check.explicit.search import explore
from model_check.symbolic.bounded import BoundedVerdict, search
from model_check.symbolic.relation import relation_of
from model_check.tla.module import TlaModule, export
from spec.language import RangeViolation, action, declared_action
from tests.model_check.emitted import emitted
from tests.model_check.symbolic.symbolic_successors import GOES_WRONG, Formulas, first_difference
from tests.model_check.tla.comparison import disagreements, run_export
from tests.model_check.tla.states_of_tlc import states_of
from tests.model_check.wide_machine import WIDE, Constants, State

if TYPE_CHECKING:
    from pathlib import Path

INSTANCES = {
    "something of everything": Constants(),
    "strict, and two twins": Constants(strict=True, twins=2, both=(1,), places=1),
    "no twins, no gifts and no room": Constants(twins=0, gifts=(), extra=0),
    "nothing": Constants(twins=0, gifts=(), extra=0, both=(), most=0),
}


@pytest.mark.parametrize("name", INSTANCES)
def test_all_readings_find_the_same_states(name: str, tmp_path: Path) -> None:
    constants = INSTANCES[name]
    judge, compiled = cpython.explore(WIDE, constants), explore(WIDE, constants)
    found = (judge.distinct, judge.generated, judge.depth)
    assert (compiled.distinct, compiled.generated, compiled.depth) == found
    packing = compiled.compiled.packing
    assert {packing.unpack(words) for words in compiled.store.all_words()} == set(judge.parents)
    dump = tmp_path / "states.dump"
    told = run_export(export(WIDE, constants, ()), tmp_path, "-dump", str(dump))
    assert disagreements(told, *found) == []
    assert states_of(dump.read_text(), WIDE, constants) == set(judge.parents)
    sample = list(judge.parents)[:: 1 + judge.distinct // 300]
    assert first_difference(relation_of(WIDE, constants), sample) is None
    depths = [judge.violations.get(clause) for clause in WIDE.clauses]
    depths += [judge.witnesses.get(witness) for witness in WIDE.witnesses]
    assert compiled.seen_at == tuple(None if s is None else len(judge.path_to(s)) for s in depths)
    assert judge.complete
    assert compiled.complete


def test_something_happens_in_each_instance_and_less_where_there_is_less() -> None:
    found = {name: cpython.explore(WIDE, constants) for name, constants in INSTANCES.items()}
    taken = {name: {p[1].action.name for p in f.parents.values() if p is not None} for name, f in found.items()}
    everything = {action.name for action in WIDE.actions}
    assert taken["something of everything"] == everything
    assert taken["no twins, no gifts and no room"] == {"fill", "paint_a_place", "tick"}
    assert taken["nothing"] == {"tick"}
    assert WIDE.clauses[0] in found["something of everything"].violations
    assert WIDE.witnesses[0] in found["something of everything"].witnesses


def test_the_solver_finds_the_same_violation() -> None:
    constants = INSTANCES["no twins, no gifts and no room"]
    told = search(WIDE, constants, WIDE.clauses[0], 4)
    compiled = explore(WIDE, constants)
    assert told.verdict is BoundedVerdict.VIOLATED
    assert told.path == compiled.path_to(0)
    assert search(WIDE, constants, WIDE.clauses[1], 2).verdict is BoundedVerdict.HOLDS_TO_BOUND


def test_what_has_one_value_takes_no_bits_and_what_has_no_places_none_either() -> None:
    packing = pack_machine(WIDE, INSTANCES["nothing"])
    assert packing.places["twin", "seen_at"] == packing.places["hints",] == packing.places["box", "link"] == ()
    for path in (("box", "spare"), ("box", "fixed"), ("box", "chosen"), ("box", "twin"), ("place", "value")):
        assert [place.width for place in packing.places[path]] == [0]
    # two places of three colours, a step of 0 … 3, and a flag
    assert packing.bits == state_width(WIDE, INSTANCES["nothing"]).bits == 2 * 2 + 2 + 1
    first = WIDE.initial(INSTANCES["nothing"]).canonical()
    assert packing.unpack(packing.pack(first)) == first


def test_an_array_of_no_places_refuses_every_index() -> None:
    state = State(Constants(twins=0))
    assert len(state.twin) == len(state.hints) == len(state.box.link) == 0
    with pytest.raises(RangeViolation, match=r"^hints\[0\]: there are 0 places$"):
        _ = state.hints[0]
    with pytest.raises(RangeViolation, match=r"^link\[0\]: there are 0 places$"):
        state.box.link[0] = 0
    with pytest.raises(RangeViolation, match=r"^record 0: there are 0 places$"):
        _ = state.twin[0]


@action()
def write_where_nothing_is(s: State, c: Constants) -> None:
    s.twin[s.box.spare].is_known = True


@action()
def read_where_nothing_is(s: State, c: Constants) -> None:
    s.box.spare = s.hints[s.box.spare]


def test_what_happens_in_an_array_of_no_places_goes_wrong() -> None:
    constants = INSTANCES["nothing"]
    machine = replace(WIDE, actions=(declared_action(write_where_nothing_is),))
    first = machine.initial(constants).canonical()
    with pytest.raises(OverflowError, match=r"^write_where_nothing_is$"):
        emitted(machine, constants).successors(first)
    for function in (write_where_nothing_is, read_where_nothing_is):
        machine = replace(WIDE, actions=(declared_action(function),))
        with pytest.raises(RangeViolation, match="there are 0 places"):
            cpython.explore(machine, constants)
        assert Formulas(relation_of(machine, constants)).successors(first) == {function.__name__: GOES_WRONG}


def test_a_choice_that_ends_one_too_early_is_seen(tmp_path: Path) -> None:
    constants = INSTANCES["no twins, no gifts and no room"]
    judge, exported = cpython.explore(WIDE, constants), export(WIDE, constants, ())
    assert r"most \in 0..MOST :" in exported.module
    broken = TlaModule(exported.name, exported.module.replace(r"\in 0..MOST :", r"\in 0..MOST - 1 :"), exported.config)
    assert disagreements(run_export(broken, tmp_path), judge.distinct, judge.generated, judge.depth) != []
