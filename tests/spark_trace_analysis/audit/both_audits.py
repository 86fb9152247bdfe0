"""Holds the two ways to audit a store against each other: record by record, and in stages.

The stages' tasks run here one after the other; that Spark runs them is tests/spark_trace_analysis/test_spark_audit.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.opened_store import StoreQuestion
from spark_trace_analysis.audit.staged_audit import StagedAuditOptions, audit_in_stages
from spark_trace_analysis.audit.stages.stage_runner import StageRunner, Threads

if TYPE_CHECKING:
    from pathlib import Path

    from spark_trace_analysis.audit.audit import Audit

NO_TRACE = StoreQuestion(most_events=0)
FEW: dict[str, Any] = {"split_bytes": 5_000, "bucket_bytes": 10_000}
"""Several splits and buckets, also of a small store."""


def in_stages(store: Path, runner: StageRunner | None = None, **options: Any) -> Audit:
    """The audit in stages, task by task in this thread unless another runner is given."""
    asked = StagedAuditOptions(**{"everything": True, "question": NO_TRACE, **options})
    return audit_in_stages(runner or Threads(1), store, asked)


def assert_both(store: Path, one: Audit | None = None, **options: Any) -> Audit:
    """Audit a store in both ways and see that they say the same; gives what one process says."""
    one = audit_store(store, question=NO_TRACE) if one is None else one
    other = in_stages(store, **options)
    assert_same(one, other)
    return one


def assert_same(one: Audit, other: Audit) -> None:
    """See that two audits of a store say the same, the trace aside."""
    assert other.transactions == one.transactions
    assert sorted(map(str, other.corrupt)) == sorted(map(str, one.corrupt))
    for name in (
        "version",
        "records",
        "events",
        "counts",
        "total",
        "plain",
        "asked_for",
        "damage",
        "notes",
        "received_checks",
    ):
        assert getattr(other, name) == getattr(one, name), name
