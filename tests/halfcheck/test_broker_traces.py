"""The reference broker as a source of traces for Spark: the same columns as those of a walk, in files that are read."""

import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.lockstep.broker_trace import BrokerTraces
from fuzz.lockstep.pairing import Pairing
from halfcheck.broker_traces import BROKER_RUNS, run_the_broker
from model_check.world import World
from spark_trace_analysis.traces.event_source import WALKS, remade_events
from spark_trace_analysis.traces.manifest import Parameters, source_fingerprint
from spark_trace_analysis.traces.schema import EVENT_SCHEMA
from spark_trace_analysis.traces.simulate import _file_of

PARAMETERS = Parameters(World.of("5.3.3", ("crash",), "small"), 7, traces=9, steps=20, choice="weighted", of="broker")


def test_a_file_holds_the_rows_of_the_traces_of_its_numbers() -> None:
    content, events = _file_of(PARAMETERS, BROKER_RUNS, 4, 3)
    table = pq.read_table(pa.BufferReader(content))
    assert table.schema == EVENT_SCHEMA
    broker = BrokerTraces(Pairing.of("5.3.3", ("crash",), "small"), "weighted")
    rows = [row for number in (4, 5, 6) for row in broker.make(7, number, 20).rows]
    assert table.to_pylist() == rows
    assert events == len(rows) > 40


def test_columns_have_the_types_of_a_walk() -> None:
    walked = WALKS.make(PARAMETERS, 0, 2)
    told = run_the_broker(PARAMETERS, 0, 2)
    assert {name: column.dtype for name, column in told.columns.items()} == {
        name: column.dtype for name, column in walked.columns.items()
    }
    assert told.words == walked.words
    assert {len(column) for column in run_the_broker(PARAMETERS, 0, 0).columns.values()} == {0}


def test_one_trace_is_remade_with_its_steps() -> None:
    events = remade_events(PARAMETERS, 5, BROKER_RUNS)
    made = BrokerTraces(Pairing.of("5.3.3", ("crash",), "small"), "weighted").make(7, 5, 20)
    assert events == made.rows
    assert BROKER_RUNS.steps(PARAMETERS, 5) == "; ".join(map(str, made.steps))


def test_its_traces_are_told_from_those_of_a_changed_broker() -> None:
    assert {"reference", "fuzz"} <= set(BROKER_RUNS.packages)
    assert source_fingerprint(packages=BROKER_RUNS.packages) != source_fingerprint(packages=WALKS.packages)
