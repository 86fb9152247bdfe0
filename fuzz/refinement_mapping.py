"""The refinement mapping: the specification's state, computed from the broker's records and memory.

One tick is `fuzz.time_unit.TICK_MS` of the broker's clock, and instants are compared exactly; only "long ago" is one
value, as the specification itself cannot tell such instants apart. Which fields are compared, and why the others are
not, is said in `fuzz.compared_slots`.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fuzz.broker_records import BrokerRecords, mask_of
from fuzz.compared_slots import COMPARED
from fuzz.time_unit import ticks
from reference.system_topics import HALF_QUEUE_ID, HALF_TOPIC, OP_TOPIC
from spec.language import Kind
from spec.state import End, Pull

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reference.broker_controller import BrokerController
    from reference.check_round import CheckRound
    from spec.constants import Constants
    from spec.language import MachineState, Slot


class RefinementMapping:
    """The broker's side of each compared slot, kept up to date from step to step.

    Parameters
    ----------
    state
        A state of the specification in the same instance: gives the slots.
    constants
        Their instance and profile.

    Attributes
    ----------
    records
        What the broker has stored so far.
    """

    def __init__(self, state: MachineState, constants: Constants) -> None:
        slots = state.memory.slots
        left_out = set() if constants.batches_ops else {"pulled_op.unresolved"}
        self._slots = slots
        self._first = {".".join(slot.path): place for place, slot in reversed(list(enumerate(slots)))}
        self._size = {name: sum(".".join(slot.path) == name for slot in slots) for name in self._first}
        self._compared = [p for p, slot in enumerate(slots) if ".".join(slot.path) in COMPARED - left_out]
        self._floor = [slot.low if slot.kind in (Kind.INSTANT, Kind.CLOCK) else None for slot in slots]
        self._empty = [slot.low for slot in slots]
        self._values = list(self._empty)
        self._volatile = [self._span(name) for name in self._first if name.startswith(("round.", "pulled_op."))]
        self._batch = [self._span(name) for name in self._first if name.startswith("batch.")]
        self._network = [self._span("half.end"), self._span("half.check_in_flight")]
        self._ends = range(self._first["half.end"], self._first["half.end"] + constants.half_slots)
        self.records = BrokerRecords(self._put)

    def update(self, broker: BrokerController, in_handling: Iterable[int]) -> None:
        """Read the broker: its new records, and all of its memory.

        Parameters
        ----------
        in_handling
            Half offsets whose END_TRANSACTION the broker has begun: the real message is stored, the op is not.
        """
        self.records.read(broker.message_store)
        self._values[self._first["now"]] = ticks(broker.clock.now)
        self._read_network(broker, in_handling)
        self._read_batch(broker)
        self._read_offsets(broker)
        self._clear(self._volatile)
        if broker.check_service.round is not None:
            self._read_round(broker.check_service.round)
        self._put("round_ended_at", None, ticks(broker.check_service.waits_since))

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
            if place in self._ends and End.COMMIT_STORED not in (value, broker[place]):
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

    def _span(self, name: str) -> slice:
        return slice(self._first[name], self._first[name] + self._size[name])

    def _clear(self, spans: list[slice]) -> None:
        for span in spans:
            self._values[span] = self._empty[span]

    def _read_network(self, broker: BrokerController, in_handling: Iterable[int]) -> None:
        self._clear(self._network)
        for half in in_handling:
            self._put("half.end", half, End.COMMIT_STORED)
        for request in broker.check_requests:
            self._put("half.check_in_flight", request.tran_state_table_offset, 1)

    def _read_batch(self, broker: BrokerController) -> None:
        context = broker.transactional_message_service.delete_context.get(HALF_QUEUE_ID)
        if context is None:
            self._clear(self._batch)
            return
        self._put("batch.is_open", None, 1)
        self._put("batch.names", None, mask_of(entry.rstrip(",") for entry in context.context_queue))
        self._put("batch.written_at", None, ticks(context.last_write_timestamp))

    def _read_offsets(self, broker: BrokerController) -> None:
        for topic, name in ((HALF_TOPIC, "half"), (OP_TOPIC, "op")):
            in_memory = broker.consumer_offset_manager.query_offset(topic, HALF_QUEUE_ID)
            saved = broker.store_path.consumer_offsets.get(topic, HALF_QUEUE_ID)
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
        self._put("round.last_pull", None, Pull.FOUND if ops.has_found_ops else Pull.END)
        listed = Counter(ops.done_op_offset)
        self._put("round.done", None, mask_of(listed))
        self._put("round.done_twice", None, mask_of(op for op, times in listed.items() if times > 1))
        for half, op in ops.remove_map.items():
            self._put("round.removed_by", half, op)
        for op, halves in ops.op_msg_map.items():
            self._put("pulled_op.unresolved", op, mask_of(halves))


def show_value(slot: Slot, value: int) -> str:
    """A value of the broker's as a reader writes it, also one that the slot could never hold."""
    try:
        return slot.show(value)
    except ValueError:
        return str(value)
