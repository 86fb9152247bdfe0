"""How two audits of one moment differ: rows one by one, counts, damage, and the specification's verdict.

The number of records is left out: a network gives those of the topics of transactions only. So are the notes.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spark_trace_analysis.audit.audit import Audit
    from spark_trace_analysis.audit.rules.transaction_row import TransactionRow

_OF_VERDICT: Final = ("accepted", "faults", "explained", "complete", "profile", "reason")


class AuditDifference(NamedTuple):
    """Something that both audits say, and what each says of it."""

    what: str
    network: str
    store: str


def differences(network: Audit, store: Audit) -> list[AuditDifference]:
    """Everything in which the audit over the network differs from that of the store."""
    found = [
        AuditDifference(what, str(one), str(other))
        for what, one, other in (
            ("version", network.version, store.version),
            ("events", network.events, store.events),
            ("counts", network.counts, store.counts),
            ("damage", [str(region) for region in network.corrupt], [str(region) for region in store.corrupt]),
        )
        if one != other
    ]
    found += _of_rows(network.transactions, store.transactions)
    one, other = network.trace.to_json(), store.trace.to_json()
    found += [
        AuditDifference(f"verdict: {name}", str(one[name]), str(other[name]))
        for name in _OF_VERDICT
        if one[name] != other[name]
    ]
    return found


def _of_rows(network: Sequence[TransactionRow], store: Sequence[TransactionRow]) -> Iterator[AuditDifference]:
    theirs = {(row.group, row.unique_key): row for row in store}
    for row in network:
        other = theirs.pop((row.group, row.unique_key), None)
        if other is None:
            yield AuditDifference(f"row {row.unique_key}", row.state, "no row")
        elif row != other:
            names = [field.name for field in fields(row) if getattr(row, field.name) != getattr(other, field.name)]
            yield AuditDifference(f"row {row.unique_key}", _words(row, names), _words(other, names))
    for other in theirs.values():
        yield AuditDifference(f"row {other.unique_key}", "no row", other.state)


def _words(row: TransactionRow, names: Sequence[str]) -> str:
    return ", ".join(f"{name}={getattr(row, name)}" for name in names)
