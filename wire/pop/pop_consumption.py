"""What each group has popped, acked and hidden longer, and the thread that brings back what nobody acked."""

from __future__ import annotations

import asyncio
import heapq
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Final

from reference.broker.processor.send_back_processor import copy_to
from reference.format.properties import TAGS
from reference.format.record import QueueOffset
from reference.simulation.scheduler import Steps, Until
from reference.store.message import MessageExt
from wire.node.schedule_thread import written_behind
from wire.pop.popped import Popped, PopProgress, PopQueue
from wire.pop.receipt_handle import NORMAL_TOPIC, ORDER_REVIVE_QUEUE, RETRY_TOPIC, ReceiptHandle, ReceiptHandleError

if TYPE_CHECKING:
    from reference.broker.broker_controller import BrokerController
    from reference.format.record import LogRecord
    from wire.node.broker_node import BrokerNode

MOST_AT_ONCE: Final = 32
"""``PopMessageProcessor#processRequest``: no pop gives more."""

FIRST_POP_TIME: Final = "1ST_POP_TIME"
RELEASED_MS: Final = 1_000
"""``invisibleTimeMillisWhenClear``: what a client had that has gone comes again so much later."""

_LATER_MS: Final = 1_000
_LEAST_SWEPT: Final = 1_000
"""Tables are swept when they have twice as many entries as were left then, and so many at least."""


def pop_retry_topic(topic: str, group: str) -> str:
    """Where what comes again stands (``KeyBuilder#buildPopRetryTopicV1``)."""
    return f"%RETRY%{group}_{topic}"


