"""Each run that milliseconds allow, ticks allow, too: runs drawn near the sums of times, and systems of differences."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import pytest

from model_check.broker_conf.ticks import MOST_TICKS, Quotient, quotient_of, switched_on
from model_check.configuration import Configuration, read_duration
from model_check.errors import ModelCheckError
from model_check.instances import load_instance
from model_check.world import Environment
from tests.model_check.broker_conf.drawn import all_drawn

pytestmark = pytest.mark.untraced

BATCHES = ("batches_ops", "batch_thread_oversleeps")


def quotient(base: str = "deep", on: tuple[str, ...] = BATCHES, **settings: Any) -> Quotient:
    return quotient_of(Configuration.of_release("5.3.3", **settings), load_instance(base), on)


def has_instants(count: int, bounds: list[tuple[int, int, int]]) -> bool:
    """Whether some instants fit `later - earlier >= least` for each bound: no cycle adds up to more than zero."""
    instants = [0] * count
    for _ in range(count + 1):
        if all(instants[later] - instants[earlier] >= least for later, earlier, least in bounds):
            return True
        for later, earlier, least in bounds:
            instants[later] = max(instants[later], instants[earlier] + least)
    return False


def one_near(chance: Random, least: int, most: int | None, turns: list[int]) -> int:
    """An instant between two, at one at which something turns or next to it."""
    near = [
        turn + by for turn in turns for by in (-1, 0, 1) if turn + by >= least and (most is None or turn + by <= most)
    ]
    return chance.choice([least, *near, *([most] if most is not None else [])])


def run_in_ticks(chance: Random, found: Quotient, *, batches: bool) -> bool:
    """Draw a run of one half in milliseconds, its END_TRANSACTION, its op and rounds; can it be in ticks as well?

    In ticks each comparison that a rule makes must come out the same.
    """
    real, ticks = found.real_ms, found.ticks
    interval, batch = real["check interval"], real["op batch interval"]
    ages = [name for name in real if name.startswith(("timeout", "immunity", "reserved"))]
    own = chance.choice([name for name in ages if not name.startswith("reserved")])
    limit = "local transaction" if "local transaction" in real else max(("timeout", own), key=lambda name: real[name])
    turns = [real[name] + k * batch + j * interval for name in ages for k in (0, 1, 2) for j in (0, 1)]
    end = one_near(chance, 0, real[limit], [turn - k * batch for turn in turns for k in (1, 2)])
    written = one_near(chance, end + batch, end + 2 * batch, turns) if batches else end
    rounds = [one_near(chance, 1, None, [*turns, end, written, end + batch])]
    for _ in range(found.instance.half_slots - 1):
        rounds.append(one_near(chance, rounds[-1] + interval, None, turns))
    instants = [0, end, written, *rounds]
    bounds = [(1, 0, 0), (0, 1, -ticks[limit])]
    if batches:
        bounds += [(2, 1, ticks["op batch interval"]), (1, 2, -2 * ticks["op batch interval"])]
    for number, moment in enumerate(rounds, start=3):
        bounds.append((number, 0, 1))
        compared = [(0, name) for name in ages] + ([(1, "op batch interval")] if end <= moment <= written else [])
        for since, name in compared:
            difference = moment - instants[since] - real[name]
            bounds += [(number, since, ticks[name] + (difference > 0))] if difference >= 0 else []
            bounds += [(since, number, -ticks[name] + (difference < 0))] if difference <= 0 else []
    bounds += [(number + 1, number, ticks["check interval"]) for number in range(3, 2 + len(rounds))]
    bounds += [(b, a, 0) for a, b in pairwise(sorted(range(len(instants)), key=lambda n: (instants[n], n)))]
    return has_instants(len(instants), bounds)


@pytest.mark.parametrize(("seed", "count", "runs"), [(1, 12, 100), pytest.param(2, 400, 400, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("base", ["tiny", "deep", "small"])
def test_each_run_of_a_half_in_milliseconds_is_one_in_ticks(base: str, seed: int, count: int, runs: int) -> None:
    chance = Random(seed)
    for configuration, _ in all_drawn(seed, count):
        on = switched_on(configuration.profile, Environment())
        found = quotient_of(configuration, load_instance(base), on)
        batches = "batches_ops" in on
        missed = sum(not run_in_ticks(chance, found, batches=batches) for _ in range(runs))
        assert missed == 0 or found.doubt, (configuration, found.ticks)


def test_a_tick_for_an_immunity_leaves_no_room_within_it() -> None:
    """With one tick no round finds a half immune that was stored before it."""
    found = quotient("tiny", (), immunities_ms=(6_000,))
    assert found.ticks["immunity of 6 s"] == found.ticks["timeout"] == 2
    coarse = Quotient(found.real_ms, found.ticks | {"timeout": 1, "immunity of 6 s": 1}, (15, 2), (), found.instance)
    chance = Random(5)
    assert all(run_in_ticks(chance, found, batches=False) for _ in range(300))
    assert not all(run_in_ticks(chance, coarse, batches=False) for _ in range(300))


def test_the_instance_has_the_sizes_that_were_asked_for_and_these_ticks() -> None:
    found = quotient("deep", immunities_ms=(60_000,), op_message_max_size=3)
    instance, base = found.instance, load_instance("deep")
    assert (instance.transactions, instance.half_slots, instance.op_slots) == (1, base.half_slots, base.op_slots)
    assert (instance.timeout, instance.immunities, instance.check_interval) == (6, (-1, 34), 17)
    assert (instance.op_batch_interval, instance.op_batch_size) == (3, 2)
    assert "transactionCheckMax=3 (really 15)" in found.sentence()
    assert "all checks but one > immunity of 1 min" in found.sentence()
    assert (
        "2 × op batch interval = timeout" in found.sentence() or "timeout = 2 × op batch interval" in found.sentence()
    )


def test_what_no_switch_makes_matter_is_not_compared() -> None:
    told = quotient("tiny", ()).sentence()
    assert "batch" not in told
    assert "round limit" not in told
    assert "round limit > timeout" in quotient("tiny", ("slow_round",)).sentence()


def test_offsets_are_saved_at_any_time_in_ticks() -> None:
    assert quotient("pair").instance.persist_interval == -1


@pytest.mark.parametrize("count", [6, 65])
def test_orders_that_no_few_ticks_keep_leave_what_holds_unknown(count: int) -> None:
    found = quotient("deep", immunities_ms=tuple(range(20_000, 20_000 + count * 7_000, 7_000)))
    assert found.doubt.startswith(f"no times of at most {MOST_TICKS} ticks keep the order of all sums")
    assert max(found.ticks.values()) <= MOST_TICKS


@pytest.mark.parametrize("text", ["60", "1.5s", "-1s", "0s", "s", "60 s", "1d", ""])
def test_a_duration_without_a_unit_or_sense_is_refused(text: str) -> None:
    with pytest.raises(ModelCheckError, match=r"--immunity .*: expected a whole number with a unit, such as 500ms"):
        read_duration("--immunity", text)
