"""What engineers ask of many traces, as Spark aggregations: each result is small whatever the number of traces.

A transaction counts from the moment when its half is stored; one that never got that far is not in any distribution.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from pyspark.sql import SparkSession

from spark_trace_analysis.judge import event_rows
from spark_trace_analysis.manifest import Run

_TRANSACTIONS = """
    SELECT
        run, trace, transaction,
        count_if(event = 'put_back_for_check') AS checks,
        count_if(event IN ('put_back_for_check', 'put_back_for_immunity')) AS put_backs,
        count_if(event IN ('half_stored', 'put_back_for_check', 'put_back_for_immunity')) AS half_offsets,
        count_if(event = 'message_delivered') AS deliveries,
        min(CASE WHEN event = 'message_delivered' THEN time END) - min(CASE WHEN event = 'half_stored' THEN time END)
            AS time_to_delivery
    FROM events
    WHERE transaction >= 0 AND event IN
        ('half_stored', 'put_back_for_check', 'put_back_for_immunity', 'message_delivered')
    GROUP BY run, trace, transaction
    HAVING count_if(event = 'half_stored') > 0
"""

_DISTRIBUTIONS = f"""
    SELECT run, stack(5,
            'checks', checks,
            'put_backs', put_backs,
            'half_offsets', half_offsets,
            'deliveries', deliveries,
            'time_to_delivery', time_to_delivery) AS (quantity, value),
        transactions
    FROM (
        SELECT run, checks, put_backs, half_offsets, deliveries, time_to_delivery, count(*) AS transactions
        FROM ({_TRANSACTIONS})
        GROUP BY run, checks, put_backs, half_offsets, deliveries, time_to_delivery
    )
"""  # noqa: S608 (constants of this file)

Distribution = Mapping[int, int]
"""Value → number of transactions that have it."""


@dataclass(frozen=True)
class RunStatistics:
    """The distributions of one run.

    Attributes
    ----------
    profile, environment
        Of the run; the environment as the report writes it.
    traces, transactions
        How many traces there are, and how many transactions in them had a half stored.
    checks, put_backs
        Checks of a transaction, each of which begins with a put-back; all copies of its half that the check service
        wrote, those of an immunity included.
    half_offsets
        Offsets of the half queue that a transaction used up, its first one included.
    deliveries
        Messages of a transaction that consumers got.
    time_to_delivery
        Ticks from the first half to the first delivery, of those that were delivered.
    actions
        Action of the specification → how often it was taken.
    """

    profile: str
    environment: str
    traces: int
    transactions: int
    checks: Distribution
    put_backs: Distribution
    half_offsets: Distribution
    deliveries: Distribution
    time_to_delivery: Distribution
    actions: Mapping[str, int]


@dataclass(frozen=True)
class Statistics:
    """The statistics of each run, in the order in which the runs were given, and the seconds that they took."""

    runs: tuple[RunStatistics, ...]
    seconds: float = field(compare=False)


def statistics(spark: SparkSession, runs: Sequence[Run]) -> Statistics:
    """Aggregate runs; two passes over their events."""
    began = perf_counter()
    event_rows(spark, runs).createOrReplaceTempView("events")
    found: list[dict[str, dict[int, int]]] = [{} for _ in runs]
    totals = f"""
        SELECT run, quantity, value, sum(transactions) AS transactions
        FROM ({_DISTRIBUTIONS}) WHERE value IS NOT NULL GROUP BY run, quantity, value ORDER BY run, quantity, value
    """  # noqa: S608 (constants of this file)
    for row in spark.sql(totals).collect():
        found[row["run"]].setdefault(row["quantity"], {})[row["value"]] = row["transactions"]
    actions: list[dict[str, int]] = [{} for _ in runs]
    for row in spark.sql(
        "SELECT run, action, count(*) AS n FROM events GROUP BY run, action ORDER BY run, action"
    ).collect():
        actions[row["run"]][row["action"]] = row["n"]
    return Statistics(
        tuple(_of_run(run, found[number], actions[number]) for number, run in enumerate(runs)), perf_counter() - began
    )


def _of_run(run: Run, found: Mapping[str, Distribution], actions: Mapping[str, int]) -> RunStatistics:
    return RunStatistics(
        profile=run.parameters.profile,
        environment=run.parameters.environment_name,
        traces=run.parameters.traces,
        transactions=sum(found.get("checks", {}).values()),
        checks=found.get("checks", {}),
        put_backs=found.get("put_backs", {}),
        half_offsets=found.get("half_offsets", {}),
        deliveries=found.get("deliveries", {}),
        time_to_delivery=found.get("time_to_delivery", {}),
        actions=actions,
    )