class PopConsumption:
    """POP consumption of one broker."""

    def __init__(self, node: BrokerNode) -> None:
        self._node = node
        self._progress: dict[PopQueue, PopProgress] = {}
        self._receipts: dict[tuple[str, str], Popped] = {}
        self._settled: dict[tuple[str, str], int] = {}
        self._sweep_settled_at = _LEAST_SWEPT
        self._due: list[tuple[int, int, Popped]] = []
        self._serial = count()
        self._news = asyncio.Event()
        self._is_due_sooner = False
        self._forgot = 0

    @property
    def in_flight(self) -> int:
        """How many messages are handed out and not acked."""
        return len(self._receipts)

    def has_acked(self, group: str, topic: str, queue_id: int, offset: int) -> bool:
        """Whether a group was given the message at an offset, and does not have it any more."""
        progress = self._progress.get(PopQueue(group, topic, queue_id))
        return progress is not None and offset < progress.next and offset not in progress.in_flight

    # --- what consumers ask -------------------------------------------------------------------------------------------

    def pop(
        self,
        group: str,
        topic: str,
        most: int,
        invisible_ms: int,
        tags: frozenset[str] | None = None,
        *,
        is_ordered: bool = False,
        owner: str = "",
    ) -> list[Popped]:
        """Hand messages of a topic out to a group, those of its retry topic first (``PopMessageProcessor``).

        In order, a queue gives nothing more while a message of it is out; what was not acked in time comes again in its
        place (``ConsumerOrderInfoManager#checkBlock``), without the retry topic.

        Parameters
        ----------
        tags
            Those that are wanted; None for all. What has another one counts as acked.
        owner
            The client for which receipts are renewed.
        """
        broker, found = self._node.broker, list[Popped]()
        most = min(max(most, 1), MOST_AT_ONCE)
        broker.subscription_group_manager.create(group)
        for name in ([] if is_ordered else [pop_retry_topic(topic, group)]) + [topic]:
            queues = broker.topic_config_manager.read_queues(name)
            for queue_id in range(queues):
                queue = PopQueue(group, name, queue_id)
                room = most - len(found)
                if room > 0 and is_ordered:
                    found += self._again_in_order(queue, room, invisible_ms, owner)
                elif room > 0:
                    found += self._fresh(queue, room, invisible_ms, tags, owner=owner)
                if room > 0 and is_ordered and not self._at(queue).in_flight:
                    found += self._fresh(queue, room, invisible_ms, tags, is_ordered=True, owner=owner)
        self._node.poke()
        return found

    async def wait(self, seconds: float) -> None:
        """Wait until something may be there to be popped, at most so long in real time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._news.wait()

    def ack(self, group: str, topic: str, text: str) -> None:
        """Take a message for consumed; `ReceiptHandleError` if the receipt is none of group and topic that holds.

        A second ack does nothing, and is answered likewise.
        """
        popped = self.popped_by(group, topic, text)
        if popped is not None:
            self._settle(popped)

    def change(self, group: str, topic: str, text: str, invisible_ms: int) -> str:
        """Hide a message from now on for so long, and give the new receipt; the old one is over.

        Raises
        ------
        ReceiptHandleError
            The receipt is none of group and topic, is over, or its message is acked.
        """
        popped = self.popped_by(group, topic, text)
        if popped is None:
            message = f"receipt handle {text[:40]!r}: its message was acked, or has a newer receipt"
            raise ReceiptHandleError(message)
        del self._receipts[group, text]
        self._remember(popped)
        popped.owner = ""
        self._hand_out(popped, invisible_ms)
        self._node.poke()
        return popped.text

    def popped_by(self, group: str, topic: str, text: str) -> Popped | None:
        """The message of a topic that a group has by a receipt; None where it was settled, or given by another process.

        A receipt of a process that has died is answered as a real broker answers an ack, and does nothing. Raises
        `ReceiptHandleError` where the receipt is over, or was not given to the group for the topic.
        """
        handle, now = ReceiptHandle.decode(text), self._node.clock.now
        popped = self._receipts.get((group, text))
        until = handle.next_visible_time if popped is None else popped.visible_at
        if until <= now:
            message = "receipt handle is expired"
            raise ReceiptHandleError(message)
        is_older = self._forgot > 0 and handle.retrieve_time <= self._node.booted_at
        if popped is None and (group, text) not in self._settled and not is_older:
            message = f"receipt handle {text[:40]!r} was not given to group {group}"
            raise ReceiptHandleError(message)
        if popped is not None and popped.queue.topic not in (topic, pop_retry_topic(topic, group)):
            message = f"receipt handle {text[:40]!r} was not given for topic {topic}"
            raise ReceiptHandleError(message)
        return popped

    def release(self, owner: str) -> None:
        """A client is gone: what was renewed for it comes again soon (``DefaultReceiptHandleManager#clearGroup``)."""
        for popped in [each for each in self._receipts.values() if each.owner == owner]:
            popped.owner = ""
            popped.visible_at = self._node.clock.now + RELEASED_MS
            self._schedule(popped)
        self._node.poke()

    def forget(self) -> None:
        """The process is gone, and what it knew."""
        for table in (self._progress, self._receipts, self._settled, self._due):
            table.clear()
        self._forgot += 1
        self._wake()

    # --- the broker's thread ------------------------------------------------------------------------------------------

    def run(self, broker: BrokerController) -> Steps[None]:
        """Bring back what is due, renew, and wake those that wait for messages (``PopReviveService``)."""
        store, clock = broker.message_store, self._node.clock
        while True:
            due = self._next_due()
            written = written_behind(store, store.max_phy_offset)
            self._is_due_sooner = False
            yield Until(
                lambda due=due, written=written: (  # type: ignore[misc]
                    self._is_due_sooner or written() or (due is not None and clock.now >= due)
                ),
                None if due is None else max(0, due - clock.now),
            )
            self._node.serve(broker, lambda: self._do_what_is_due(broker))
            self._wake()

    def _do_what_is_due(self, broker: BrokerController) -> None:
        now = self._node.clock.now
        while self._due and self._due[0][0] <= now:
            due_at, _, popped = heapq.heappop(self._due)
            if not self._is_due(due_at, popped):
                continue
            if popped.renew(now):
                self._schedule(popped)
            elif popped.visible_at > now:
                popped.owner = ""
                self._schedule(popped)
            elif not popped.is_ordered:
                self._revive(broker, popped)

    def _revive(self, broker: BrokerController, popped: Popped) -> None:
        """Store a message once more, in the group's retry topic (``PopReviveService#reviveRetry``)."""
        record, queue = popped.record, popped.queue
        is_again = popped.handle.topic_type == RETRY_TOPIC
        topic = queue.topic if is_again else pop_retry_topic(queue.topic, queue.group)
        broker.topic_config_manager.create(topic, 1)
        message = MessageExt.of(record)
        message.properties.setdefault(FIRST_POP_TIME, str(popped.handle.retrieve_time))
        copy = copy_to(broker, message, topic, 0)
        copy.born_host = broker.settings.store_host
        copy.reconsume_times += 1
        if broker.message_store.put_message(copy).physical_offset is None:
            popped.visible_at = self._node.clock.now + _LATER_MS
            self._schedule(popped)
            return
        self._settle(popped)

    # --- tables -------------------------------------------------------------------------------------------------------

    def _at(self, queue: PopQueue) -> PopProgress:
        """How far a group is; one that is new begins at the queue's begin, while that is there (``#getInitOffset``)."""
        progress = self._progress.get(queue)
        if progress is None:
            broker = self._node.broker
            offset = int(broker.consumer_offset_manager.query_offset(queue.topic, queue.queue_id, queue.group))
            if offset < 0:
                offset = int(broker.message_store.cleaning.get_min_offset_in_queue(queue.topic, queue.queue_id))
                if offset > 0 and not queue.topic.startswith("%RETRY%"):
                    offset = int(broker.message_store.get_max_offset_in_queue(queue.topic, queue.queue_id)) - 1
            progress = self._progress[queue] = PopProgress(max(0, offset))
        return progress

    def _fresh(
        self,
        queue: PopQueue,
        most: int,
        invisible_ms: int,
        tags: frozenset[str] | None,
        *,
        is_ordered: bool = False,
        owner: str = "",
    ) -> list[Popped]:
        """Messages that nobody of the group has got yet."""
        broker, progress, found = self._node.broker, self._at(queue), list[Popped]()
        while len(found) < most:
            begin = progress.next
            room = most - len(found)
            result = broker.message_store.get_message(queue.topic, queue.queue_id, QueueOffset(begin), room)
            progress.next = int(result.next_begin_offset)
            for record in result.records:
                if record is not None and (tags is None or record.properties.get(TAGS, "") in tags):
                    found.append(self._taken(queue, record, invisible_ms, owner, is_ordered=is_ordered))
            if progress.next <= begin:
                break
        self._commit(queue)
        return found

    def _again_in_order(self, queue: PopQueue, most: int, invisible_ms: int, owner: str) -> list[Popped]:
        """What was not acked in time, in its place; nothing while any of it is hidden."""
        out = list(self._at(queue).in_flight.values())
        if any(popped.visible_at > self._node.clock.now for popped in out):
            return []
        for popped in out[:most]:
            del self._receipts[queue.group, popped.text]
            self._remember(popped)
            popped.attempt += 1
            popped.owner, popped.renewals, popped.first_popped = owner, 0, self._node.clock.now
            self._hand_out(popped, invisible_ms)
        return out[:most]

    def _taken(self, queue: PopQueue, record: LogRecord, invisible_ms: int, owner: str, *, is_ordered: bool) -> Popped:
        now = self._node.clock.now
        handle = ReceiptHandle(
            start_offset=int(record.queue_offset),
            retrieve_time=now,
            invisible_ms=invisible_ms,
            revive_queue_id=ORDER_REVIVE_QUEUE if is_ordered else 0,
            topic_type=RETRY_TOPIC if queue.topic.startswith("%RETRY%") else NORMAL_TOPIC,
            broker_name=self._node.settings.broker_name.replace(" ", "_"),
            queue_id=queue.queue_id,
            offset=int(record.queue_offset),
            commit_log_offset=int(record.physical_offset),
        )
        popped = Popped(queue, record, handle, "", record.reconsume_times + 1, now, is_ordered, owner, now)
        self._at(queue).in_flight[handle.offset] = popped
        self._hand_out(popped, invisible_ms)
        return popped

    def _hand_out(self, popped: Popped, invisible_ms: int) -> None:
        """Give a message a new receipt."""
        popped.handle = replace(popped.handle, retrieve_time=self._node.clock.now, invisible_ms=invisible_ms)
        popped.text = popped.handle.encode()
        popped.visible_at = popped.handle.next_visible_time
        self._receipts[popped.queue.group, popped.text] = popped
        self._schedule(popped)

    def _settle(self, popped: Popped) -> None:
        """Nothing is to be done any more about a message."""
        queue = popped.queue
        del self._receipts[queue.group, popped.text]
        self._remember(popped)
        self._at(queue).in_flight.pop(popped.handle.offset, None)
        self._commit(queue)
        if popped.is_ordered:
            self._wake()

    def _remember(self, popped: Popped) -> None:
        """A receipt was given, though it does nothing any more; forgotten some time after it would be over."""
        if len(self._settled) >= self._sweep_settled_at:
            now = self._node.clock.now
            self._settled = {key: until for key, until in self._settled.items() if until > now}
            self._sweep_settled_at = max(_LEAST_SWEPT, 2 * len(self._settled))
        self._settled[popped.queue.group, popped.text] = popped.handle.next_visible_time

    def _commit(self, queue: PopQueue) -> None:
        offsets = self._node.broker.consumer_offset_manager
        offset = QueueOffset(self._at(queue).committed)
        if offsets.query_offset(queue.topic, queue.queue_id, queue.group) != offset:
            offsets.commit_offset(queue.topic, queue.queue_id, offset, queue.group)

    def _is_due(self, due_at: int, popped: Popped) -> bool:
        """Whether something is still to be done about a message then."""
        return due_at == popped.due_at and self._receipts.get((popped.queue.group, popped.text)) is popped

    def _schedule(self, popped: Popped) -> None:
        if len(self._due) >= max(_LEAST_SWEPT, 2 * len(self._receipts)):  # most were acked long before
            self._due = [each for each in self._due if self._is_due(each[0], each[2])]
            heapq.heapify(self._due)
        if not self._due or popped.due_at < self._due[0][0]:
            self._is_due_sooner = True
        heapq.heappush(self._due, (popped.due_at, next(self._serial), popped))

    def _next_due(self) -> int | None:
        return self._due[0][0] if self._due else None

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()
