"""Does the mapping speak of every field, and would it see a difference in each that it compares?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fuzz.broker_side.broker_records import TICK_MS
from fuzz.lockstep.pairing import Mismatch, Pairing
from fuzz.lockstep.refinement_mapping import LEFT_ALONE
from fuzz.lockstep.script import run_text
from fuzz.search.workloads import COPY_OF_A_SETTLED_ORIGINAL
from spec.constants import FAULTS
from spec.language import Kind

if TYPE_CHECKING:
    from fuzz.lockstep.pairing import Pair

SCHEDULE = """
send_half t=0 immunity=3; send_half t=1 immunity=-1; commit_locally t=1; store_real_message h=1; buffer_op h=1;
send_half t=2 immunity=1; commit_locally t=2; store_real_message h=2; tick; write_op_batch; begin_round;
put_back_immune_half
"""


def middle_of_a_round() -> Pair:
    return run_text(Pairing.of("5.3.3", FAULTS), SCHEDULE)


def fields() -> set[str]:
    return {".".join(slot.path) for slot in middle_of_a_round().state.memory.slots}


def test_a_field_of_the_state_that_is_left_alone_has_a_reason() -> None:
    assert fields() >= LEFT_ALONE.keys()
    assert len(fields() - LEFT_ALONE.keys()) == 60
    assert all(LEFT_ALONE.values())


@pytest.mark.parametrize("field", sorted(fields() - LEFT_ALONE.keys()))
def test_a_difference_in_a_compared_field_is_seen(field: str) -> None:
    pair = middle_of_a_round()
    memory = pair.state.memory
    place = next(place for place, slot in enumerate(memory.slots) if ".".join(slot.path) == field)
    slot = memory.slots[place]
    value = max(memory.values[place], slot.low)
    other = value + 1 if slot.kind in (Kind.INSTANT, Kind.CLOCK) or value < slot.high else value - 1
    memory.values[place] = other
    with pytest.raises(Mismatch) as found:
        pair.compare()
    assert found.value.variable == slot.label


@pytest.mark.parametrize("field", sorted(LEFT_ALONE))
def test_a_field_that_is_left_alone_may_differ(field: str) -> None:
    pair = middle_of_a_round()
    memory = pair.state.memory
    place = next(place for place, slot in enumerate(memory.slots) if ".".join(slot.path) == field)
    memory.values[place] += 1
    seen = list(memory.values)
    pair.compare()
    assert memory.values == seen


def test_an_instant_between_two_ticks_is_a_difference() -> None:
    pair = middle_of_a_round()
    pair.side.clock.advance(1)
    with pytest.raises(Mismatch, match="now is"):
        pair.compare()
    pair.side.clock.advance(TICK_MS - 1)
    with pytest.raises(Mismatch, match="now is"):
        pair.compare()


@pytest.mark.parametrize(("profile", "seen"), [("4.9.7", False), ("5.3.3", True)])
def test_op_msg_map_is_compared_where_the_version_has_it(profile: str, seen: bool) -> None:
    pair = run_text(Pairing.of(profile, FAULTS), COPY_OF_A_SETTLED_ORIGINAL)
    pair.state.pulled_op[0].unresolved.discard(2)
    difference = False
    try:
        pair.compare()
    except Mismatch as mismatch:
        difference = mismatch.variable == "pulled_op[0].unresolved"
    assert difference == seen
