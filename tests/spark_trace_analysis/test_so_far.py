"""What a trace is suspected of: of all that is so, and where its numbers are small, of nothing else."""

from random import Random

import pyarrow as pa
from pyspark.sql import SparkSession

from spark_trace_analysis.invariants import so_far

TRACES = 2_000
Trace = list[tuple[int, bool, bool]]
"""A number, whether the row is ``what``, whether it is ``wanted``; the step is the place."""


def is_missing_before(trace: Trace) -> bool:
    """The plain reading of the aggregate."""
    wanted = set()
    for number, is_what, is_wanted in trace:
        if is_what and number >= 0 and number not in wanted:
            return True
        if is_wanted:
            wanted.add(number)
    return False


def random_trace(chance: Random, numbers: int, steps: int) -> Trace:
    kinds = [(True, False), (False, True), (False, False)]
    return [(chance.randrange(-1, numbers), *chance.choice(kinds)) for _ in range(chance.randint(1, steps))]


def suspected(spark: SparkSession, traces: list[Trace], steps_a_bit: int) -> list[bool]:
    rows = [
        {"trace": place, "step": step, "number": number, "is_what": is_what, "is_wanted": is_wanted}
        for place, trace in enumerate(traces)
        for step, (number, is_what, is_wanted) in enumerate(trace)
    ]
    spark.createDataFrame(pa.Table.from_pylist(rows)).createOrReplaceTempView("numbered")
    query = so_far.is_missing_before("is_what", "is_wanted", "number").replace("steps_a_bit", str(steps_a_bit))
    found = spark.sql(f"SELECT trace, {query} AS found FROM numbered GROUP BY trace ORDER BY trace").collect()  # noqa: S608
    return [bool(row["found"]) for row in found]


def test_small_numbers_are_suspected_exactly(spark: SparkSession) -> None:
    chance = Random(5)
    traces = [random_trace(chance, 4, so_far.BITS_A_LANE) for _ in range(TRACES)]
    wanted = [is_missing_before(trace) for trace in traces]
    assert 100 < sum(wanted) < TRACES - 100
    assert suspected(spark, traces, 1) == wanted


def test_nothing_is_missed_in_long_traces_nor_among_large_numbers(spark: SparkSession) -> None:
    chance = Random(6)
    for numbers, steps, steps_a_bit in ((4, 60, 5), (4, 60, 1), (9, 30, 3), (70, 200, 15)):
        traces = [random_trace(chance, numbers, steps) for _ in range(TRACES // 4)]
        wanted = [is_missing_before(trace) for trace in traces]
        found = suspected(spark, traces, steps_a_bit)
        assert any(wanted)
        assert not [trace for trace, is_so, is_found in zip(traces, wanted, found, strict=True) if is_so > is_found]
