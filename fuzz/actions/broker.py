"""The broker's process, its disk, its file of offsets, its operators and its clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz.actions.record import drives, expect
from fuzz.broker_side.broker_records import GROWTH, TICK_MS
from reference.broker.broker_settings import BrokerRole
from reference.broker.response import SUCCESS
from reference.format.stored_message import create_message_id
from reference.format.system_topics import HALF_QUEUE_ID, HALF_TOPIC, OP_TOPIC
from reference.store.put_message import MOST_PROPERTIES

if TYPE_CHECKING:
    from fuzz.broker_side.broker_side import BrokerSide
    from spec.language import Refused, Step


def _persist_what_is_saved(side: BrokerSide, _: Step, __: Refused) -> bool:
    is_asked = side.broker.role is not BrokerRole.ACTING_MASTER
    if is_asked:
        side.process.persist_offsets()
    return is_asked


def _set_offset_back(side: BrokerSide, topic: str, offset: int) -> None:
    """No round commits the offset 0: an older file that is at 0 has none (`spec.half_queue.half_offset`)."""
    side.mishaps += 1
    side.process.put_offset(topic, offset or None)


def _cannot_be_resumed(side: BrokerSide, step: Step) -> bool:
    """A half that a repaired round has put aside as it can be neither read nor copied: no more can it be resumed.

    What is resumed gets a number of checks (AdminBrokerProcessor#resumeCheckHalfMessage), and is as long as a copy.
    Nor one that retention has deleted: the lockstep names the half itself, an operator may name its record in the
    discard topic. Nor one that a later round may meet again, where an index of settled transactions is kept (a repair):
    the specification does not keep that it was resumed, and takes its transaction for put aside once more.
    """
    store, place = side.broker.message_store, side.place_of_half(step.arguments[0])
    if place < store.cleaning.min_phy_offset:
        return True
    half = store.look_message_by_offset(place)
    is_poison = half is not None and len(half.properties_text) + GROWTH > MOST_PROPERTIES
    if side.constants.parks_poison and (half is None or is_poison):
        return True
    offsets = side.broker.consumer_offset_manager
    saved = offsets.saved.get(HALF_TOPIC, HALF_QUEUE_ID) or 0
    is_ahead = step.arguments[0] >= min(saved, offsets.query_offset(HALF_TOPIC, HALF_QUEUE_ID))
    return side.constants.settles_once and is_ahead


def _meets_a_resumed_half(side: BrokerSide, step: Step) -> bool:
    """The same, where the half offset goes back to it."""
    return side.constants.settles_once and any(half >= step.arguments[0] for half in side.resumed)


persist_offsets = drives("save", ask=_persist_what_is_saved)(lambda side, _: side.process.persist_offsets())
flush_log = drives("flush")(lambda side, _: side.process.flush())
set_half_offset_back = drives("regress", unless=_meets_a_resumed_half)(
    lambda side, step: _set_offset_back(side, HALF_TOPIC, step.arguments[0])
)
set_op_offset_back = drives("regress")(lambda side, step: _set_offset_back(side, OP_TOPIC, step.arguments[0]))


@drives("resume", unless=_cannot_be_resumed, needs=("resume_discarded keeps_discarded",))
def resume_discarded(side: BrokerSide, step: Step) -> None:
    msg_id = create_message_id(side.broker.settings.store_host, side.place_of_half(step.arguments[0]))
    code = side.process.resume_check(msg_id)
    expect("the answer to RESUME_CHECK_HALF_MESSAGE", SUCCESS, code)
    side.resumed.add(step.arguments[0])


tick = drives("time")(lambda side, _: side.process.advance(TICK_MS))


@drives("die")
def crash(side: BrokerSide, _: Step) -> None:
    side.crashes += 1
    side.dispatch_old_files()
    side.process.crash()
    side.restart()


def _loses_what_a_proxy_knows(side: BrokerSide, step: Step) -> bool:
    """A proxy goes on naming a half that the broker has lost; the specification lets it forget that."""
    records, left = side.records, step.arguments[0]
    if left >= len(records.half_places) + len(records.op_places):
        return False
    kept = records.halves_before(records.place_of(left))
    return any(half >= kept for half, _ in side.proxies.known())


@drives("power", unless=_loses_what_a_proxy_knows)
def lose_power(side: BrokerSide, step: Step) -> None:
    """The entries of the queues are lost with their records.

    A power loss may take records and leave the entries of their queue. The next start moves the queue's write position
    before them, the one after that may take them for entries again (ConsumeQueue#truncateDirtyLogicFiles, #recover),
    and the half queue holds what is no half; the specification has no such queue.
    """
    end = side.records.place_of(step.arguments[0])
    halves = side.records.halves_before(end)
    side.mishaps += 1
    side.dispatch_old_files()
    side.process.lose_power(end)
    side.network.forget_halves_from(halves)
    for half in [half for half in side.known_places if half >= halves]:
        del side.known_places[half]
    side.restart()


@drives("clock")
def step_clock_back(side: BrokerSide, _: Step) -> None:
    """Threads wait by elapsed time, and may sleep longer than they asked for.

    The check thread does so by a tick, as the specification lets it wait by the wall clock.
    """
    side.clock_steps += 1
    side.process.set_clock(-TICK_MS)
    side.process.oversleep(TICK_MS)
