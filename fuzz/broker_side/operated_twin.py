"""A broker with the real classes beside it, to which operators, clients and other threads do more than steps say.

What the scenarios of defects need besides the operations of the lockstep (`fuzz.broker_side.twin_process`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fuzz.broker_side.broker_process import BrokerProcess
from fuzz.broker_side.twin_process import TwinProcess
from reference.broker.broker_settings import BrokerRole
from reference.errors import ErrorInCheckError
from reference.format.properties import UNIQUE_KEY
from reference.format.system_topics import HALF_TOPIC, SCHEDULE_TOPIC, TIMER_TOPIC

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping
    from pathlib import Path

    from conformance.java.real_classes import RealClasses
    from reference.broker.broker_controller import BrokerController
    from reference.broker.processor.end_transaction_processor import EndTransaction, EndTransactionStep
    from reference.broker.transaction.check_outcome import CheckStep
    from reference.errors import ThrownInCheckError
    from reference.store.get_message import GetMessageResult
    from reference.store.memory_disk import MemoryDisk


_RANDOM_CHANNELS: Final = "4.3", "4.5", "4.7"


class OperatedTwin(TwinProcess):
    """See the module.

    Parameters
    ----------
    store
        The folder of its store; what another process has left there is taken over.
    """

    def __init__(self, broker: BrokerController, real: RealClasses, left_at: Counter[str], store: Path) -> None:
        self.store = store
        self.orders = 0
        """How many orders were given whose answers are compared."""
        super().__init__(broker, real, left_at)

    @property
    def more_settings(self) -> Mapping[str, Any]:
        """Timers wherever there are any, and light queues where they are enabled."""
        config = self.broker.message_store.config
        return {"store": self.store, "hasTimers": "true"} | ({"hasLightQueues": "true"} if config.enable_lmq else {})

    # --- clients and operators ----------------------------------------------------------------------------------------

    def update_consumer_offset(self, topic: str, offset: int) -> int:
        """See `BrokerProcess`."""
        code = super().update_consumer_offset(topic, offset)
        self._order("set consumer offset", str(code), topic=topic, offset=offset)
        return code

    def delete_topic(self, topic: str) -> None:
        """See `BrokerProcess`."""
        super().delete_topic(topic)
        self._order("delete topic", "0", topic=topic)

    def update_topic(self, topic: str, queues: int) -> None:
        """See `BrokerProcess`."""
        super().update_topic(topic, queues)
        self._order("update topic", "", topic=topic, queues=queues)

    def map_topic(self, topic: str, begins_at: int) -> None:
        """See `BrokerProcess`."""
        super().map_topic(topic, begins_at)
        self._order("map topic", "", topic=topic, beginsAt=begins_at)

    def set_channel(self, group: str, channel: str, *, is_active: bool = True, is_writable: bool = True) -> None:
        """See `BrokerProcess`."""
        is_one_of_several = any(known != (group, channel) for known in self.broker.producer_manager.connected())
        if is_one_of_several and self._real.release.startswith(_RANDOM_CHANNELS):
            self._leave("several channels of a group, which the Netty of this release keeps in a random order")
        self.connect(group, channel)
        super().set_channel(group, channel, is_active=is_active, is_writable=is_writable)
        active, writable = (str(each).lower() for each in (is_active, is_writable))
        self._order("set channel", "", client=channel, isActive=active, isWritable=writable)

    def step_end(self, ending: EndTransaction) -> EndTransactionStep:
        """See `BrokerProcess`; where no op message is written, RocketMQ stops at none, and both writes are a step."""
        half = self.broker.message_store.look_message_by_offset(ending.header.commit_log_offset)
        settles = not self.broker.switches.settles_halves_only or half is None or half.topic == HALF_TOPIC
        if settles:
            return super().step_end(ending)
        step = BrokerProcess.step_end(self, ending)
        while not ending.is_over:
            step = BrokerProcess.step_end(self, ending)
        name, answer, fields = self._endings.order(ending, step)
        self._give(name, (answer, *self._digest.of(self.broker)), **fields)
        return step

    # --- its threads --------------------------------------------------------------------------------------------------

    def step_round(self) -> CheckStep | None:
        """See `BrokerProcess`; a slave that acts for its master, and lets nothing escape, has rounds like a master."""
        if self.broker.role is not BrokerRole.ACTING_MASTER:
            return super().step_round()
        done = BrokerProcess.step_round(self)
        if done is not None:
            checks = () if done.check_request is None else (done.check_request,)
            self._order("pass", "over" if done.branch.is_end else "next half", checks)
        return done

    def deliver_delayed(self) -> None:
        """See `BrokerProcess`."""
        store, timers = self.broker.message_store, self.broker.timer_message_store
        has_delayed = any(record.topic == SCHEDULE_TOPIC for record in store.records())
        self.broker.schedule_message_service.deliver_due()
        if has_delayed:
            self._order("deliver delayed", "")
        stored = timers.deliver_due()
        if stored:
            places = {
                each.properties[UNIQUE_KEY]: each.physical_offset
                for each in store.records()
                if each.topic == TIMER_TOPIC
            }
            self._order(
                "deliver timers",
                "0" * len(stored),
                places=",".join(str(places[record.properties[UNIQUE_KEY]]) for record in stored),
                enqueued=",".join(record.properties["TIMER_ENQUEUE_MS"] for record in stored),
            )

    def stall_checks(self) -> None:
        """See `BrokerProcess`."""
        super().stall_checks()
        self._order("stall checks", "", room=self.broker.settings.check_pool_length)

    def drop_stalled_checks(self) -> None:
        """See `BrokerProcess`."""
        super().drop_stalled_checks()
        self._order("drop stalled checks", "")

    def save_counts(self) -> bool:
        """See `BrokerProcess`; what a power loss leaves of a file that was not forced is the file system's doing."""
        self._leave("a file that is not forced to the disk")
        return super().save_counts()

    def count_of_halves(self, topic: str) -> int:
        """See `BrokerProcess`."""
        count = super().count_of_halves(topic)
        self._order("count of halves", str(count), topic=topic)
        return count

    def end_of_queue(self, topic: str) -> int:
        """See `BrokerProcess`."""
        end = super().end_of_queue(topic)
        self._order("end of queue", str(end), topic=topic)
        return end

    # --- its disk, and its end ----------------------------------------------------------------------------------------

    def miss_next_read(self, answer: GetMessageResult | ThrownInCheckError) -> None:
        """See `BrokerProcess`."""
        if not isinstance(answer, ErrorInCheckError):
            super().miss_next_read(answer)
            return
        self.broker.message_store.miss_next_read(answer)
        self._order("miss read", "", gives="error", next=0, max=0)

    def _give(self, name: str, predicted: tuple[str, ...], **fields: object) -> None:
        self.orders += not self._has_left
        super()._give(name, predicted, **fields)

    def end_for_good(self) -> None:
        """The process is gone, and one of another release is to begin on its store."""
        self._give("die", ("",))
        self.collect()

    def restart(self, role: BrokerRole = BrokerRole.MASTER) -> None:
        """See `BrokerProcess`."""
        if role is BrokerRole.MASTER:
            super().restart(role)
            return
        BrokerProcess.restart(self, role)
        if self.broker.switches.escapes:
            self._leave("halves that escape to another master")
        self._order("act for master", "")
        for group, channel in self.broker.producer_manager.connected():
            self.connect(group, channel)

    def lose_unforced(self, disk: MemoryDisk) -> None:
        """See `BrokerProcess`."""
        end = self.broker.message_store.flushed_where
        super().lose_unforced(disk)
        self._give("lose power", ("",), end=end, keepsEntries="true")
