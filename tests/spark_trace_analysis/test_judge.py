"""Judging: kernels and queries agree where they should, and each finds the other's mutants."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy.typing as npt
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from spark_trace_analysis.errors import BadTracesError, DisagreementError
from spark_trace_analysis.invariants import ALL, AT_MOST_ONE_DELIVERY, DECISION_AGREEMENT, Invariant
from spark_trace_analysis.judge import judge
from spark_trace_analysis.manifest import Run
from spec.events import EVENTS

WriteRun = Callable[[Path, Sequence[Sequence[tuple[Any, ...]]]], Run]
Array = npt.NDArray[Any]

COMMIT, ROLLBACK = 1, 2
ROLLED_BACK = {"op_stored", "op_buffered", "op_lost", "half_rolled_back"}
BY_HAND: list[list[tuple[Any, ...]]] = [
    [("half_stored", 0), ("message_delivered", 0), ("time_passed", -1)],
    [("message_delivered", 0), ("message_delivered", 1)],
    [("message_delivered", 1), ("crashed", -1), ("message_delivered", 1)],
    [("message_delivered", 0)] * 3,
    [("op_buffered", 0, ROLLBACK), ("message_delivered", 0)],
    [("message_delivered", 1), ("op_buffered", 1, COMMIT), ("op_stored", -1, ROLLBACK)],
    [("message_delivered", 1), ("half_rolled_back", 1)],
    [("message_delivered", 0), ("op_stored", 1, ROLLBACK)],
    [("op_lost", 0, ROLLBACK), ("message_delivered", 0)],
    [("op_lost", 1, COMMIT), ("op_lost", -1, ROLLBACK), ("message_delivered", 1)],
]


@pytest.fixture(scope="module")
def by_hand(write_run: WriteRun, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return write_run(tmp_path_factory.mktemp("by_hand") / "run", BY_HAND)


def test_traces_written_by_hand_are_judged_rightly_in_both_ways(spark: SparkSession, by_hand: Run) -> None:
    judgement = judge(spark, [by_hand])
    assert judgement.violations() == {"5.3.3": {"quiet": {"S1": 2, "S2": 3}}}
    assert [count.first_trace for count in judgement.counts] == [2, 4]
    assert (judgement.traces, judgement.events) == (10, sum(map(len, BY_HAND)))


def test_simulated_traces_are_judged_as_a_plain_count_says(spark: SparkSession, simulated: list[Run]) -> None:
    judgement = judge(spark, simulated)
    for count, run in zip(judgement.counts[:: len(ALL)], simulated, strict=True):
        deliveries: Counter[tuple[int, int]] = Counter()
        for row in pq.read_table(run.folder / run.manifest.files[0].name).to_pylist():
            if row["event"] == "message_delivered":
                deliveries[row["trace"], row["transaction"]] += 1
        doubled = {trace for (trace, _), times in deliveries.items() if times > 1}
        assert count.property_id == "S1"
        assert count.violations == len(doubled)
        assert count.first_trace == min(doubled, default=None)
        assert deliveries, "some walk delivers a message, or the property would hold for want of deliveries"


def test_simulated_rollbacks_and_deliveries_are_judged_as_a_plain_count_says(
    spark: SparkSession, simulated: list[Run]
) -> None:
    judgement = judge(spark, simulated)
    rollbacks = Counter[str]()
    for count, run in zip(judgement.counts[1 :: len(ALL)], simulated, strict=True):
        told: dict[tuple[int, int], set[str]] = {}
        for row in pq.read_table(run.folder / run.manifest.files[0].name).to_pylist():
            if row["event"] in ROLLED_BACK and row["outcome"] == ROLLBACK and row["transaction"] >= 0:
                rollbacks[row["event"]] += 1
                told.setdefault((row["trace"], row["transaction"]), set()).add("rolled back")
            elif row["event"] == "message_delivered":
                told.setdefault((row["trace"], row["transaction"]), set()).add("delivered")
        assert count.property_id == "S2"
        assert count.violations == len({trace for (trace, _), what in told.items() if len(what) == 2})
    assert set(rollbacks) == ROLLED_BACK, "each form of a rollback is in some walk"


def test_the_faulty_walks_double_some_transaction(spark: SparkSession, simulated: list[Run]) -> None:
    assert judge(spark, simulated).violations()["5.3.3"]["crash,lose_end"]["S1"] > 0


def test_runs_of_the_same_kind_are_added_up(spark: SparkSession, by_hand: Run) -> None:
    assert judge(spark, [by_hand, by_hand]).violations() == {"5.3.3": {"quiet": {"S1": 4, "S2": 6}}}


def kernel_that_forgets_to_begin_anew(
    starts: Array, event: Array, transaction: Array, _outcome: Array, codes: Array, violated: Array
) -> None:
    last = -1
    for n in range(len(violated)):
        for row in range(starts[n], starts[n + 1]):
            if event[row] == codes[0]:
                violated[n] = violated[n] or transaction[row] == last
                last = transaction[row]


def kernel_that_sees_no_op(
    starts: Array, event: Array, transaction: Array, _outcome: Array, codes: Array, violated: Array
) -> None:
    for n in range(len(violated)):
        for row in range(starts[n], starts[n + 1]):
            for other in range(starts[n], starts[n + 1]):
                if event[row] == codes[0] and event[other] == codes[1] and transaction[row] == transaction[other]:
                    violated[n] = True


def kernel_that_finds_nothing(
    _starts: Array, _event: Array, _transaction: Array, _outcome: Array, _codes: Array, violated: Array
) -> None:
    violated[:] = False


MUTANTS = {
    "S1 kernel: what was delivered in one trace counts in the next": replace(
        AT_MOST_ONE_DELIVERY, kernel=kernel_that_forgets_to_begin_anew
    ),
    "S1 kernel: no trace is ever violated": replace(AT_MOST_ONE_DELIVERY, kernel=kernel_that_finds_nothing),
    "S1 query: two deliveries are let pass": replace(
        AT_MOST_ONE_DELIVERY, query=AT_MOST_ONE_DELIVERY.query.replace("> 1", "> 2")
    ),
    "S1 query: transactions are not told apart": replace(
        AT_MOST_ONE_DELIVERY,
        query=AT_MOST_ONE_DELIVERY.query.replace("SELECT run, trace, transaction", "SELECT run, trace").replace(
            "GROUP BY run, trace, transaction", "GROUP BY run, trace"
        ),
    ),
    "S2 kernel: rollbacks in the op queue are not seen": replace(DECISION_AGREEMENT, kernel=kernel_that_sees_no_op),
    "S2 query: an op entry of a commit is taken for a rollback": replace(
        DECISION_AGREEMENT, query=DECISION_AGREEMENT.query.replace("AND outcome = 2", "")
    ),
    "S2 query: only one form of rollback is seen": replace(
        DECISION_AGREEMENT, query=DECISION_AGREEMENT.query.replace("'op_stored', 'op_buffered'", "'op_stored'")
    ),
}


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=MUTANTS.keys())
def test_a_mutant_of_one_way_is_caught_by_the_other(spark: SparkSession, by_hand: Run, mutant: Invariant) -> None:
    with pytest.raises(DisagreementError, match=r"the kernel finds \d+ .* the query \d+ ") as disagreement:
        judge(spark, [by_hand], [mutant])
    assert disagreement.value.exit_code == 75


def test_a_blind_kernel_is_caught_on_simulated_traces_too(spark: SparkSession, simulated: list[Run]) -> None:
    with pytest.raises(DisagreementError, match="the kernel finds 0 violating traces"):
        judge(spark, simulated, [MUTANTS["S1 kernel: no trace is ever violated"]])


def test_a_changed_byte_is_found(spark: SparkSession, write_run: WriteRun, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", BY_HAND)
    path = run.folder / run.manifest.files[0].name
    content = bytearray(path.read_bytes())
    content[20] ^= 1
    path.write_bytes(content)
    with pytest.raises(BadTracesError, match=r"traces\.parquet: its SHA-256 is not the manifest's") as damage:
        judge(spark, [run])
    assert damage.value.exit_code == 150


def test_fewer_traces_than_promised_are_found(spark: SparkSession, write_run: WriteRun, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", BY_HAND)
    promised = replace(run.manifest, parameters=replace(run.parameters, traces=11))
    with pytest.raises(BadTracesError, match="holds 10 traces with 25 events, the manifest says 11 and 25"):
        judge(spark, [replace(run, manifest=promised)])


def test_every_invariant_looks_at_events_that_exist() -> None:
    for invariant in ALL:
        assert set(invariant.events) <= set(EVENTS)
