"""The tables of an audit: the transactions of a store, and each thing that was found of one of them."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from spark_trace_analysis.audit.rules.state import TransactionState, UnknownCause
from spark_trace_analysis.audit.rules.transaction_row import EVENTS
from spark_trace_analysis.tables.table import DocumentedTable, TableColumn

_WORD: Final = pa.dictionary(pa.int8(), pa.string())
_NAME: Final = pa.dictionary(pa.int32(), pa.string())
_MOMENT: Final = pa.timestamp("ms", "UTC")
_EVENT: Final = pa.struct([("event", pa.string()), *((name, pa.int64()) for name in ("at", "time", "queue", "offset"))])
_STATES: Final = tuple(state.value for state in TransactionState)
_CAUSES: Final = tuple(cause.value for cause in UnknownCause)

STATE, DEFECT, CAUSE = KINDS = ("state", "defect", "cause")

TRANSACTIONS: Final = DocumentedTable(
    name="transactions",
    version=1,
    what="a transaction of a store",
    files="`halfcheck audit STORE_DIR --out OUT` writes `OUT/transactions-*.parquet`",
    columns=(
        TableColumn("unique_key", pa.string(), "UNIQ_KEY, or @ and a commit log offset where there is none"),
        TableColumn("group", _NAME, "the producer group"),
        TableColumn("topic", _NAME, "the real topic"),
        TableColumn("state", _WORD, "the gravest state that holds", values=_STATES),
        TableColumn("also", pa.list_(pa.string()), "the others that hold, the gravest first", values=_STATES),
        TableColumn("deliveries", pa.int64(), "how many real messages were stored"),
        TableColumn("checks", pa.int64(), "the check count of its last copy"),
        TableColumn("put_backs", pa.int64(), "the copies that check rounds wrote"),
        TableColumn("half_offsets", pa.list_(pa.int64()), "queue offsets of the half and its copies"),
        TableColumn("op_offsets", pa.list_(pa.int64()), "queue offsets of op messages that name one of them"),
        TableColumn("resembles", pa.list_(pa.string()), "ids of the known defects that it looks like"),
        TableColumn("keys", pa.string(), "KEYS as the producer set them, blanks between them"),
        TableColumn("tags", _NAME, "TAGS"),
        TableColumn("born", pa.int64(), "when its producer made it, by the producer's clock", unit="ms since 1970"),
        TableColumn(
            "immunity_ms", pa.int64(), "CHECK_IMMUNITY_TIME_IN_SECONDS; NULL where the message has none",
            unit="ms", nullable=True,
        ),
        TableColumn(
            "unknown_cause", pa.string(), "why a state is unknown; NULL where none is", nullable=True, values=_CAUSES
        ),
        TableColumn("first_offset", pa.int64(), "commit log offset of its first record", unit="bytes"),
        TableColumn(
            "half_at", pa.int64(), "that of the half as it was sent; NULL if its record is gone",
            unit="bytes", nullable=True,
        ),
        TableColumn("born_at", _MOMENT, "`born` as a time; NULL where that is none", unit="UTC", nullable=True),
        TableColumn("stored_at", _MOMENT, "its first record was stored", unit="UTC", nullable=True),
        TableColumn("delivered_at", _MOMENT, "the first real message was stored", unit="UTC", nullable=True),
        TableColumn("settled_at", _MOMENT, "the first op message that names it was stored", unit="UTC", nullable=True),
        TableColumn("discarded_at", _MOMENT, "it was discarded", unit="UTC", nullable=True),
        TableColumn("last_at", _MOMENT, "its last record was stored", unit="UTC", nullable=True),
        TableColumn(
            "history", pa.list_(_EVENT),
            f"its records in the order of the log: {', '.join(EVENTS)}; `at` in bytes of the log, `time` in ms since "
            "1970, `queue` and `offset` of that queue",
        ),
    ),
    key=("first_offset",),
    joins="What is plainly delivered or rolled back stands in row groups before the rest.",
)  # fmt: skip

FINDINGS: Final = DocumentedTable(
    name="findings",
    version=1,
    what="one thing that an audit found of one transaction: a state, a defect that it looks like, a cause",
    files="`halfcheck audit STORE_DIR --findings FILE` writes the file",
    columns=(
        TableColumn("kind", _WORD, "what was found", values=KINDS),
        TableColumn("finding", pa.string(), "the state, the defect's id in the catalogue, or why a state is unknown"),
        TableColumn("first_offset", pa.int64(), "the transaction, as in `transactions`", unit="bytes"),
        TableColumn("unique_key", pa.string(), "its UNIQ_KEY, as there"),
        TableColumn("group", _NAME, "its producer group"),
        TableColumn("topic", _NAME, "its real topic"),
        TableColumn("is_gravest", pa.bool_(), "whether it is the gravest state of the transaction"),
    ),
    key=("first_offset", "kind", "finding"),
    order=("kind", "finding", "first_offset"),
    joins="`first_offset` is that of `transactions`. Each transaction has its states here, a plain one nothing else. "
    "What 65,536 transactions gave is sorted for itself.",
)
