"""The tables of traces: their events, the runs that they are of, and which trace breaks which property."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from spark_trace_analysis.tables.table import WORD, DocumentedTable, TableColumn
from spec.events import EVENTS, FIELDS, OUTCOMES

_KINDS: Final = {"int8": pa.int8(), "int16": pa.int16(), "int32": pa.int32(), "int64": pa.int64(), "string": WORD}
_UNITS: Final = {"time": "ticks of a walk, ms of a recording"}
_OUTCOME: Final = "; ".join(f"{number} {word}" for number, word in enumerate(OUTCOMES))
_MEANINGS: Final = {"outcome": f"what an END_TRANSACTION or a producer says: {_OUTCOME}"}

_OF_RUN: Final = (
    TableColumn("profile", pa.string(), "the RocketMQ version that was walked or recorded, with its switches"),
    TableColumn("run", pa.string(), "the run: the name of its folder, or of a file of recorded traces"),
)

EVENTS_TABLE: Final = DocumentedTable(
    name="events",
    version=1,
    what="an event of a trace",
    files="`halfcheck simulate --out DIR` writes `DIR/traces-*.parquet`; `--runs DIR` writes them into "
    "`DIR/profile=P/run=R/`, a folder a run",
    columns=tuple(
        TableColumn(
            field.name,
            _KINDS[field.kind],
            _MEANINGS.get(field.name, field.meaning),
            unit=_UNITS.get(field.name, ""),
            values=EVENTS if field.name == "event" else (),
        )
        for field in FIELDS
    ),
    key=("profile", "run", "trace", "step"),
    order=("trace", "step"),
    folders=_OF_RUN,
    joins="What does not apply to an event is -1, never NULL. Transactions are numbered anew in each trace. The "
    "folders `profile=P/run=R` are there with `--runs` only.",
)

VERDICTS: Final = DocumentedTable(
    name="verdicts",
    version=1,
    what="what one trace shows of one property",
    files="`halfcheck analyze DIR --out OUT` writes `OUT/verdicts/profile=P/run=R/verdicts-*.parquet`",
    columns=(
        TableColumn("property", WORD, "the property's id, as S1; those that a run can't show are missing"),
        TableColumn("trace", pa.int64(), "number of the trace in its run"),
        TableColumn("is_broken", pa.bool_(), "whether the trace breaks the property"),
        TableColumn(
            "broken_at", pa.int32(), "the step of the first event with which it does; NULL where it does not",
            nullable=True,
        ),
    ),
    key=("profile", "run", "trace", "property"),
    order=("property", "trace"),
    folders=_OF_RUN,
    joins="`profile`, `run` and `trace` are those of `events`, and `broken_at` is the `step` there. A row group holds "
    "one property of at most a million traces or so. Traces do not tell the clauses of a property apart: a verdict is "
    "on the property as a whole.",
)  # fmt: skip

RUNS: Final = DocumentedTable(
    name="runs",
    version=1,
    what="a run: traces of one version, in one environment, chosen in one way",
    files="`halfcheck analyze DIR --out OUT` writes `OUT/runs/runs.parquet`",
    columns=(
        *_OF_RUN,
        TableColumn("environment", pa.string(), "its faults joined by commas, or `quiet`; the file of recorded traces"),
        TableColumn("faults", pa.list_(pa.string()), "the same, one by one"),
        TableColumn("instance", pa.string(), "the instance that was walked: sizes and times"),
        TableColumn("of", pa.string(), "what the traces are of: specification, broker or recorded"),
        TableColumn("choice", pa.string(), "how steps were chosen: uniform, weighted, swarm or guided"),
        TableColumn("steps", pa.int64(), "the most steps of a trace"),
        TableColumn("seed", pa.int64(), "the seed"),
        TableColumn("traces", pa.int64(), "how many traces it has"),
        TableColumn("events", pa.int64(), "how many events these have"),
        TableColumn("checksum", pa.string(), "SHA-256 over those of its files"),
        TableColumn("source", pa.string(), "the fingerprint of the sources on which the traces depend"),
        TableColumn("halfcheck", pa.string(), "the version of halfcheck that made it"),
        TableColumn("commit", pa.string(), "its commit, if it was a checkout"),
    ),
    key=("profile", "run"),
    joins="`profile` and `run` are those of `verdicts` and `events`.",
)
