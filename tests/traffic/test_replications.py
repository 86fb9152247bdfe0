"""Short replications meet check rounds, restarts and deployments as often as long ones do."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log
from statistics import NormalDist
from typing import Any, Final

import pytest

from tests.traffic.small_worlds import broker, workload
from traffic.rates.intervals import share_of
from traffic.simulation.causes import RUNNING
from traffic.simulation.replications import LEAST_INTERVALS, number_of_replications, replications_of

P50_S: Final = 2
P99_S: Final = 20
LOCAL = {"time": {"p50": f"{P50_S}s", "p99": f"{P99_S}s"}}
A_SECOND: Final = 20
PRODUCERS: Final = 2


def mean_beyond(least_s: float) -> float:
    """By how many seconds a local transaction outlasts so many, on the mean: that of a log-normal distribution."""
    normal = NormalDist()
    deviation = log(P99_S / P50_S) / normal.inv_cdf(0.99)
    depth = (log(P50_S) - log(least_s)) / deviation
    mean = P50_S * exp(deviation**2 / 2)
    return mean * normal.cdf(depth + deviation) - least_s * normal.cdf(depth)


@pytest.mark.parametrize(("number", "each"), [(120, 100), (4, 1_500)])
def test_rounds_meet_slow_transactions_as_often_in_short_runs_as_in_long_ones(number: int, each: int) -> None:
    fixed, given = broker("fixed"), workload(transactions={"per_second": A_SECOND}, local=LOCAL)
    counts = [run.run() for run in replications_of(fixed, given, 7, number * each, number)]
    asked = share_of([each.causes["checked_needlessly"][RUNNING] for each in counts], [each] * number)
    settings = fixed.settings
    expected = mean_beyond(settings.transaction_timeout_ms / 1000) / (settings.transaction_check_interval_ms / 1000)
    assert asked is not None
    assert expected / 2 < asked.low < expected < asked.high < 2 * expected


@pytest.mark.parametrize(
    ("section", "lasts", "counted", "processes"),
    [
        ("restarts", {"away": "100ms"}, "restarts", 1),
        ("deployments", {"away": "100ms"}, "deployments", PRODUCERS),
        ("crashes", {"power_loss": 0.0, "restart": "100ms"}, "crashes", 1),
        ("pauses.broker", {"lasts": "1ms"}, "broker_pauses", 1),
    ],
)
def test_what_befalls_a_process_now_and_then_befalls_it_in_short_runs_too(
    section: str, lasts: dict[str, Any], counted: str, processes: int
) -> None:
    number, transactions, every_s = 120, 100, 20
    given = workload(transactions={"per_second": A_SECOND}, **{section: {"every": f"{every_s}s", **lasts}})
    runs = replications_of(broker("5.5.1"), given, 7, number * transactions, number)
    expected = number * transactions / A_SECOND / every_s * processes
    assert 0.6 < sum(getattr(run.run(), counted) for run in runs) / expected < 1.4


def test_a_brokers_phases_are_shared_out_evenly_however_many_runs_there_are() -> None:
    own = broker("5.3.3")
    runs = replications_of(own, workload(), 7, 400, 40)
    interval = own.settings.transaction_check_interval_ms
    for first in (10, 20, 40):
        shares = sorted(run.quiet_ms / interval for run in runs[:first])
        assert shares[0] >= 0
        assert max(b - a for a, b in zip(shares, (*shares[1:], 1 + shares[0]), strict=True)) < 2 / first
    other = replications_of(own, workload(), 8, 400, 40)
    assert runs[0].quiet_ms != other[0].quiet_ms


@pytest.mark.parametrize(
    ("transactions", "per_second", "interval_s", "number"),
    [(1_000_000, 200, 30, 16), (100_000, 200, 30, 8), (1_000_000, 20, 30, 20), (100_000, 20, 60, 8), (8, 20, 30, 8)],
)
def test_there_are_so_many_runs_as_last_ten_check_intervals(
    transactions: int, per_second: int, interval_s: int, number: int
) -> None:
    own = broker("5.3.3")
    given = workload(transactions={"per_second": per_second})
    own = replace(own, settings=replace(own.settings, transaction_check_interval_ms=1000 * interval_s))
    assert number_of_replications(None, own, given, transactions) == number
    if 8 < number < 20:
        assert transactions / number / per_second >= LEAST_INTERVALS * interval_s
