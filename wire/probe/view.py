"""A broker as seen from outside: its offsets before the probe, and its records in the order of its log."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reference.format.properties import REAL_QUEUE_ID, REAL_TOPIC, UNIQUE_KEY
from reference.format.system_topics import DISCARD_TOPIC, HALF_QUEUE_ID, HALF_TOPIC, OP_TOPIC
from wire.client.entries import LogStretch, unpullable
from wire.client.queries import begin_of_queue, check_offset, end_of_queue, offset_at, pull_all
from wire.errors import WireError

if TYPE_CHECKING:
    from reference.format.record import LogRecord
    from wire.client.channel import BrokerChannel

_LONGEST_SNAPSHOT_S: Final = 30.0
_A_LOOK_S: Final = 0.1
_DISPATCH_S: Final = 0.2
"""So long a message may be in the log before it is in its queue."""
_SLACK_MS: Final = 60_000
"""So far the clocks of a producer and the broker may be apart when messages of others are looked for."""


class BusyBrokerError(WireError):
    """The broker has pending halves of others, or its check service has not come to the end of its queues."""


class UnsteadyBrokerError(WireError):
    """The broker writes so much that no consistent snapshot of it was had."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """Offsets of the queues when the probe began: their ends, or the check service's offsets beside others."""

    half: int
    op: int
    """The first message of half and op topic that the trace is to have."""
    discard: int
    """That of the discard topic."""
    is_quiet: bool
    """Whether no half was pending then."""
    wrote_op_at: int | None = None
    """When the last op message before it was written; None if there was none."""


@dataclass(frozen=True, slots=True)
class BrokerSnapshot:
    """All that the broker has written from a baseline up to one moment."""

    records: tuple[LogRecord, ...]
    """Of half, op, discard and real topics, in the order of the commit log."""
    half_offset: int | None
    op_offset: int | None
    """Where the check service stood; None before its first round."""


@dataclass(slots=True)
class BrokerView:
    """Queries of a broker by which its state is observed."""

    channel: BrokerChannel
    group: str
    """The connection, and the consumer group in whose name queues are pulled."""
    file_size: int
    """``mappedFileSizeCommitLog``."""

    def baseline(self, *, beside_others: bool) -> Baseline:
        """The ends of the queues now.

        Raises
        ------
        BusyBrokerError
            Halves are pending, or op messages were not read yet, and the probe is not to begin beside them.
        NoAnswerError
            The broker does not say.
        """
        half_end, op_end = (end_of_queue(self.channel, topic) for topic in (HALF_TOPIC, OP_TOPIC))
        half, op = (self._stands_at(topic) for topic in (HALF_TOPIC, OP_TOPIC))
        discard = end_of_queue(self.channel, DISCARD_TOPIC)
        is_quiet = half >= half_end and op >= op_end
        if not is_quiet and not beside_others:
            message = (
                f"{self.channel.address}: {half_end - half} halves and {op_end - op} op messages of others are not "
                "settled; wait until they are, or give --beside-others, which lets the probe begin beside them"
            )
            raise BusyBrokerError(message)
        last = self._ops(op - 1, None) if op > 0 else []
        return Baseline(half, op, discard, is_quiet, last[0].born_timestamp if last else None)

    def _stands_at(self, topic: str) -> int:
        stands = check_offset(self.channel, topic)
        return begin_of_queue(self.channel, topic) if stands is None else stands

    def await_quiet(self, seconds: float) -> bool:
        """Wait until the check service has come to the end of both queues; False if it has not in time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.stays_quiet():
                return True
            time.sleep(_A_LOOK_S)
        return self.is_quiet()

    def stays_quiet(self) -> bool:
        """Whether it stands there at two looks: a copy may come into the queue behind the round that wrote it."""
        if not self.is_quiet():
            return False
        time.sleep(_DISPATCH_S)
        return self.is_quiet()

    def await_half(self, offset: int) -> None:
        """Wait until a half that was sent is in its queue: a busy broker gives a queue its messages a little later.

        RocketMQ: DefaultMessageStore.ReputMessageService.
        """
        end = time.monotonic() + _LONGEST_SNAPSHOT_S
        while end_of_queue(self.channel, HALF_TOPIC) <= offset and time.monotonic() < end:
            time.sleep(_A_LOOK_S)

    def is_quiet(self) -> bool:
        """Whether the check service stands at the end of both queues."""
        return all(self._stands_at(topic) >= end_of_queue(self.channel, topic) for topic in (HALF_TOPIC, OP_TOPIC))

    def halves(self, begin: int) -> list[LogRecord]:
        """The half topic from an offset on."""
        return pull_all(self.channel, self.group, HALF_TOPIC, begin)

    def discards(self, begin: int) -> list[LogRecord]:
        """The discard topic from an offset on."""
        return pull_all(self.channel, self.group, DISCARD_TOPIC, begin)

    def _ops(self, begin: int, stretch: LogStretch | None) -> list[LogRecord]:
        pulled = pull_all(self.channel, self.group, OP_TOPIC, begin)
        return pulled or unpullable(self.channel, OP_TOPIC, begin, stretch)

    def ops(self, baseline: Baseline) -> list[LogRecord]:
        """The op topic since a baseline, where it can be pulled."""
        return pull_all(self.channel, self.group, OP_TOPIC, baseline.op)

    def read(self, baseline: Baseline) -> BrokerSnapshot:
        """All that was written since a baseline.

        A queue is filled in the order of the log, so all that lies before the last record of one pass is there in
        the next one. Offsets are read between two passes that are the same; the second is late enough for the copies
        of the round that has moved them.

        Raises
        ------
        UnsteadyBrokerError
            Others write all the time.
        NoAnswerError
            The broker does not answer.
        """
        end = time.monotonic() + _LONGEST_SNAPSHOT_S
        before = self._records(baseline)
        while time.monotonic() < end:
            half, op = (check_offset(self.channel, topic) for topic in (HALF_TOPIC, OP_TOPIC))
            time.sleep(_DISPATCH_S)
            after = self._records(baseline)
            if [record.physical_offset for record in before] == [record.physical_offset for record in after]:
                return BrokerSnapshot(after, half, op)
            before = after
        message = (
            f"{self.channel.address}: no two readings in {_LONGEST_SNAPSHOT_S:.0f} s were the same; try a quiet one"
        )
        raise UnsteadyBrokerError(message)

    def _records(self, baseline: Baseline) -> tuple[LogRecord, ...]:
        halves = self.halves(baseline.half)
        stretch = LogStretch(halves[0].physical_offset, self.file_size) if halves else None
        found = [*halves, *self._ops(baseline.op, stretch), *self.discards(baseline.discard)]
        keys = {record.properties.get(UNIQUE_KEY) for record in halves}
        since = min((record.born_timestamp for record in halves), default=0) - _SLACK_MS
        for topic, queue_id in dict.fromkeys(map(_real_queue, halves)):
            begin = offset_at(self.channel, topic, queue_id, since)
            real = pull_all(self.channel, self.group, topic, begin, queue_id)
            found += [record for record in real if record.properties.get(UNIQUE_KEY) in keys]
        return tuple(sorted(found, key=lambda record: record.physical_offset))


def _real_queue(half: LogRecord) -> tuple[str, int]:
    """The real topic and queue of a half."""
    properties = half.properties
    return properties.get(REAL_TOPIC, ""), int(properties.get(REAL_QUEUE_ID, HALF_QUEUE_ID))
