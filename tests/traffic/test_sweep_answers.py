"""Differences of paired replications, what no other point beats, and what to change, out of counts made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from document.parts import Table
from halfcheck.sweeping.in_words import parts, sentences
from html_report.sweep_plots import draw_sweep
from tests.traffic.small_worlds import SLOW, broker, workload
from traffic.simulation.counts import TrafficCounts
from traffic.simulation.simulate import simulate
from traffic.sweep.differences import paired
from traffic.sweep.points import SweepPoint
from traffic.sweep.sweep_answer import AIMS, CHECKS, DELAY, DOUBLED_OR_LOST, SweepAnswer
from traffic.sweep.swept_setting import SweptSetting, SweptValue

if TYPE_CHECKING:
    from collections.abc import Sequence

SETTING = SweptSetting.of("transactionTimeOut=1s,30s,60s")
A_DAY = 20 * 86_400 / 1_000
"""For each event of 1,000 transactions, at 20 a second."""


def counts(doubled: int, delay_ms: float, checks: int) -> TrafficCounts:
    made = TrafficCounts(transactions=1_000, checks=checks, arriving_ms=50_000.0)
    for _ in range(doubled):
        made.befell("doubled", "A11")
    for _ in range(200):
        made.commit_to_delivery_ms.add(delay_ms)
    return made


def answer(*points: tuple[str, Sequence[tuple[int, float, int]]], releases: Sequence[str] = ()) -> SweepAnswer:
    """Of points by the text of their value, each with what its replications have: doubled, delay, checks."""
    made = [
        SweepPoint(
            releases[place] if releases else "5.5.1",
            () if releases else (SweptValue(text, float(text.rstrip("s")) * 1_000),),
            broker("5.5.1"),
            workload(),
            is_yours=place == 0 or bool(releases),
        )
        for place, (text, _) in enumerate(points)
    ]
    return SweepAnswer(() if releases else (SETTING,), made, [[counts(*each) for each in own] for _, own in points])


def test_pairs_show_a_difference_that_the_replications_own_spread_hides() -> None:
    mine, its = [10.0, 200.0, 3_000.0], [9.0, 198.9, 2_999.1]
    assert paired(mine, its).is_sure
    assert not paired(mine, [198.9, 2_999.1, 9.0]).is_sure, "the same figures in other pairs"


def test_what_was_not_seen_may_differ_by_three_events() -> None:
    found = answer(("6s", [(0, 5, 1)] * 3), ("30s", [(0, 5, 1)] * 3))
    gap = found.points[1].differs_from(found.yours, "doubled")
    assert (gap.value, gap.low, gap.high) == pytest.approx((0, -A_DAY, A_DAY))


def test_common_random_numbers_give_two_brokers_the_same_transactions() -> None:
    mess: dict[str, Any] = {
        "local": {"time": SLOW, "rollback": 0.2, "hangs": 0.01},
        "network": {"loss_to_broker": 0.05},
    }
    slow, quick = broker("5.5.1"), broker("4.9.7")
    mine, its = (simulate(one, workload(**mess), 7, 400) for one in (slow, quick))
    same = ("transactions", "arriving_ms", "body_bytes", "acknowledged", "decided_commit")
    assert [getattr(mine, name) for name in same] == [getattr(its, name) for name in same]
    assert mine != its, "the brokers differ"
    assert simulate(slow, workload(**mess), 8, 400).decided_commit != mine.decided_commit


def test_the_front_holds_what_no_other_point_beats() -> None:
    spread = [(12, 50.0, 9), (8, 52.0, 11), (10, 51.0, 10)]
    fewer = [(2, 80.0, 9), (1, 82.0, 11), (3, 81.0, 10)]
    worse = [(32, 80.0, 9), (28, 82.0, 11), (30, 81.0, 10)]
    found = answer(("6s", spread), ("30s", fewer), ("60s", worse))
    assert [one.point.values[0].text for one in found.front] == ["30s", "6s"], "60s has more of all"
    assert found.points[0].beats(found.points[2])
    assert not found.points[0].beats(found.points[1])
    assert not found.points[1].beats(found.points[0])


def test_a_point_that_is_as_good_within_the_intervals_stays() -> None:
    found = answer(("6s", [(1, 5, 1), (2, 6, 2), (0, 4, 3)]), ("30s", [(2, 6, 1), (1, 4, 3), (1, 5, 2)]))
    assert len(found.front) == 2


def test_sentences_say_what_to_change_and_what_it_costs() -> None:
    yours = [(12, 50.0, 9), (8, 52.0, 11), (10, 51.0, 10)]
    fewer = [(2, 80.0, 9), (0, 82.0, 11), (1, 81.0, 10)]
    found = answer(("6s", yours), ("30s", fewer))
    best = found.best(DOUBLED_OR_LOST, found.points, found.yours)
    assert best is found.points[1]
    assert found.best(DELAY, found.points, found.yours) is None
    said = list(sentences(found))
    assert said[0].startswith("Your settings in RocketMQ 5.5.1 (transactionTimeOut 6s): 17,280 (")
    assert said[1].startswith(
        "For fewer messages doubled or lost: change transactionTimeOut from 6s to 30s: 15,552 fewer (11,259 to 19,845)"
        " doubled a day, lost as before"
    )
    assert "mean delay from 51 ms to 81 ms (30 ms to 30 ms more, p99 52 ms to 81.9 ms)" in said[1]
    assert said[2] == "Nothing that was swept has less delay than your settings, as far as these runs show."
    assert said[3] == "Nothing that was swept has fewer checks than your settings, as far as these runs show."


def test_releases_side_by_side_say_what_an_upgrade_brings_by_cause() -> None:
    yours, its = [(12, 50.0, 9), (8, 52.0, 11), (10, 51.0, 10)], [(2, 50.0, 9), (0, 52.0, 11), (1, 51.0, 10)]
    found = answer(("", yours), ("", its), releases=("4.9.7", "5.5.1"))
    said = list(sentences(found))
    assert len(said) == 2
    assert said[1].startswith(
        "Upgrade from 4.9.7 to 5.5.1: 15,552 fewer (11,259 to 19,845) doubled a day, lost as before"
    )
    table = next(part for part in parts(found) if isinstance(part, Table))
    assert table.columns == ("~a day", ">4.9.7", ">5.5.1", ">5.5.1 against 4.9.7")
    (doubled, _, _, gap), (by, *caused) = table.rows[:2]
    assert (doubled, gap) == ("doubled", "−15,552 (11,259 to 19,845)")
    assert str(by).startswith("by A11 (")
    assert caused == ["17,280", "1,728", ""]


def test_json_has_each_point_with_its_differences_from_yours() -> None:
    found = answer(("6s", [(1, 5.0, 1)] * 3), ("30s", [(2, 6.0, 2)] * 3)).to_json()
    assert found["settings"] == [{"name": "transactionTimeOut", "values": ["1s", "30s", "60s"]}]
    assert [point["settings"]["transactionTimeOut"] for point in found["points"]] == ["6s", "30s"]
    more = found["points"][1]["more_than_yours"]
    assert set(more) >= {*AIMS, "doubled", "lost"}
    assert more[CHECKS]["value"] == pytest.approx(A_DAY)
    assert set(found["front"]) <= {0, 1}


def test_a_difference_that_may_be_chance_says_what_was_seen() -> None:
    found = answer(
        ("", [(1, 5.0, 1), (9, 5.0, 1), (2, 5.0, 1)]),
        ("", [(9, 5.0, 1), (2, 5.0, 1), (4, 5.0, 1)]),
        releases=("4.9.7", "5.5.1"),
    )
    assert not found.points[1].differs_from(found.yours, "doubled").is_sure
    assert "1,728 more doubled a day, which may be chance (" in list(sentences(found))[1]


def test_an_upgrade_names_the_settings_that_change_with_the_release() -> None:
    two = answer(("", [(1, 5.0, 1)] * 3), ("", [(1, 5.0, 1)] * 3), releases=("4.9.7", "5.5.1"))
    assert "As your files" not in list(sentences(two))[1], "both have the settings of one broker here"
    points = [replace(two.points[0].point, broker=broker("4.9.7")), two.points[1].point]
    found = SweepAnswer((), points, [[counts(1, 5.0, 1)] * 3] * 2)
    changes = "As your files leave it to the release, transactionCheckInterval goes from 60s to 30s."
    assert list(sentences(found))[1].endswith(changes)


def test_many_releases_have_a_line_each_and_the_best_a_sentence() -> None:
    same, fewer = [(12, 5.0, 9), (8, 5.0, 11), (10, 5.0, 10)], [(2, 5.0, 9), (0, 5.0, 11), (1, 5.0, 10)]
    names = ("4.5.1", "4.7.1", "4.9.7", "5.3.3", "5.5.1")
    found = answer(*[("", same)] * 4, ("", fewer), releases=names)
    said = list(sentences(found))
    assert [sentence.partition(":")[0] for sentence in said[1:]] == ["Upgrade from 4.5.1 to 5.5.1"]
    rows, causes = (part for part in parts(found) if isinstance(part, Table))
    assert [row[0] for row in rows.rows] == list(names)
    assert rows.rows[-1][2] == "−15,552 (11,259 to 19,845)"
    assert causes.columns == ("~a day", *(f">{name}" for name in names))


def test_an_axis_by_factors_shows_an_interval_that_begins_at_0() -> None:
    wide = [(1, 1.0, 1), (1, 1.0, 1), (1, 3_000.0, 1)]
    narrow = [(1, 1.0, 1)] * 3
    found = answer(("1s", narrow), ("30s", wide), ("60s", narrow))
    assert found.points[1].aims[DELAY].low == 0
    (delay,) = (plot for plot in draw_sweep(found) if plot.title == "Delay")
    ((drawn,),) = ([drawing.svg for drawing in delay.drawings],)
    assert "NaN" not in drawn
    assert ">100<" in drawn, "a power of ten stands at the axis"
