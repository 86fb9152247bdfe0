"""The trace of a broker: the records of a store in the order of its commit log, and the log of its producers.

Times are milliseconds of the broker's clock, as the records hold them. Transactions are numbered in the order of their
first halves; halves and op messages by their queue offsets.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from spec.constants import Constants, Instance
from spec.language import NONE

if TYPE_CHECKING:
    from model_check.configuration import Configuration
    from spec.faults import Faults
    from spec.switches import Switches


class EventKind(StrEnum):
    """The kinds of records in a store."""

    HALF_STORED = "half_stored"
    PUT_BACK = "put_back"
    DELIVERED = "message_delivered"
    OP_STORED = "op_stored"
    DISCARDED = "half_discarded"
    OFFSETS_SAVED = "offsets_persisted"


class ObservedOutcome(StrEnum):
    """The outcomes of an END_TRANSACTION."""

    COMMIT = "commit"
    ROLLBACK = "rollback"


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedEvent:
    """One record.

    Attributes
    ----------
    time
        Its store timestamp.
    half
        The queue offset of the half that it stores (`half_stored`, `put_back`) or was made from (`message_delivered`);
        `NONE` where the record does not say (`half_discarded`, `op_stored`). Of saved offsets the half offset.
    born
        Its born timestamp: of a half the producer's, of an op message the broker's.
    check_times, original
        TRANSACTION_CHECK_TIMES and TRAN_PREPARED_QUEUE_OFFSET of a half; 0 and `NONE` where they are absent.
    immunity
        CHECK_IMMUNITY_TIME_IN_SECONDS of a first half, in milliseconds; `NONE` where it is absent.
    op, names, is_batched, body_size
        Of an op message: its queue offset, the half offsets in its body in their order, whether the body is a list as
        5.1 and later write it, and its length in characters. Of saved offsets `op` is the op offset.
    """

    kind: EventKind
    time: int
    transaction: int = NONE
    half: int = NONE
    born: int = NONE
    check_times: int = 0
    original: int = NONE
    immunity: int = NONE
    op: int = NONE
    names: tuple[int, ...] = ()
    is_batched: bool = False
    body_size: int = 0

    def __str__(self) -> str:
        absent = {"transaction": NONE, "half": NONE, "op": NONE, "names": [], "check_times": 0, "original": NONE}
        shown = {**{name: getattr(self, name) for name in absent}, "names": list(self.names)}
        return " ".join([self.kind.value, *(f"{name}={shown[name]}" for name in absent if shown[name] != absent[name])])


@dataclass(frozen=True, slots=True)
class EndRequest:
    """An END_TRANSACTION that a producer logged."""

    not_before: int  # when it was sent at the earliest, in milliseconds; 0 if the log does not say
    half: int  # the queue offset of the half that it names
    outcome: ObservedOutcome  # its decision


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """A trace to validate.

    Attributes
    ----------
    requests
        What the producers logged of their END_TRANSACTIONs; None without such a log.
    checked
        The copies that producers logged check requests for.
    crashes
        Before which events the broker's process died, where that was recorded; None where it is to be found out.
    wrote_op_at
        The clock by which the process wrote an op message last before the trace begins; None where it had written
        none, as at its start. The thread that writes them goes by that (MessageQueueOpContext, 5.1 and later).
    is_timed
        Whether the requests' times are near the broker's clock, so that no rollback was handled before its own.
    """

    events: tuple[ObservedEvent, ...]
    requests: tuple[EndRequest, ...] | None = None
    checked: frozenset[int] = frozenset()
    crashes: tuple[int, ...] | None = None
    wrote_op_at: int | None = None
    is_timed: bool = False


def constants_of(trace: Trace, configuration: Configuration, switches: Switches, faults: Faults) -> Constants:
    """An instance that is as large as the trace, its ticks milliseconds.

    The specification counts the entries of an op batch where the broker counts characters: here the batch is full with
    as many entries as the smallest op message holds that is as long as the broker's limit. Each delivery and each name
    in an op message may come from a wrong END_TRANSACTION. That halves may be too old counts where one is.
    """
    events = trace.events
    immunities = {event.immunity for event in events if event.kind is EventKind.HALF_STORED}
    full = [len(set(e.names)) for e in events if e.is_batched and e.body_size >= configuration.op_message_max_size]
    halves = sum(event.kind in (EventKind.HALF_STORED, EventKind.PUT_BACK) for event in events)
    instance = Instance(
        name="trace",
        transactions=max(1, sum(event.kind is EventKind.HALF_STORED for event in events)),
        half_slots=max(1, halves),
        op_slots=max(1, sum(event.kind is EventKind.OP_STORED for event in events)),
        check_max=configuration.check_max,
        timeout=configuration.timeout_ms,
        immunities=tuple(sorted(immunities)) or (NONE,),
        check_interval=configuration.check_interval_ms,
        round_limit=configuration.round_limit_ms,
        op_batch_interval=configuration.op_batch_interval_ms,
        op_batch_size=min(full, default=halves + 1),
        op_pull_size=configuration.op_pull_size,
        reserved_time=configuration.file_reserved_ms if _has_old_half(trace, configuration.file_reserved_ms) else NONE,
        stray_ends=max(1, sum((event.kind is EventKind.DELIVERED) + len(event.names) for event in events)),
    )
    return Constants(**asdict(instance), **asdict(switches), **asdict(faults))


def _has_old_half(trace: Trace, reserved: int) -> bool:
    """Whether a half of a trace grows older than files are retained."""
    end = trace.events[-1].time if trace.events else 0
    return any(event.kind is EventKind.HALF_STORED and end - event.born > reserved for event in trace.events)
