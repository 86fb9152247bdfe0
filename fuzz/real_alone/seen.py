"""What was seen of a broker: by its producers, by consumers, and in the commit log, transaction by transaction."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fuzz.broker_side.producers import TOPIC, transaction_of_key
from reference.format.properties import UNIQUE_KEY
from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC, OP_TOPIC
from spec.language import NONE
from spec.state import End, Local

if TYPE_CHECKING:
    from reference.broker.processor.send_message_processor import SendMessageRequest
    from reference.format.record import LogRecord


@dataclass(frozen=True, slots=True)
class SeenEnd:
    """The answer to an END_TRANSACTION."""

    at: int
    says: End
    code: str
    """As the remoting protocol has it; ``0`` is SUCCESS."""
    half: int
    """The offset in the half queue that it named."""
    is_in_time: bool
    """At an age of at most the timeout or the half's immunity, whichever is longer."""
    is_own: bool
    """The producer sent it when its local transaction ended."""


@dataclass(slots=True)
class SeenTransaction:
    """One transaction; places in time are numbers of orders."""

    request: SendMessageRequest
    """The message that was sent."""
    local: Local = Local.EXECUTING
    """What its producer knows of it."""
    halves: list[LogRecord] = field(default_factory=list)
    delivered: list[tuple[int, LogRecord, Local]] = field(default_factory=list)
    """Its real messages, with what its producer knew when they were stored."""
    discarded_at: list[int] = field(default_factory=list)
    checked_at: list[int] = field(default_factory=list)
    """When a check request reached its producer."""
    ends: list[SeenEnd] = field(default_factory=list)
    commits_begun: int = 0
    """How many END_TRANSACTIONs that say commit have reached the broker."""

    @property
    def acknowledged(self) -> list[SeenEnd]:
        """The END_TRANSACTIONs that were answered SUCCESS."""
        return [end for end in self.ends if end.code == "0"]

    @property
    def is_resolved(self) -> bool:
        """Something was made of it that a consumer, a producer or an operator sees."""
        return bool(self.delivered or self.discarded_at or self.acknowledged)


@dataclass(slots=True)
class SeenBroker:
    """All that was seen of one broker."""

    transactions: dict[int, SeenTransaction] = field(default_factory=dict)
    op_names: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    """The half offsets in each op message, by its offset in the op queue."""
    op_places: list[int] = field(default_factory=list)
    """Where each op message begins in the commit log."""
    batch: str = ""
    """The half offsets that wait for an op message."""
    half_offset: int = NONE
    op_offset: int = NONE
    half_end: int = 0
    op_end: int = 0
    spun: bool = False
    """A round did not end within its time limit."""
    thrown: str = ""
    """The first exception that came out of a request or a thread."""
    has_settled: bool = False
    """The broker was given rounds until nothing more was to be expected of it."""

    def note(self, record: LogRecord, at: int) -> None:
        """A record is new in the commit log."""
        if record.topic == OP_TOPIC:
            self.op_names[int(record.queue_offset)] |= {int(name) for name in record.body.split(b",") if name}
            self.op_places.append(int(record.physical_offset))
            return
        if record.topic not in (HALF_TOPIC, TOPIC, DISCARD_TOPIC):
            return
        of = self.transactions.get(transaction_of_key(record.properties[UNIQUE_KEY]))
        if of is None:
            return
        if record.topic == HALF_TOPIC:
            of.halves.append(record)
        elif record.topic == TOPIC:
            of.delivered.append((at, record, of.local))
        else:
            of.discarded_at.append(at)
