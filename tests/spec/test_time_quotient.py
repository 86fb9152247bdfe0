"""Cutting ages at the horizon changes nothing: a state and its canonical form have the same futures and verdicts."""

from __future__ import annotations

import random
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from model_check.explicit.search import explore
from model_check.instances import load_instance
from model_check.world import Environment, World
from spec.constants import Constants
from spec.language import Kind, holds, is_witnessed, layout, successors, take
from spec.state import State
from spec.transactional_messages import TRANSACTIONAL_MESSAGES as MACHINE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from model_check.explicit.exploration import Exploration
    from spec.language.fields import Slot

pytestmark = pytest.mark.untraced

EVERYTHING = "slow_local,lose_end,lose_check,duplicate_end,wrong_end,late_end,slow_round,slow_dispatch,crash"


@pytest.mark.parametrize(
    ("profile", "environment", "size"),
    [
        ("4.5.1", "late_end,slow_round", "tiny"),
        ("4.9.7", EVERYTHING, "small"),
        ("5.3.3", EVERYTHING, "medium"),
        ("5.4.0", "crash,late_end", "deep"),
        ("5.3.3", "clock_skew,slow_round", "odd"),
        ("5.3.3", "clock_skew,late_end,slow_dispatch", "skewed"),
        ("5.4.0", "clock_step,slow_round,late_end", "tiny"),
        ("4.9.7", "clock_skew,clock_step,late_end,crash", "small"),
        ("fixed", "clock_skew,clock_step,slow_round,duplicate_end", "tiny"),
        ("fixed", "slow_round,late_end", "tiny"),
        ("fixed", "slow_round,slow_local,clock_step", "patient"),
        ("5.3.3", "clock_step,acting_slave,power_loss", "tiny"),
    ],
)
def test_a_clock_that_runs_on_gives_the_futures_of_the_canonical_state(
    profile: str, environment: str, size: str
) -> None:
    """`kept` goes from canonical state to canonical state, as a search does; `state` takes the same steps.

    A step back of the clock makes ages that were cut less than they are: the two then agree on all that a guard can
    tell (`coarse`), and where the clock only goes on, they agree entirely.
    """
    constants = World.of(profile, Environment.named(environment), size).constants
    steps, slots = MACHINE.steps(constants), layout(State, constants)
    chance = random.Random(f"{profile} {environment} {size}")
    kept = MACHINE.initial(constants)
    longest = cut = ahead = stepped_back = 0
    for _ in range(6):
        state = MACHINE.initial(constants)
        kept.load(state.canonical())
        for _ in range(60):
            assert kept.canonical() == tuple(kept.memory.values)
            assert coarse(constants, slots, kept.canonical()) == coarse(constants, slots, state.canonical())
            assert constants.clock_step or kept.canonical() == state.canonical()
            here, there = ([(step, after) for step, after in successors(s, constants, steps)] for s in (state, kept))
            assert [step for step, _ in here] == [step for step, _ in there]
            for clause in MACHINE.clauses:
                assert holds(state, constants, clause) == holds(kept, constants, clause)
            for witness in MACHINE.witnesses:
                assert is_witnessed(state, constants, witness) == is_witnessed(kept, constants, witness)
            longest = max(longest, state.memory.values[0] - state.horizon)
            cut += any(
                slot.kind is Kind.INSTANT and 0 < value < slot.low + state.memory.values[0] - state.horizon
                for slot, value in zip(state.memory.slots, state.memory.values, strict=True)
            )
            ahead += any(
                slot.kind is Kind.INSTANT and value > state.horizon
                for slot, value in zip(kept.memory.slots, kept.memory.values, strict=True)
            )
            if not there:
                break
            step, after = chance.choice(there)
            assert take(state, constants, step) is None
            kept.load(after)
            stepped_back += step.action.name == "step_clock_back"
    assert longest > constants.horizon, "the clock ran past the horizon"
    assert cut > 50, "ages were cut"
    assert (ahead > 0) == (constants.clock_skew or constants.clock_step), "moments to come"
    assert (stepped_back > 0) == constants.clock_step


def coarse(constants: Constants, slots: Sequence[Slot], values: Iterable[int]) -> tuple[int, ...]:
    """A canonical state, its ages cut where guards cannot tell them apart: without the tick that a step back takes."""
    return tuple(map(max, values, floors_of(constants, slots)))


