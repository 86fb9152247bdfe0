"""What happened to the transactions of a plan since its moment: what their queues have had since.

A round puts a half back or discards it, a producer ends it, somebody resumes it: each leaves a record in one of four
queues. They are read from a minute before the moment on, and what stands in the log before its end then is left out.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from reference.format.properties import UNIQUE_KEY
from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC, OP_TOPIC
from spark_trace_analysis.audit.rules.transaction_row import DELIVERED, DISCARDED, OP, PUT_BACK, HistoryEvent
from spark_trace_analysis.records.transaction_record import parse_op_body
from wire.client.entries import LogStretch
from wire.client.queries import end_of_queue, offset_at
from wire.client.queue_reader import QueueReader
from wire.client.stored_messages import QueueStretch
from wire.copying.broker_moment import DEFAULT_FILE_BYTES
from wire.remoting.messages import decode_records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from halfcheck.plan.plan import BrokerPlan, PlannedRequest
    from reference.format.record import LogRecord
    from wire.client.channel import BrokerChannel

_BEFORE_MS: Final = 60_000
"""So much is read of a queue before the moment: a broker finds a place in it by time, to the second or so."""


class SinceThePlan:
    """What the queues of a plan's transactions have had since its moment; reads on at each :meth:`look`."""

    def __init__(self, channel: BrokerChannel, plan: BrokerPlan, file_bytes: int | None = None) -> None:
        self._channel = channel
        self._plan = plan
        self._reader = QueueReader(channel, log=LogStretch(plan.log_end, file_bytes or DEFAULT_FILE_BYTES))
        self._wanted = {one.unique_key for one in plan.requests}
        self._read_to: dict[tuple[str, int], int] = {}
        self._of_keys: dict[str, list[HistoryEvent]] = defaultdict(list)
        self._ops: dict[tuple[int, int], list[HistoryEvent]] = defaultdict(list)
        """By half queue and offset in it."""

    def look(self) -> None:
        """Read what has come meanwhile; raises `NoAnswerError`."""
        for topic, queue_id in self._queues():
            begin = self._read_to.get((topic, queue_id))
            if begin is None:
                begin = offset_at(self._channel, topic, queue_id, self._plan.read_at_ms - _BEFORE_MS)
            end = max(end_of_queue(self._channel, topic, queue_id), begin)
            for record in self._records(QueueStretch(topic, queue_id, begin, end)):
                if record.physical_offset >= self._plan.log_end:
                    self._take(record)
            self._read_to[topic, queue_id] = end

    def events(self, request: PlannedRequest) -> list[HistoryEvent]:
        """What happened to the transaction of a request, in the order of the log, each once."""
        ops = [op for offset in request.half_offsets for op in self._ops.get((request.half_queue, offset), ())]
        return sorted({*self._of_keys.get(request.unique_key, ()), *ops}, key=lambda event: event.at)

    def is_there(self, request: PlannedRequest) -> bool:
        """Whether the record that a request names stands where the plan says; raises `NoAnswerError`."""
        begin = request.record_offset
        stretch = QueueStretch(request.record_topic, request.record_queue, begin, begin + 1)
        if end_of_queue(self._channel, stretch.topic, stretch.queue_id) <= begin:
            return False
        return any(
            (record.physical_offset, record.properties.get(UNIQUE_KEY)) == (request.record_at, request.unique_key)
            for record in self._records(stretch)
        )

    def _queues(self) -> list[tuple[str, int]]:
        open_ones = self._plan.requests
        halves = {(topic, one.half_queue) for one in open_ones for topic in (HALF_TOPIC, OP_TOPIC)}
        real = {(one.topic, one.real_queue) for one in open_ones}
        return sorted(halves | real | {(DISCARD_TOPIC, 0)})

    def _records(self, stretch: QueueStretch) -> Iterator[LogRecord]:
        for messages in self._reader.read([stretch]):
            yield from decode_records(messages.body)

    def _take(self, record: LogRecord) -> None:
        def event(word: str) -> HistoryEvent:
            return HistoryEvent(
                word, record.physical_offset, record.store_timestamp, record.queue_id, record.queue_offset
            )

        if record.topic == OP_TOPIC:
            for offset in parse_op_body(record.body) or ():
                self._ops[record.queue_id, offset].append(event(OP))
        elif (key := record.properties.get(UNIQUE_KEY, "")) in self._wanted:
            words = {HALF_TOPIC: PUT_BACK, DISCARD_TOPIC: DISCARDED}
            self._of_keys[key].append(event(words.get(record.topic, DELIVERED)))
