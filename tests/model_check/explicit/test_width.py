from __future__ import annotations

from benchmarks.machines.two_phase_commit import TWO_PHASE_COMMIT, Constants
from model_check.explicit.code_generation.packing import pack_machine, state_width
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES


def test_two_phase_commit_takes_four_bits_a_resource_manager_and_four_more() -> None:
    width = state_width(TWO_PHASE_COMMIT, Constants(resource_managers=3))
    assert (width.bits, width.words, width.steps) == (4 * 3 + 4, 1, 2 + 5 * 3)


def test_the_fields_add_up_to_the_packed_state() -> None:
    constants = World.of("5.3.3", (), "small").constants
    width = state_width(TRANSACTIONAL_MESSAGES, constants)
    packing = pack_machine(TRANSACTIONAL_MESSAGES, constants)
    assert width.bits == packing.bits
    assert width.words == packing.words
    assert width.unused == 64 * packing.words - packing.bits
    assert {field.name for field in width.fields} == {".".join(path) for path in packing.places}


def test_a_wider_range_takes_more_bits() -> None:
    narrow, wide = (
        {f.name: f for f in state_width(TRANSACTIONAL_MESSAGES, World.of("5.3.3", (), name).constants).fields}
        for name in ("tiny", "deep")
    )
    assert (narrow["half.check_times"].bits, wide["half.check_times"].bits) == (2 * 3, 2 * 4)
    assert (narrow["op.names"].bits, wide["op.names"].bits) == (3 * 2, 4 * 3)
