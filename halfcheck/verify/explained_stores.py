"""The stores of real brokers: each is audited, and the specification of its version must explain it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from model_check.errors import EvaluationError
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.report.data import AuditedStore, Explanation

if TYPE_CHECKING:
    from conformance.golden_stores import GoldenStore
    from spark_trace_analysis.audit.explanation.trace_verdict import TraceVerdict

SHOWN: Final = 200
"""Transactions of a store that the page lists at most; the command beside them lists all."""


def explained_store(store: GoldenStore) -> AuditedStore:
    """What the audit of a store says.

    Raises
    ------
    EvaluationError
        The specification does not explain the store, or could not be asked; names the store and the record.
    """
    audit = audit_store(store.path)
    if audit.trace.accepted is not True:
        message = f"{store.name}: {audit.trace.sentence()}"
        raise EvaluationError(message)
    where = f"conformance/golden/{store.name}"
    return AuditedStore(
        store=store.name,
        version=audit.version or "unknown",
        records=audit.records,
        corrupt=len(audit.corrupt),
        counts=audit.counts,
        transactions=tuple(audit.listed(everything=False, limit=SHOWN)),
        command=f"halfcheck audit {where}",
        explanation=_explanation(audit.trace, where),
    )


def _explanation(trace: TraceVerdict, where: str) -> Explanation:
    profile = trace.profile or ""
    return Explanation(
        accepted=trace.accepted,
        profile=profile,
        events=trace.events,
        faults=trace.faults,
        sentence=trace.sentence(),
        command=f"halfcheck diff {where} spec:{profile}",
    )
