"""ITF traces: each state is whole, each value has the form that ADR-015 gives it, and the steps can be read back."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from model_check.counterexample.steps import read_path
from model_check.counterexample.trace_file import read_itf, to_itf
from model_check.world import World
from spec.language import Bits, Kind, Slot, take
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.counterexample import b02
from tests.model_check.walked import walked_states

ACTION, PICKS = "mbt::actionTaken", "mbt::nondetPicks"
MEMBERS = [
    "now", "clock_steps", "mishaps", "stray_ends", "crashes", "role", "producer", "transaction", "half", "half_length",
    "op", "op_length", "batch", "round", "pulled_op", "round_ended_at", "offsets", "saved", "unsaved",
    "flushed", "gone", "lower_end", "stuck", "stuck_rounds", "op_left_behind", "had_halves", "had_ops",
]  # fmt: skip


def trace() -> dict[str, Any]:
    found = to_itf(b02.WORLD, b02.path(), "B02")
    read: dict[str, Any] = json.loads(json.dumps(found))
    return read


def test_the_trace_names_its_format_its_origin_and_its_variables() -> None:
    told = trace()
    assert list(told) == ["#meta", "params", "vars", "states"]
    assert told["#meta"] == {"format": "ITF", "description": "B02", "halfcheck": b02.ORIGIN}
    assert told["vars"] == [*MEMBERS, ACTION, PICKS]
    assert told["params"] == []
    for index, state in enumerate(told["states"]):
        assert state["#meta"] == {"index": index}
        assert sorted(state) == sorted(["#meta", *told["vars"]])


def test_each_state_says_which_action_led_to_it_with_which_parameters() -> None:
    assert [(state[ACTION], state[PICKS]) for state in trace()["states"]] == [
        ("init", {}),
        ("send_half", {"t": {"#bigint": "0"}, "immunity": {"#bigint": "-1"}}),
        ("roll_back_locally", {"t": {"#bigint": "0"}}),
        ("buffer_op", {"h": {"#bigint": "0"}}),
        ("crash", {}),
    ]


def test_integers_sets_flags_and_choices_have_their_own_forms() -> None:
    buffered = trace()["states"][3]
    assert buffered["batch"]["names"] == {"#set": [{"#bigint": "0"}]}
    assert buffered["batch"]["is_open"] is True
    assert buffered["half_length"] == {"#bigint": "1"}
    assert buffered["half"][0]["settled"] == "ROLLED_BACK"
    assert buffered["transaction"][0]["immunity"] == {"#bigint": "-1"}
    assert buffered["round"]["removed_by"] == [{"#bigint": "-1"}] * 3


def looked_up(state: dict[str, Any], slot: Slot) -> Any:
    """The place of the tree that the label of a slot means, such as `half[0].end`."""
    place: Any = state
    for name in re.findall(r"\w+", slot.label):
        place = place[int(name)] if name.isdecimal() else place[name]
    return place


def plain(written: Any, slot: Slot) -> int:
    if slot.choices is not None:
        return int(slot.choices[written])
    if slot.kind is Kind.FLAG:
        assert isinstance(written, bool)
        return int(written)
    if slot.kind is Kind.BITS:
        members = [int(member["#bigint"]) for member in written["#set"]]
        assert len(set(members)) == len(members)
        return sum(1 << member for member in members)
    assert list(written) == ["#bigint"]
    return int(written["#bigint"])


def test_each_value_of_each_state_stands_in_the_place_of_its_name() -> None:
    state = TRANSACTIONAL_MESSAGES.initial(b02.CONSTANTS)
    for told, step in zip(trace()["states"], (None, *b02.path()), strict=True):
        if step is not None:
            assert take(state, b02.CONSTANTS, step) is None
        values = [plain(looked_up(told, slot), slot) for slot in state.memory.slots]
        assert values == [int(value) for value in state.memory.values]


def test_the_steps_are_read_back() -> None:
    origin, steps = read_itf(Path("b02.itf.json"), trace())
    assert origin == b02.ORIGIN
    words = [" ".join([name, *(f"{n}={v}" for n, v in picks.items())]) for name, picks in steps]
    assert words == list(b02.STEPS)


def test_plain_integers_of_other_tools_are_read_too() -> None:
    told = trace()
    for state in told["states"]:
        state[PICKS] = {name: int(pick["#bigint"]) for name, pick in state[PICKS].items()}
    assert read_itf(Path("b02.itf.json"), told) == read_itf(Path("b02.itf.json"), trace())


def test_a_path_that_is_refused_is_no_trace() -> None:
    world = World.of("4.9.7", ["crash"], "tiny")
    steps = read_path(TRANSACTIONAL_MESSAGES, world.constants, "; ".join(b02.STEPS))
    with pytest.raises(AssertionError, match=r"^step 3, buffer_op h=0, is refused: this version writes op messages"):
        to_itf(world, steps, "B02")


def test_sets_of_several_members_are_written_whole() -> None:
    constants = World.of("5.3.3", ["late_end"], "small").constants
    states = walked_states(TRANSACTIONAL_MESSAGES, constants, walks=10, steps=60, seed=3)
    slots = TRANSACTIONAL_MESSAGES.initial(constants).memory.slots
    sets = {v for values in states for slot, v in zip(slots, values, strict=True) if slot.kind is Kind.BITS}
    assert any(len(list(Bits(v))) == 2 for v in sets)