def floors_of(constants: Constants, slots: Sequence[Slot]) -> list[int]:
    """The least value of each slot that `coarse` leaves as it is; what is no instant stays within its range anyway."""
    return [
        slot.low + (slot.kind is Kind.INSTANT and slot.slack is not None and getattr(constants, slot.slack))
        for slot in slots
    ]


@dataclass(frozen=True, kw_only=True)
class KeptForLonger(Constants):
    """Constants under which an explorer keeps ages for two ticks more than guards can tell apart.

    `batch_cut` is left as it is: it is what a guard compares with (`spec.chapters.op_batch.batch_is_overdue`).
    """

    @property
    def birth_cut(self) -> int:
        return super().birth_cut + 2

    @property
    def round_cut(self) -> int:
        return super().round_cut + 2

    @property
    def op_cut(self) -> int:
        return super().op_cut + 2

    @property
    def waiting_cut(self) -> int:
        return super().waiting_cut + 2


SHORT = {"half_slots": 2, "op_slots": 1, "check_max": 1}


@pytest.mark.parametrize(
    ("profile", "environment", "size", "sizes"),
    [
        pytest.param("5.3.3", "quiet", "tiny", SHORT, marks=pytest.mark.sweep),
        pytest.param("4.5.1", "slow_round,late_end", "tiny", SHORT | {"immunities": (-1,)}, marks=pytest.mark.sweep),
        pytest.param("5.3.3", "clock_skew", "odd", SHORT | {"immunities": (1, 5)}, marks=pytest.mark.sweep),
        pytest.param("5.4.0", "clock_step", "tiny", SHORT | {"immunities": (-1,)}, marks=pytest.mark.sweep),
        pytest.param("5.3.3", "clock_skew,clock_step", "tiny", SHORT | {"immunities": (-1,)}, marks=pytest.mark.sweep),
        ("fixed", "slow_round,late_end", "tiny", SHORT | {"immunities": (-1,)}),
        ("4.9.7+finishes_reading", "slow_round,clock_step", "tiny", SHORT | {"immunities": (-1,)}),
    ],
)
def test_no_guard_tells_ages_beyond_the_cuts_apart(
    profile: str, environment: str, size: str, sizes: dict[str, Any]
) -> None:
    """With larger cuts there are more states, and the same when their ages are cut; verdicts have the same depths."""
    constants = World.of(profile, Environment.named(environment), replace(load_instance(size), **sizes)).constants
    longer = KeptForLonger(**{field.name: getattr(constants, field.name) for field in fields(constants)})
    short, long = explore(MACHINE, constants), explore(MACHINE, longer)
    assert long.distinct > short.distinct
    assert long.seen_at == short.seen_at
    assert long.depth >= short.depth
    slots, moved = layout(State, constants), longer.horizon - constants.horizon
    floors = floors_of(constants, slots)
    back = [moved * (slot.kind in (Kind.INSTANT, Kind.CLOCK)) for slot in slots]
    states, cut = (
        set(np.ascontiguousarray(values, dtype=np.int32).view(f"V{4 * len(slots)}").ravel().tolist())
        for values in (np.maximum(values_of(short), floors), np.maximum(values_of(long) - back, floors))
    )
    assert states == cut


def values_of(found: Exploration) -> npt.NDArray[np.int64]:
    """What `Packing.unpack` gives of each state, shape (states, slots); of some, it is asked."""
    packing, words = found.compiled.packing, found.store.all_words()
    of_slot, shifts, masks, lows = np.array(packing.cells, dtype=np.int64).T
    values: npt.NDArray[np.int64] = (words[:, of_slot] >> shifts & masks) + lows
    for state in range(0, len(words), 1 + len(words) // 50):
        assert tuple(values[state].tolist()) == packing.unpack(words[state])
    return values


def test_the_canonical_form_moves_the_clock_back_and_keeps_young_ages() -> None:
    constants = World.of("5.3.3", (), "tiny").constants
    state, moved = State(constants), State(constants)
    for _ in range(10):
        state.now += 1
    state.round_ended_at = state.now - 1
    state.half[0].born_at = state.now - 3
    state.half[1].born_at = state.now - 9
    moved.load(state.canonical())
    assert moved.now == constants.horizon
    assert moved.now - moved.round_ended_at == 1
    assert moved.now - moved.half[0].born_at == 3
    assert moved.now - moved.half[1].born_at == constants.birth_cut == 4
