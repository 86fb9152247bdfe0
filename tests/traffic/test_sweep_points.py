"""The points of a sweep: what the files say comes first, every value with every other one or one in each stratum."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.traffic.small_worlds import PLAIN, SLOW, plain_with
from traffic.errors import TrafficError
from traffic.simulation.simulated_broker import SimulatedBroker
from traffic.sweep.points import MOST_POINTS, AsGiven, ignored_by, points_of, values_of
from traffic.sweep.swept_setting import SweptSetting
from traffic.workload.distributions import LogNormal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from reference.format.java_properties import Setting


def given(*releases: str, workload: Mapping[str, Any] = PLAIN) -> AsGiven:
    def broker_of(release: str, more: Iterable[Setting]) -> SimulatedBroker:
        return SimulatedBroker.of(release, release, more)

    return AsGiven(releases or ("5.5.1",), broker_of, workload, Path("small.toml"))


def settings(*texts: str) -> list[SweptSetting]:
    return [SweptSetting.of(text) for text in texts]


def test_a_grid_has_each_value_with_each_other_behind_what_the_files_say() -> None:
    swept = settings("transactionTimeOut=1s,60s", "local.hangs=0.1,0.2")
    values = values_of(swept, None, 7, 1)
    assert [[value.text for value in row] for row in values] == [
        ["1s", "0.1"], ["1s", "0.2"], ["60s", "0.1"], ["60s", "0.2"]
    ]  # fmt: skip
    points = points_of(swept, values, given())
    assert [point.is_yours for point in points] == [True, False, False, False, False]
    assert [value.text for value in points[0].values] == ["6s", "0"]
    assert points[2].broker.settings.transaction_timeout_ms == 1_000
    assert points[2].workload.local.hangs == 0.2
    assert points[3].workload.local == points[1].workload.local


def test_a_value_that_the_files_have_is_no_second_point() -> None:
    swept = settings("transactionTimeOut=6s,7s")
    points = points_of(swept, values_of(swept, None, 7, 1), given())
    assert [[value.text for value in point.values] for point in points] == [["6s"], ["7s"]]


def test_a_release_that_ignores_a_setting_has_one_point_of_it() -> None:
    swept = settings("transactionOpBatchInterval=1s,10s")
    points = points_of(swept, values_of(swept, None, 7, 2), given("4.9.7", "5.5.1"))
    assert [point.release for point in points] == ["4.9.7", "5.5.1", "5.5.1", "5.5.1"]
    assert ignored_by(swept, ("4.9.7", "5.5.1")) == [
        "4.9.7 does not read transactionOpBatchInterval: no value of it makes a difference there"
    ]


def test_a_latin_hypercube_has_one_point_in_each_stratum_of_each_range() -> None:
    swept = settings("local.hangs=0..1", "local.unknown=0..0.5", "transactionCheckMax=5,15")
    values = values_of(swept, 10, 7, 1)
    assert len(values) == 10
    assert sorted(int((row[0].number or 0) * 10) for row in values) == list(range(10))
    assert sorted(min(int((row[1].number or 0) * 20), 9) for row in values) == list(range(10))
    assert sorted(row[2].text for row in values) == ["15"] * 5 + ["5"] * 5
    assert values == values_of(swept, 10, 7, 1)
    assert values != values_of(swept, 10, 8, 1)


def test_the_same_replication_of_all_points_has_the_same_seed() -> None:
    swept = settings("transactionTimeOut=1s,60s")
    points = points_of(swept, values_of(swept, None, 7, 1), given())
    seeds = [[one.seed for one in point.replications(7, 100, 4)] for point in points]
    assert seeds[0] == seeds[1] == seeds[2]
    assert len(set(seeds[0])) == 4


def test_one_end_of_a_distribution_leaves_the_other_one() -> None:
    swept = settings("local.p99=2s,4s")
    points = points_of(swept, values_of(swept, None, 7, 1), given(workload=plain_with(local={"time": SLOW})))
    times = [one.workload.local.time_ms for one in points]
    assert times == [LogNormal(1_000, 60_000), LogNormal(1_000, 2_000), LogNormal(1_000, 4_000)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "local.p99=1ms",
            "--sweep local.time.p99=1ms: local.time = { p50 = '20ms', p99 = '1ms' }: p99 (1ms) lies below p50 (20ms)",
        ),
        ("local.hangs=0.5,2", "--sweep local.hangs=2: local.hangs = 2: expected a share from 0 to 1"),
        ("crashes.every=3d", "--sweep crashes.every=3d: crashes.power_loss is missing"),
        ("flushDiskType=FLUSH", "--sweep flushDiskType=FLUSH: expected SYNC_FLUSH or ASYNC_FLUSH"),
        ("transactionCheckMax=3s", "--sweep transactionCheckMax=3s: it is no length of time"),
        ("transactionCheckMax=many", "--sweep transactionCheckMax=many: expected a whole number"),
        ("transactionTimeOut=0", "--sweep transactionTimeOut=0: expected more than 0"),
        ("transactionTimeOut=0.5ms", "--sweep transactionTimeOut=0.5ms: 0.5ms does not fit it; expected whole milli"),
        ("fileReservedTime=90m", "--sweep fileReservedTime=90m: 90m does not fit it; expected whole hours"),
        ("rejectTransactionMessage=yes", "--sweep rejectTransactionMessage=yes: expected true or false"),
    ],
)
def test_a_value_that_cannot_be_is_named_in_one_line(text: str, said: str) -> None:
    swept = settings(text)
    with pytest.raises(TrafficError) as refused:
        points_of(swept, values_of(swept, None, 7, 1), given())
    assert str(refused.value).startswith(said)
    assert "\n" not in str(refused.value)


def test_more_points_than_make_sense_are_refused() -> None:
    swept = settings("transactionTimeOut=1s..60s:20", "transactionCheckInterval=1s..60s:20")
    with pytest.raises(TrafficError, match=f"20 x 20 values in 2 releases: 800 points, more than {MOST_POINTS}"):
        values_of(swept, None, 7, 2)
    with pytest.raises(TrafficError, match=f"--points 600 values: 600 points, more than {MOST_POINTS}"):
        values_of(swept, 600, 7, 1)
    assert len(values_of(swept, 60, 7, 2)) == 60
    with pytest.raises(TrafficError, match="transactionTimeOut: it is given twice"):
        values_of([*swept, swept[0]], None, 7, 1)
