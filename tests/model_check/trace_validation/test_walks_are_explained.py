"""Whatever the specification can do leaves a trace that validation explains, without a fault that was not there."""

from __future__ import annotations

import pytest

from model_check.trace_validation.replay import replay
from model_check.trace_validation.validate import validate
from spec.profiles import PROFILES
from tests.model_check.trace_validation.walks import SETTINGS, walk

STEPS = 160
WALKS = 4
WORLDS: dict[tuple[str, ...], set[str]] = {
    (): set(),
    ("slow_round", "slow_dispatch"): set(),
    ("slow_local", "lose_end", "lose_check", "duplicate_end"): {"late_end", "duplicate_end"},
    ("crash",): {"crash", "late_end"},
    ("slow_round", "wrong_end"): {"wrong_end", "duplicate_end", "late_end"},
}
"""A world's faults, and those that a path may need there: a local transaction that outlives a check ends late; an
END_TRANSACTION that a crash cut short looks like one that was never finished; a wrong one may look repeated or late."""

UNSEEN_WHERE_REPAIRED = {"slow_local", "duplicate_end", "crash"}
"""Faults of which these walks of the repaired protocol show nothing: it settles each transaction once, and a crash
takes nothing of that."""

FIRST_SEED: dict[tuple[str, tuple[str, ...]], int] = {("fixed", ("slow_round", "wrong_end")): 32}
"""Most wrong END_TRANSACTIONs leave no trace there, either; in some of these walks one does."""


CASES = [
    pytest.param(profile, faults, id=f"{profile}-{','.join(faults) or 'quiet'}")
    for profile in PROFILES
    for faults in WORLDS
    # In a batch, an entry of a commit and one of a rollback of the same half can't be told apart.
    if "wrong_end" not in faults or not PROFILES[profile].batches_ops
]


@pytest.mark.untraced
@pytest.mark.parametrize(("profile", "faults"), CASES)
def test_a_walk_is_explained_and_no_fault_is_made_up(profile: str, faults: tuple[str, ...]) -> None:
    expected = set() if profile == "fixed" and UNSEEN_WHERE_REPAIRED & set(faults) else WORLDS[faults]
    events = needed = 0
    first = FIRST_SEED.get((profile, faults), 0)
    for seed in range(first, first + WALKS):
        trace = walk(profile, faults, seed, STEPS)
        verdict = validate(trace, SETTINGS, PROFILES[profile])
        assert (verdict.accepted, verdict.divergence) == (True, None), f"seed {seed}"
        assert set(verdict.faults) <= expected, f"seed {seed}"
        assert replay(trace, verdict.path, verdict.constants) is None, f"seed {seed}"
        events += len(trace.events)
        needed += bool(verdict.faults)
    assert events > 8 * WALKS
    assert bool(needed) is bool(expected)
