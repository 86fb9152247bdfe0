"""Statistics: number by number of traces by hand, and of walks against Spark SQL and a plain count."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import log
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from html_report.counterexamples import minimal_traces
from model_check.check import check
from model_check.question import Question
from model_check.walks.walk import Walker
from spark_trace_analysis.judge.both_ways import Count
from spark_trace_analysis.statistics.run_statistics import RareTrace, RunStatistics, statistics
from spark_trace_analysis.statistics.states_seen import count_states, states_seen
from spark_trace_analysis.statistics.transaction_tally import Fates, Records
from spark_trace_analysis.traces.manifest import TraceRun
from tests.spark_trace_analysis.conftest import event_rows

WriteRun = Callable[[Path, Sequence[Sequence[tuple[Any, ...]]]], TraceRun]


def test_distributions_of_traces_written_by_hand(spark: SparkSession, write_run: WriteRun, tmp_path: Path) -> None:
    run = write_run(
        tmp_path / "run",
        [
            [("half_stored", 0, 0, 1), ("message_delivered", 0, 0, 4), ("message_delivered", 0, 0, 9)],
            [
                ("half_stored", 0, 0, 0),
                ("half_stored", 1, 0, 0),
                ("put_back_for_check", 0, 0, 2),
                ("put_back_for_check", 0, 0, 3),
                ("put_back_for_immunity", 1, 0, 4),
                ("message_delivered", 1, 0, 4),
            ],
            [
                ("half_stored", 0, 0, 2),
                ("put_back_unasked", 0, 0, 3),
                ("half_discarded", 0, 0, 4),
                ("half_resumed", 0, 0, 5),
            ],
            [("crashed", -1)],
            [("message_delivered", 0, 0, 7)],
        ],
    )
    (found,) = statistics(spark, [run])
    assert found == RunStatistics(
        parameters=run.parameters,
        transactions=4,
        checks={0: 3, 2: 1},
        put_backs={0: 1, 1: 2, 2: 1},
        half_offsets={1: 1, 2: 1, 3: 2},
        deliveries={0: 2, 1: 1, 2: 1},
        time_to_delivery={3: 1, 4: 1},
        actions={"by_hand": 15},
        records={3: 3, 4: 1},
        settled_lag={},
        age_at_discard={2: 1},
        op_lag={},
        fates=Fates(doubled=1, lost=0, parked=0, late_refused=0),
        written=Records(halves=4, copies=5, ops=0, real=3, discarded=1),
        pairs={("by_hand", "by_hand"): 10},
        rarest=(RareTrace(0, 0.0), RareTrace(1, 0.0), RareTrace(2, 0.0)),
    )


def test_statistics_of_walks_count_every_event(
    spark: SparkSession, gathered: list[RunStatistics], simulated: list[TraceRun]
) -> None:
    for run, found in zip(simulated, gathered, strict=True):
        assert sum(found.actions.values()) == run.manifest.events
        assert sum(found.pairs.values()) == run.manifest.events - run.parameters.traces
        assert found.transactions == sum(found.deliveries.values()) == sum(found.half_offsets.values())
        assert found.transactions > 0


@pytest.fixture(scope="module")
def gathered(spark: SparkSession, simulated: list[TraceRun]) -> list[RunStatistics]:
    return list(statistics(spark, simulated))


COUNTED_BY_SQL = """
    WITH tallied AS (
        SELECT run, trace, transaction,
            count_if(event = 'half_stored') AS halves,
            count_if(event = 'put_back_for_check') AS checks,
            count_if(event LIKE 'put_back_%') AS put_backs,
            count_if(event = 'half_resumed') AS resumed,
            count_if(event = 'message_delivered') AS deliveries,
            count_if(event = 'op_stored') AS ops,
            count_if(event = 'half_discarded' AND action != 'discard_half_unrecorded') AS discarded,
            count_if(action = 'refuse_late_end') AS late,
            min(CASE WHEN event = 'message_delivered' THEN time END)
                - min(CASE WHEN event = 'half_stored' THEN time END) AS time_to_delivery,
            min_by(time, step) FILTER (WHERE event = 'half_discarded')
                - min(CASE WHEN event = 'half_stored' THEN time END) AS age_at_discard,
            max_by(event, step) FILTER (WHERE event IN ('half_discarded', 'half_missed', 'half_resumed')
                OR event LIKE 'put_back_%') AS last_left,
            max_by(action, step) FILTER (WHERE event = 'half_discarded') AS last_discard,
            max_by(event, step) FILTER (WHERE event IN ('half_discarded', 'half_resumed')) AS last_parking,
            coalesce(max_by(outcome, step) FILTER (WHERE event = 'local_outcome') = 1, false) AS is_commit
        FROM events WHERE transaction >= 0 GROUP BY run, trace, transaction)
    SELECT *, put_backs + halves + resumed AS half_offsets,
        halves + put_backs + resumed + ops + deliveries + discarded AS records,
        deliveries > 1 AS doubled,
        coalesce(last_parking = 'half_discarded' AND last_discard != 'discard_half_unrecorded', false) AS parked,
        is_commit AND deliveries = 0 AND coalesce(last_left = 'half_missed'
            OR (last_left = 'half_discarded' AND last_discard = 'discard_half_unrecorded'), false) AS lost
    FROM tallied WHERE halves > 0
