"""Records read over the wire as a trace to validate, with all that the probe knows of its own requests."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from model_check.trace_validation.forecast import HANDLING_MS
from model_check.trace_validation.observed import EndRequest, EventKind, ObservedEvent, ObservedOutcome, Trace
from reference.format.properties import UNIQUE_KEY
from reference.format.system_topics import HALF_TOPIC
from spark_trace_analysis.ingest.store_trace import StoreTrace
from spark_trace_analysis.records.transaction_record import classify
from spec.language import NONE
from wire.client.transactions import COMMIT
from wire.probe.orders import Kill, Stop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from halfcheck.probe.store_files import SavedOffsets
    from wire.probe.player import Done
    from wire.probe.producers import ProbeProducers
    from wire.probe.view import Baseline, BrokerSnapshot

_RESTART_SLACK_MS = 150
"""No broker writes so soon after it was killed."""


class ProbedTrace:
    """A trace, and where its events come from.

    Attributes
    ----------
    trace
        Halves and op messages are numbered from the baseline on; saved offsets, if they are known, are one event more.
    unfit
        Why it can't be held against the specification; empty if it can.
    keys
        A transaction's number to its unique key.
    """

    def __init__(
        self,
        snapshot: BrokerSnapshot,
        baseline: Baseline,
        producers: ProbeProducers,
        done: Sequence[Done],
        timeout_ms: int,
        saved: SavedOffsets | None = None,
    ) -> None:
        store = StoreTrace(timeout_ms)
        for record in snapshot.records:
            store.add(record, classify(record))
        for half, op in [(snapshot.half_offset, snapshot.op_offset), *([(saved.half, saved.op)] if saved else [])]:
            if half is not None or op is not None:
                store.add_saved_offsets(max(half or 0, baseline.half), max(op or 0, baseline.op))
        self.keys = store.keys
        self.unfit = store.unfit[0] if store.unfit else ""
        if not baseline.is_quiet:
            self.unfit = "others had pending halves when the probe began, so that the trace has no known beginning"
        events = tuple(_numbered_from(event, baseline) for event in store.events)
        ahead = _broker_ahead_ms(snapshot, producers)
        own = {sent.name.unique_key for sent in producers.halves.values()}
        has_others = any(key not in own for key in self.keys)  # of producers that nobody knows
        self.trace = Trace(
            events,
            None if has_others else tuple(_requests(producers, baseline, ahead)),
            frozenset(
                half.queue_offset - baseline.half
                for heard in producers.checks.values()
                for half in heard
                if half.queue_offset >= baseline.half
            ),
            tuple(_crashes(events, done, ahead)),
            None if baseline.wrote_op_at is None else baseline.wrote_op_at - HANDLING_MS,
            is_timed=True,
        )


def _numbered_from(event: ObservedEvent, baseline: Baseline) -> ObservedEvent:
    """The same with queue offsets that begin with 0 where the probe began."""
    by_half, by_op = baseline.half, baseline.op
    if not by_half and not by_op:
        return event
    original = event.original
    return replace(
        event,
        half=event.half - by_half if event.half >= 0 else event.half,
        original=original - by_half if original != NONE else NONE,
        op=event.op - by_op if event.op != NONE else NONE,
        names=tuple(name - by_half for name in event.names),
    )


def _broker_ahead_ms(snapshot: BrokerSnapshot, producers: ProbeProducers) -> int:
    """How far the broker's clock is ahead of the probe's at least, by the halves that were sent."""
    stored = {
        record.properties.get(UNIQUE_KEY): record.store_timestamp
        for record in reversed(snapshot.records)
        if record.topic == HALF_TOPIC
    }
    answered = [
        stored[sent.name.unique_key] - sent.answered_ms
        for sent in producers.halves.values()
        if sent.name.unique_key in stored
    ]
    return max(answered, default=0) - 1


def _requests(producers: ProbeProducers, baseline: Baseline, ahead: int) -> list[EndRequest]:
    return [
        EndRequest(
            end.sent_ms + ahead,
            end.half.queue_offset - baseline.half,
            ObservedOutcome.COMMIT if end.outcome == COMMIT else ObservedOutcome.ROLLBACK,
        )
        for end in producers.ends
        if not end.code
    ]


def _crashes(events: Sequence[ObservedEvent], done: Sequence[Done], ahead: int) -> list[int]:
    """Before which events the broker died; before the first one it had nothing to lose."""
    records = [event for event in events if event.kind is not EventKind.OFFSETS_SAVED]
    deaths = [each.at_ms + ahead + _RESTART_SLACK_MS for each in done if isinstance(each.order, Kill | Stop)]
    places = (sum(event.time <= death for event in records) for death in deaths)
    return [place for place in places if place]
