"""The threads that bring delayed messages to their topics, as steps of the scheduler.

``ScheduleMessageService`` asks each level every 100 ms; here it sleeps until something is due or something was written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reference.format.record import QueueOffset
from reference.format.system_topics import SCHEDULE_TOPIC
from reference.simulation.scheduler import Sleep, Steps, Until
from reference.store.delay_levels import DELAYS_MS, queue_id_of_level
from reference.store.put_message import TIMER_OUT_MS

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.broker.broker_controller import BrokerController
    from reference.cluster.deliver_delayed_message import Serve
    from reference.store.message_store import MessageStore

PERSIST_MS: Final = 10_000
"""``flushDelayOffsetInterval``"""

LOOK_AGAIN_MS: Final = 100
"""``DELAY_FOR_A_WHILE``"""

_LONGEST_WAIT_MS: Final = 3_600_000


def run_schedule_service(broker: BrokerController, serve: Serve) -> Steps[None]:
    """``ScheduleMessageService`` and ``TimerMessageStore``: deliver what is due, then wait for the next."""
    store, schedule, timer = broker.message_store, broker.schedule_message_service, broker.timer_message_store
    while True:
        written = store.max_phy_offset
        serve(broker, schedule.deliver_due)
        serve(broker, timer.deliver_due)
        if store.max_phy_offset != written:
            yield None
            continue
        yield Sleep(LOOK_AGAIN_MS)
        wait = min(_until_next_level(broker), _until_next_timer(broker), _LONGEST_WAIT_MS)
        yield Until(written_behind(store, written), max(1, wait))


def written_behind(store: MessageStore, end: int) -> Callable[[], bool]:
    """Whether something stands in the log behind a place that was its end, and in its queue."""
    return lambda: store.max_phy_offset != end and not store.is_behind


def save_delay_offsets(broker: BrokerController, serve: Serve) -> Steps[None]:
    """``ScheduleMessageService#persist``, every ten seconds if something was delivered."""
    saved: dict[int, int] = {}
    schedule, began = broker.schedule_message_service, broker.clock.elapsed
    while True:
        yield Until.changed(saved, lambda: schedule.offset_table)
        yield Sleep(PERSIST_MS - (broker.clock.elapsed - began) % PERSIST_MS)
        saved = dict(schedule.offset_table)
        serve(broker, schedule.persist)


def _until_next_level(broker: BrokerController) -> int:
    """Milliseconds until the next message of a delay level is due."""
    store, waits = broker.message_store, [_LONGEST_WAIT_MS]
    for level, delay in enumerate(DELAYS_MS, start=1):
        queue_id = queue_id_of_level(level)
        offset = broker.schedule_message_service.offset_table.get(level, 0)
        if offset >= store.get_max_offset_in_queue(SCHEDULE_TOPIC, queue_id):
            continue
        found = store.get_message(SCHEDULE_TOPIC, queue_id, QueueOffset(offset), 1).records
        if found and found[0] is not None:
            waits.append(found[0].store_timestamp + delay - broker.clock.now)
    return min(waits)


def _until_next_timer(broker: BrokerController) -> int:
    waiting = broker.timer_message_store.waiting
    return min((int(record.properties[TIMER_OUT_MS]) - broker.clock.now for record, _ in waiting), default=1 << 40)
