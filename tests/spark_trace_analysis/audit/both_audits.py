"""Holds the two ways to audit a store against each other: in one process, and in the stages of the Spark job.

The stages' tasks run here one after the other; that Spark runs them is tests/spark_trace_analysis/test_spark_audit.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.opened_store import StoreQuestion
from spark_trace_analysis.audit.spark_audit import SparkAuditOptions, audit_by_spark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from pyspark.sql import SparkSession

    from spark_trace_analysis.audit.audit import Audit

NO_TRACE = StoreQuestion(most_events=0)
FEW: dict[str, Any] = {"split_bytes": 5_000, "bucket_bytes": 10_000}
"""Several splits and buckets, also of a small store."""


class _Rows:
    def __init__(self, items: Iterable[Any]) -> None:
        self._items = list(items)

    def foreach(self, run: Callable[[Any], None]) -> None:
        for item in self._items:
            run(item)

    def flatMap(self, run: Callable[[Any], Iterable[Any]]) -> _Rows:  # noqa: N802 - Spark's name
        return _Rows(made for item in self._items for made in run(item))

    def collect(self) -> list[Any]:
        return self._items


class OneAfterTheOther:
    """What the job needs of a Spark session, in this process."""

    @property
    def sparkContext(self) -> OneAfterTheOther:  # noqa: N802 - Spark's name
        return self

    def setJobDescription(self, _text: str) -> None:  # noqa: N802 - Spark's name
        return

    def parallelize(self, items: Iterable[Any], _slices: int) -> _Rows:
        return _Rows(items)


def in_stages(store: Path, **options: Any) -> Audit:
    """The audit by the stages of the Spark job."""
    spark = cast("SparkSession", OneAfterTheOther())
    return audit_by_spark(spark, store, SparkAuditOptions(**{"everything": True, "question": NO_TRACE, **options}))


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
