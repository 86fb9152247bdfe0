"""How the broker's clock follows the real one, or nobody but a test; and what a client's timestamp is by it."""

from __future__ import annotations

import time

import pytest

from reference.simulation.virtual_clock import VirtualClock
from wire.node.pace import Pace


@pytest.mark.parametrize("age_ms", [0, 5_000, -1_000])
def test_a_message_is_as_old_by_the_brokers_clock_as_by_the_clients_however_fast_time_goes(age_ms: int) -> None:
    clock = VirtualClock(1_000_000_000)
    pace = Pace(clock, 60.0)
    before = time.time() * 1_000
    born = before - age_ms
    found = pace.of_client(int(born))
    after = time.time() * 1_000
    assert clock.now + int(born) - after - 1 <= found <= clock.now + int(born) - before + 1


def test_where_time_stands_still_every_message_is_born_now() -> None:
    assert Pace(VirtualClock(500), None).of_client(123) == 500


def test_only_a_push_moves_a_clock_that_stands_still() -> None:
    clock = VirtualClock(500)
    pace = Pace(clock, None)
    assert (pace.target, pace.seconds_until(600)) == (500, None)
    pace.push(250)
    assert pace.target == 750
    clock.advance(400)
    pace.push(10)
    assert pace.target == 910


def test_a_push_goes_from_where_a_clock_stands_that_lags_behind() -> None:
    """Else a push of a day would take as long as all that the clock is behind."""
    pace = Pace(VirtualClock(0), 1e6)
    while pace.target < 1_000_000:
        pass
    pace.push(1)
    assert pace.target < 1_000_000


def test_a_push_is_added_to_what_time_does_by_itself() -> None:
    clock = VirtualClock(0)
    pace = Pace(clock, 2.0)
    clock.advance(5_000)
    pace.push(60_000)
    assert pace.target >= 65_000
    wait = pace.seconds_until(1 << 40)
    assert wait is not None
    assert 0 < wait <= (1 << 40) / 2_000
    assert pace.seconds_until(0) == 0
