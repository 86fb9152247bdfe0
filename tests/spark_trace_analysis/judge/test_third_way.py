"""The third way: what the specification's own clauses say of the states of a walk, against what its trace shows."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest

from spark_trace_analysis.judge.by_expressions import find_broken
from spark_trace_analysis.judge.by_kernel import find_violations
from spark_trace_analysis.judge.properties import ALL, Invariant
from tests.spark_trace_analysis.judged_walks import JudgedWalks, judged_walks

WORLDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "old": ("4.5.1", ("crash", "lose_end", "slow_local", "null_half", "put_failure")),
    "batched": ("5.3.3", ("crash", "lose_end", "duplicate_end", "slow_local", "late_end", "op_write_failure")),
    "wrong": ("5.4.0", ("wrong_end", "twin_send", "resume_discarded", "offline_producer", "clock_skew", "clock_step")),
    "powerless": ("4.9.7", ("power_loss", "crash", "offset_regression", "lose_end", "slow_local", "bad_store_status")),
    "acting": ("5.3.3", ("acting_slave", "role_change", "undecodable_half", "undecodable_op", "graceful_stop")),
    "repaired": ("fixed", ("crash", "lose_end", "power_loss", "put_failure", "wrong_end", "slow_local")),
}
JUDGED = ("trace", "time", "event", "action", "transaction", "half", "copy", "check_times", "outcome")
NOWHERE_BROKEN = {"S4", "S5"}
"""S4 takes two transactions, and there is one here; and no version delivers what nobody asked for."""


@cache
def walks(world: str) -> JudgedWalks:
    profile, faults = WORLDS[world]
    return judged_walks(profile, faults, "tiny", walks=1_500, steps=40, seed=11)


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


@pytest.mark.parametrize("invariant", ALL, ids=lambda each: each.property_id)
@pytest.mark.parametrize("world", WORLDS)
def test_a_trace_shows_a_violation_only_where_some_state_is_one(world: str, invariant: Invariant) -> None:
    judged = walks(world)
    shown = find_violations(judged.traces, invariant, judged.settings)
    real = judged.broken_at[invariant.property_id]
    assert not np.any((shown > 0) & (real == 0)), "each violation that is shown is real"
    assert not np.any((shown > 0) & (shown < real)), "and is shown when it has happened"
    if invariant.is_exact:
        assert shown.tolist() == real.tolist(), "each violation is shown, and with the event that made it"


@pytest.mark.parametrize("world", WORLDS)
def test_the_expressions_say_of_each_walk_what_the_kernels_say(world: str) -> None:
    judged = walks(world)
    rows = pl.DataFrame({name: getattr(judged.traces, name) for name in JUDGED})
    rows = rows.with_columns(step=pl.int_range(pl.len(), dtype=pl.Int32).over("trace"))
    broken = find_broken(rows, ALL, judged.settings)
    for invariant in ALL:
        mine = broken.filter(pl.col("property") == invariant.property_id)
        by_expression = dict(zip(mine["trace"], mine["events"], strict=True))
        at = find_violations(judged.traces, invariant, judged.settings)
        numbers = judged.traces.trace[judged.traces.starts[:-1]]
        assert by_expression == {int(numbers[n]): int(at[n]) for n in np.flatnonzero(at)}


@pytest.mark.parametrize("invariant", ALL, ids=lambda each: each.property_id)
def test_some_world_shows_a_violation(invariant: Invariant) -> None:
    shown = [
        int(np.count_nonzero(find_violations(walks(world).traces, invariant, walks(world).settings)))
        for world in WORLDS
    ]
    assert (sum(shown) == 0) is (invariant.property_id in NOWHERE_BROKEN), shown
