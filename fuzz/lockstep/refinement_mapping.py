"""The refinement mapping: the specification's state, computed from the broker's records and memory.

One tick is `TICK_MS` of the broker's clock, and instants are compared exactly; only "long ago" is one value, as the
specification itself cannot tell such instants apart. Each field of `spec.state.State` is
compared that `LEFT_ALONE` does not name. It is computed from the broker's records and memory, from what it answered,
and from the driver's own producers, network and other master, which know nothing of the specification's state.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from fuzz.broker_side.broker_records import BrokerRecords, mask_of, ticks
from fuzz.broker_side.producers import GROUP
from reference.format.system_topics import HALF_QUEUE_ID, HALF_TOPIC, OP_TOPIC
from spec.language import NONE, Kind, MachineState, Slot
from spec.state import Producer, Pull, Role

if TYPE_CHECKING:
    from fuzz.broker_side.broker_side import BrokerSide
    from fuzz.broker_side.network import Network
    from reference.broker.broker_controller import BrokerController
    from reference.broker.transaction.check_round import CheckRound
    from reference.broker.transaction.transactional_message_bridge import PullResult
    from reference.store.message_store import MessageStore
    from spec.constants import Constants

_NETWORK: Final = (
    "end", "other_end", "claims_check", "check_in_flight", "settled", "acknowledged", "op_write_failed", "foreign",
    "known_to",
)  # fmt: skip
"""Fields of a half that the network knows, and the proxies on it."""

_ROLES: Final = {"master": Role.MASTER, "slave": Role.SLAVE, "acting_master": Role.ACTING_MASTER}

_GHOST: Final = "a ghost: it remembers what the properties speak of; no broker knows it, and nothing compared needs it"

LEFT_ALONE: Final = {
    **dict.fromkeys(
        (
            "transaction.delivered_twice_for_one", "transaction.shown_unasked", "transaction.committed_aside",
            "transaction.direct", "transaction.rolled_back", "transaction.cause", "transaction.quiet",
            "transaction.discarded", "round.pulls_nothing", "stuck", "stuck_rounds", "op_left_behind",
        ),
        _GHOST,
    ),
    **dict.fromkeys(
        (
            "transaction.halves_gone", "transaction.checked_before", "transaction.resumed_before",
            "transaction.dropped_before", "transaction.unseen_before", "transaction.copy_lost_before",
            "transaction.given_up_before", "half.copied_for_good", "unsaved", "had_halves", "had_ops",
        ),
        "kept where what is over is forgotten, which no broker does",
    ),
    **dict.fromkeys(
        ("round.met", "round.held", "batch.others"),
        "what one transaction among others knows of them; no broker tells transactions apart like that",
    ),
    "half.burnt": _GHOST + "; each check request is compared when it is sent",
    "half.left": "a ghost, but for the halves that an operator may resume; each branch of the round is compared",
}  # fmt: skip
"""Fields that are not computed, each with the reason: ghosts, and summaries of forgotten records."""


class RefinementMapping:
    """The broker's side of each compared slot of the specification's state, updated from step to step."""

    def __init__(self, state: MachineState, constants: Constants) -> None:
        slots = state.memory.slots
        self._slots = slots
        names = [".".join(slot.path) for slot in slots]
        self._first = {name: place for place, name in reversed(list(enumerate(names)))}
        self._size = Counter(names)
        # It is `opMsgMap`, which 4.x does not have.
        left_alone = LEFT_ALONE.keys() | (set() if constants.batches_ops else {"pulled_op.unresolved"})
        self._compared = [place for place, name in enumerate(names) if name not in left_alone]
        self._floor = [slot.low if slot.kind in (Kind.INSTANT, Kind.CLOCK) else None for slot in slots]
        self._empty = [slot.low for slot in slots]
        self._values = list(self._empty)
        self._volatile = [self._span(name) for name in self._first if name.startswith(("round.", "pulled_op."))]
        self._batch = [self._span(name) for name in self._first if name.startswith("batch.")]
        self._network = [self._span(f"half.{name}") for name in _NETWORK]
        self._asks_what_is_flushed = constants.power_loss
        self._asks_what_is_left = constants.retention
        self._counts_crashes = constants.crashes != NONE
        self._asks_what_decays = constants.undecodable_half or constants.undecodable_op
        self.records = BrokerRecords(self._put, self._clear_from)
        """The records that the broker has stored so far."""

    def update(self, side: BrokerSide) -> None:
        """Read the broker, its new records, all of its memory, and its surroundings."""
        broker = side.broker
        self.records.read(broker.message_store)
        if self._asks_what_decays:
            self.records.read_decay(broker.message_store, side.process.rotten)
        self._values[self._first["now"]] = ticks(broker.clock.now)
        self._read_surroundings(side)
        self._read_network(broker, side.network)
        for half, proxy in side.proxies.known():
            self._put("half.known_to", half, proxy)
        self._read_producers(side)
        self._read_batch(broker)
        self._read_offsets(broker)
        self._clear(self._volatile)
        if broker.check_service.round is not None:
            self._read_round(broker.check_service.round)
        waited = broker.clock.elapsed - broker.check_service.last_ended
        self._put("round_ended_at", None, ticks(broker.clock.now - waited))

    def first_difference(self, state: MachineState) -> tuple[str, str, str] | None:
        """The first slot that differs: its label and the specification's and the broker's value; None if none does."""
        spec, broker, floor = state.memory.values, self._values, self._floor
        for place in self._compared:
            value = spec[place]
            if value == broker[place]:
                continue
            low = floor[place]
            if low is not None and max(value, low) == broker[place]:
                continue
            slot = self._slots[place]
            return slot.label, slot.show(value), show_value(slot, broker[place])
        return None

    def _put(self, name: str, index: int | None, value: int) -> None:
        """A value outside the instance's arrays is left out: the length that counts it differs all the same."""
        if index is None:
            self._values[self._first[name]] = value
        elif 0 <= index < self._size[name]:
            self._values[self._first[name] + index] = value

    def _clear_from(self, record: str, index: int) -> None:
        """All fields of an array of records hold nothing from this place on."""
        for name in self._first:
            if name.startswith(f"{record}."):
                span = self._span(name)
                self._values[span.start + index : span.stop] = self._empty[span.start + index : span.stop]

    def _span(self, name: str) -> slice:
        return slice(self._first[name], self._first[name] + self._size[name])

    def _clear(self, spans: list[slice]) -> None:
        for span in spans:
            self._values[span] = self._empty[span]

    def _read_surroundings(self, side: BrokerSide) -> None:
        self._put("clock_steps", None, side.clock_steps)
        self._put("mishaps", None, side.mishaps)
        if self._counts_crashes:
            self._put("crashes", None, side.crashes)
        self._put("stray_ends", None, side.network.strays)
        broker = side.broker
        self._put("role", None, Role.STOPPING if broker.is_stopping else _ROLES[broker.role.value])
        if self._asks_what_is_flushed:
            halves, ops = self.records.flushed(side.broker.message_store)
            self._put("flushed.halves", None, halves)
            self._put("flushed.ops", None, ops)
        if self._asks_what_is_left:
            self._read_what_is_left(side.broker.message_store)

    def _read_what_is_left(self, store: MessageStore) -> None:
        halves, ops = self.records.deleted(store)
        self._put("gone.halves", None, halves)
        self._put("gone.ops", None, ops)
        self._put("lower_end.halves", None, store.cleaning.get_min_offset_in_queue(HALF_TOPIC, HALF_QUEUE_ID))
        self._put("lower_end.ops", None, store.cleaning.get_min_offset_in_queue(OP_TOPIC, HALF_QUEUE_ID))

    def _read_network(self, broker: BrokerController, network: Network) -> None:
        self._clear(self._network)
        for half, sent in network.ends.items():
            for name, request in zip(("half.end", "half.other_end"), sent, strict=False):
                self._put(name, half, request.end)
        for half in network.claims_check:
            self._put("half.claims_check", half, 1)
        for half, about in network.handled.items():
            self._put("half.settled", half, about.settled)
            self._put("half.acknowledged", half, int(about.acknowledged))
            self._put("half.op_write_failed", half, int(about.op_write_failed))
            self._put("half.foreign", half, int(about.foreign))
        for check in broker.check_requests:
            self._put("half.check_in_flight", check.tran_state_table_offset, 1)

    def _read_producers(self, side: BrokerSide) -> None:
        """Whether the broker can reach one is its own knowledge; why it cannot is theirs."""
        producers = side.producers
        is_reached = side.broker.producer_manager.get_available_channel(GROUP) is not None
        is_known_as = Producer.OFFLINE if producers.are is Producer.ONLINE else producers.are
        self._put("producer", None, Producer.ONLINE if is_reached else is_known_as)
        for transaction, local in producers.local.items():
            self._put("transaction.local", transaction, local)
            self._put("transaction.first_half", transaction, producers.sent[transaction].queue_offset)
            elsewhere = side.other_master.delivered[transaction]
            deliveries = self.records.deliveries[transaction] + elsewhere
            self._put("transaction.deliveries", transaction, min(deliveries, 2))
            self._put("transaction.escaped", transaction, len(side.other_master.waiting[transaction]))

    def _read_batch(self, broker: BrokerController) -> None:
        context = broker.transactional_message_service.delete_context.get(HALF_QUEUE_ID)
        waiting_since = self._values[self._first["batch.waiting_since"]]
        waits_already = self._values[self._first["batch.names"]] != 0
        self._clear(self._batch)
        if context is None:
            return
        if context.context_queue:
            self._put("batch.waiting_since", None, waiting_since if waits_already else ticks(broker.clock.now))
        self._put("batch.is_open", None, 1)
        self._put("batch.names", None, mask_of(entry.rstrip(",") for entry in context.context_queue))
        self._put("batch.written_at", None, ticks(context.last_write_timestamp))

    def _read_offsets(self, broker: BrokerController) -> None:
        for topic, name in ((HALF_TOPIC, "half"), (OP_TOPIC, "op")):
            in_memory = broker.consumer_offset_manager.query_offset(topic, HALF_QUEUE_ID)
            saved = broker.consumer_offset_manager.saved.get(topic, HALF_QUEUE_ID)
            self._put(f"offsets.{name}", None, max(in_memory, 0))
            self._put(f"saved.{name}", None, 0 if saved is None else saved)

    def _read_round(self, running: CheckRound) -> None:
        ops = running.op_remove_map
        self._put("round.running", None, 1)
        self._put("round.started_at", None, ticks(running.start_time))
        self._put("round.cursor", None, running.new_offset)
        self._put("round.first_op", None, running.op_offset)
        self._put("round.next_op", None, ops.next_op_offset)
        self._put("round.null_met", None, int(running.get_message_null_count > 1))
        self._put("round.last_pull", None, _pull(ops.pull_result))
        listed = Counter(ops.done_op_offset)
        self._put("round.done", None, mask_of(listed))
        self._put("round.done_twice", None, mask_of(op for op, times in listed.items() if times > 1))
        for half, op in ops.remove_map.items():
            self._put("round.removed_by", half, op)
        for op, halves in ops.op_msg_map.items():
            self._put("pulled_op.unresolved", op, mask_of(halves))


def _pull(result: PullResult) -> Pull:
    if result.found is None:
        return Pull.END
    return Pull.FOUND if result.found or result.skipped else Pull.UNREADABLE


def show_value(slot: Slot, value: int) -> str:
    """A value of the broker's as a reader writes it, also one that the slot could never hold."""
    try:
        return slot.show(value)
    except ValueError:
        return str(value)
