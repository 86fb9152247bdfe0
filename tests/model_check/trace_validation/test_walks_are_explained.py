"""Whatever the specification can do leaves a trace that validation explains, without a fault that was not there."""

from __future__ import annotations

import pytest

from model_check.trace_validation.validate import validate
from spec.profiles import PROFILES, distinct
from tests.model_check.trace_validation.retake import replay
from tests.model_check.trace_validation.walks import SETTINGS, walk
from tests.sampled import sampled

STEPS = 160
WALKS = 4
WORLDS: dict[tuple[str, ...], set[str]] = {
    (): set(),
    ("slow_round", "slow_dispatch"): set(),
    ("slow_local", "lose_end", "lose_check", "duplicate_end"): {"slow_local", "late_end", "duplicate_end"},
    ("crash",): {"crash", "late_end"},
    ("slow_round", "wrong_end"): {"wrong_end", "duplicate_end", "late_end", "slow_local"},
    ("late_end", "slow_round"): {"late_end"},
    ("bad_store_status", "clock_skew"): set(),
    ("offline_producer", "restarted_producer"): set(),
    ("graceful_stop",): {"crash", "graceful_stop", "late_end"},
    ("crash", "slow_round", "slow_dispatch", "slow_local", "lose_end", "lose_check", "late_end", "duplicate_end"): {
        "crash",
        "late_end",
        "duplicate_end",
        "slow_local",
    },
}
"""A world's faults, and those that a path may need there: a local transaction that outlives a check ends late; an
END_TRANSACTION that a crash cut short looks like one that was never finished; a wrong one may look repeated or late."""

HARDLY_SEEN = {("graceful_stop",)}
"""An orderly stop saves the offsets first. Of the repaired protocol hardly a walk shows any fault."""


CASES = [
    pytest.param(profile, faults, id=f"{profile}-{','.join(faults) or 'quiet'}")
    for profile in distinct(PROFILES)
    for faults in WORLDS
    # In a batch, an entry of a commit and one of a rollback of the same half can't be told apart.
    if "wrong_end" not in faults or not PROFILES[profile].batches_ops
    # A repaired service puts halves back unasked while no producer is there; validation takes producers to be there.
    if "offline_producer" not in faults or profile != "fixed"
]


EVERYTHING = max(WORLDS, key=len)
TELLING = [
    pytest.param("4.5.1", EVERYTHING, 13, id="crash_behind_a_delivery_that_was_cut_short"),
    pytest.param("4.5.1", EVERYTHING, 70, id="offsets_saved_before_other_threads_went_on"),
    pytest.param("4.5.1", ("crash",), 43, id="two_crashes_of_which_neither_helps_alone"),
    pytest.param("4.9.7", EVERYTHING, 77, id="saved_offsets_without_a_record_of_a_round"),
    pytest.param("5.3.3", EVERYTHING, 10, id="entry_that_no_op_message_has"),
    pytest.param("5.3.3", EVERYTHING, 54, id="entry_that_an_op_message_would_have"),
    pytest.param("5.3.3", ("crash",), 52, id="two_crashes_instead_of_one_and_wrong_ends"),
    pytest.param("fixed", ("graceful_stop",), 2, id="stop_in_the_middle_of_a_round"),
    pytest.param("5.4.0", ("graceful_stop",), 11, id="stop_that_began_before_the_record_that_tells_it"),
    pytest.param("fixed", ("graceful_stop",), 0, id="more_stops_than_crashes_are_tried"),
    pytest.param("5.5.0", ("graceful_stop",), 0, id="stop_right_behind_another_end_of_the_process"),
    pytest.param("5.5.0", ("graceful_stop",), 27, id="stop_that_needs_an_end_of_its_own"),
]
"""Walks that take each a certain choice of the search, named by it."""


def explain(profile: str, faults: tuple[str, ...], seed: int) -> tuple[int, set[str]]:
    """How many events a walk has, and which faults its explanation needs."""
    trace = walk(profile, faults, seed, STEPS)
    verdict = validate(trace, SETTINGS, PROFILES[profile])
    assert (verdict.accepted, verdict.divergence) == (True, None), f"seed {seed}"
    assert set(verdict.faults) <= WORLDS[faults], f"seed {seed}"
    assert replay(trace, verdict.path, verdict.constants) is None, f"seed {seed}"
    return len(trace.events), set(verdict.faults)


@pytest.mark.untraced
@pytest.mark.parametrize(("profile", "faults"), sampled(CASES, 2))
def test_a_walk_is_explained_and_no_fault_is_made_up(profile: str, faults: tuple[str, ...]) -> None:
    explained = [explain(profile, faults, seed) for seed in range(WALKS)]
    assert sum(events for events, _ in explained) > 8 * WALKS
    if not WORLDS[faults] or (profile != "fixed" and faults not in HARDLY_SEEN):
        assert any(needed for _, needed in explained) is bool(WORLDS[faults])


@pytest.mark.untraced
@pytest.mark.parametrize(("profile", "faults", "seed"), sampled(TELLING, 2))
def test_a_walk_that_takes_a_certain_choice_is_explained(profile: str, faults: tuple[str, ...], seed: int) -> None:
    assert explain(profile, faults, seed)[1] <= WORLDS[faults]