"""


def test_statistics_of_walks_are_those_of_spark_sql(
    spark: SparkSession, gathered: list[RunStatistics], simulated: list[TraceRun]
) -> None:
    event_rows(spark, simulated).createOrReplaceTempView("events")
    counted = spark.sql(COUNTED_BY_SQL).toPandas()
    for number, found in enumerate(gathered):
        here = counted[counted["run"] == number]
        assert found.transactions == len(here)
        for quantity in (
            "checks",
            "put_backs",
            "half_offsets",
            "deliveries",
            "records",
            "time_to_delivery",
            "age_at_discard",
        ):
            expected = here[quantity].dropna().astype(int).value_counts().to_dict()
            assert getattr(found, quantity) == expected, quantity
        doubled, lost, parked = (int(here[name].sum()) for name in ("doubled", "lost", "parked"))
        assert found.fates == Fates(doubled, lost, parked, late_refused=int((here["late"] > 0).sum()))
        sums = {
            name: int(here[name].sum()) for name in ("halves", "put_backs", "resumed", "ops", "deliveries", "discarded")
        }
        assert (found.written.halves, found.written.copies) == (sums["halves"], sums["put_backs"] + sums["resumed"])
        assert (found.written.real, found.written.discarded) == (sums["deliveries"], sums["discarded"])
    assert any(found.fates.doubled for found in gathered)
    assert any(len(found.put_backs) > 1 for found in gathered), (
        "some half is put back, or the distribution says nothing"
    )


def test_lags_pairs_and_rarity_of_walks_are_those_of_a_plain_count(
    gathered: list[RunStatistics], simulated: list[TraceRun]
) -> None:
    for run, found in zip(simulated, gathered, strict=True):
        traces: dict[int, list[dict[str, Any]]] = {}
        for row in pq.read_table(run.folder / run.manifest.files[0].name).to_pylist():
            traces.setdefault(row["trace"], []).append(row)
        pairs = Counter((a["action"], b["action"]) for rows in traces.values() for a, b in pairwise(rows))
        assert found.pairs == pairs
        assert found.actions == Counter(row["action"] for rows in traces.values() for row in rows)
        total = pairs.total()
        rarity = {
            number: fmean(log(pairs[a["action"], b["action"]] / total) for a, b in pairwise(rows))
            for number, rows in traces.items()
        }
        expected = sorted(rarity.values())[:5]
        assert [one.mean_log_frequency for one in found.rarest] == pytest.approx(expected, abs=1e-6)
        assert [rarity[one.trace] for one in found.rarest] == pytest.approx(expected, abs=1e-6)
        op_lag, shared = Counter[int](), 0
        for rows in traces.values():
            waiting: list[int] = []
            for row in rows:
                if row["event"] == "op_buffered":
                    waiting.append(row["time"])
                elif row["event"] == "op_stored" and row["transaction"] < 0:
                    op_lag.update(row["time"] - since for since in waiting)
                    shared += 1
                    waiting = []
                elif row["transaction"] < 0 and row["event"] in {
                    "op_lost",
                    "crashed",
                    "power_lost",
                    "stopped",
                    "role_changed",
                }:
                    waiting = []
        assert found.op_lag == op_lag
        own = sum(row["event"] == "op_stored" and row["transaction"] >= 0 for rows in traces.values() for row in rows)
        assert found.written.ops == own + shared
    assert any(len(found.op_lag) > 1 for found in gathered)


def test_the_states_that_walks_see_are_those_that_a_plain_walk_sees(
    spark: SparkSession, simulated: list[TraceRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = [replace(run.parameters, traces=50) for run in simulated[:2]]
    seen = []
    for parameters in few:
        walker = Walker(parameters.world)
        seen.append(len(walker.visited(parameters.seed, 0, 50, parameters.steps)))
    assert count_states(spark, few) == seen
    monkeypatch.setattr("spark_trace_analysis.statistics.states_seen.WALKS", 2_500)
    (of_more,) = states_seen(spark, simulated[:1])
    assert seen[0] < of_more.seen <= of_more.states
    assert of_more.states == check(Question(world=few[0].world)).numbers.distinct


def test_a_minimal_trace_is_made_again_up_to_its_violation(simulated: list[TraceRun]) -> None:
    run = simulated[1]
    traces: dict[int, list[dict[str, Any]]] = {}
    for row in pq.read_table(run.folder / run.manifest.files[0].name).to_pylist():
        traces.setdefault(row["trace"], []).append(row)

    def broken_after(rows: list[dict[str, Any]]) -> int | None:
        seen = set()
        for number, row in enumerate(rows, start=1):
            if row["event"] == "message_delivered":
                if row["transaction"] in seen:
                    return number
                seen.add(row["transaction"])
        return None

    broken = {number: after for number, rows in traces.items() if (after := broken_after(rows)) is not None}
    after, number = min((after, number) for number, after in broken.items())
    count = Count(run.parameters, "S1", len(broken), min(broken), number, after)
    (least,) = minimal_traces([run], [count])
    assert [step.step.action.name for step in least.events] == [row["action"] for row in traces[number][:after]]
    assert (least.property_id, set(least.world.environment)) == ("S1", {"crash", "lose_end"})
    assert least.clause, "the specification says so, too"
    assert least.command.startswith("halfcheck replay --profile 5.3.3 --instance tiny --faults crash,lose_end --steps ")
    assert least.messages[-1].is_violation
