"""The table ``findings``: each state, defect and cause that an audit found of a transaction, as a row of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from spark_trace_analysis.audit.columns.audited_tables import CAUSE, DEFECT, FINDINGS, KINDS, STATE

if TYPE_CHECKING:
    from collections.abc import Iterator


def findings_of(rows: pa.Table) -> pa.Table:
    """What was found of some transactions; ``rows`` as an audit writes them, the table ``transactions``."""
    found = pa.concat_tables(_parts(rows)).unify_dictionaries()
    order = found.select(FINDINGS.order).set_column(0, "kind", found["kind"].cast(pa.string()))
    return found.take(pc.sort_indices(order, [(name, "ascending") for name in FINDINGS.order]))


def _parts(rows: pa.Table) -> Iterator[pa.Table]:
    yield _found(rows, STATE, rows["state"].cast(pa.string()), is_gravest=True)
    for kind, name in ((STATE, "also"), (DEFECT, "resembles")):
        lists = rows[name].combine_chunks()
        yield _found(rows.take(pc.list_parent_indices(lists)), kind, pc.list_flatten(lists))
    is_unknown = pc.is_valid(rows["unknown_cause"])
    yield _found(rows.filter(is_unknown), CAUSE, rows["unknown_cause"].filter(is_unknown))


def _found(rows: pa.Table, kind: str, findings: pa.ChunkedArray, *, is_gravest: bool = False) -> pa.Table:
    kinds = pa.array([KINDS.index(kind)] * rows.num_rows, pa.int8())
    new = {
        "kind": pa.DictionaryArray.from_arrays(kinds, pa.array(KINDS)),
        "finding": findings,
        "is_gravest": pa.array([is_gravest] * rows.num_rows, pa.bool_()),
    }
    columns = [new[name] if name in new else rows[name] for name in FINDINGS.names]
    return pa.Table.from_arrays(columns, schema=FINDINGS.schema)
