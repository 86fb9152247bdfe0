"""The removeMap of a check round, filled from the op queue: halves that are done, and op messages that may go.

Written after ``TransactionalMessageServiceImpl#fillOpRemoveMap``, ``#check`` and ``#calculateOpOffset``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.broker.transaction.transactional_message_bridge import PullResult, PullStatus, TransactionalMessageBridge
from reference.broker.transaction.transactional_message_service import OFFSET_SEPARATOR
from reference.errors import ThrownInCheckError
from reference.format.properties import TAGS
from reference.format.record import LogRecord, QueueOffset
from reference.format.system_topics import HALF_TOPIC, OP_TOPIC, REMOVE_TAG
from reference.java import get_long

if TYPE_CHECKING:
    from reference.versions.switches import ReleaseSwitches


class OpRemoveMap:
    """The op side of one round.

    Parameters
    ----------
    mini_offset
        The half offset at the round's start; halves below it count as finished.
    op_msg_pull_nums
        Op messages that are read at once.
    """

    def __init__(
        self,
        switches: ReleaseSwitches,
        bridge: TransactionalMessageBridge,
        mini_offset: QueueOffset,
        op_offset: QueueOffset,
        op_msg_pull_nums: int,
    ) -> None:
        self.remove_map: dict[QueueOffset, QueueOffset] = {}
        """Half offset to the offset of the op message that names it (``removeMap``)."""
        self.op_msg_map: dict[QueueOffset, set[QueueOffset]] = {}
        """Op offset to the half offsets that it names and that were not visited yet (``opMsgMap``, 5.1.0 and later)."""
        self.done_op_offset: list[QueueOffset] = []
        """Op messages that the round is through with, in the order in which that showed (``doneOpOffset``)."""
        self._skipped: set[QueueOffset] = set()
        self._switches = switches
        self._bridge = bridge
        self._mini_offset = mini_offset
        self._op_msg_pull_nums = op_msg_pull_nums
        self.pull_result = PullResult(PullStatus.NO_NEW_MSG, op_offset)
        """The last pull; before the first, nothing at the offset where it will begin."""
        self.was_filled = False
        self._least = mini_offset
        """The first half that an op message may be for; a half below it is finished."""

    @property
    def next_op_offset(self) -> QueueOffset:
        """Where the next pull begins."""
        return self.pull_result.next_begin_offset

    def fill(self, new_offset: QueueOffset) -> PullResult:
        """Read the next op messages (``#fillOpRemoveMap``), where the round stands at a half.

        Raises
        ------
        ThrownInCheckError
            One cannot be decoded and the version stumbles over it, or the store answers nothing at all.
        """
        self._look_from(new_offset)
        self.pull_result = self._fill(self.next_op_offset)
        self.was_filled = True
        return self.pull_result

    def settle(self, half: QueueOffset) -> QueueOffset | None:
        """Take a half out, and give the op message that named it; None if none did."""
        op = self.remove_map.pop(half, None)
        if op is None:
            return None
        if op in self.op_msg_map:
            self.op_msg_map[op].discard(half)
            if self.op_msg_map[op]:
                return op
            del self.op_msg_map[op]
        if self._switches.marks_op_done_on_hit:
            self.done_op_offset.append(op)
        return op

    def settle_prepared(self, prepared_half: QueueOffset) -> QueueOffset | None:
        """Take out the original of an immune copy; its op message is done, whatever else it names (A15)."""
        op = self.remove_map.pop(prepared_half, None)
        if op is not None:
            self.done_op_offset.append(op)
        return op

    def is_named_ahead(self, half: QueueOffset) -> bool:
        """Whether an op message that was not read yet names a half (a repair of B05)."""
        return any(op is not None and half in _named(op) for _, op in self._bridge.read_ops(self.next_op_offset))

    def read_to_the_end(self, new_offset: QueueOffset) -> None:
        """Read what is left of the op queue, for the op offset alone (a repair of A12).

        A round that passes halves for what is known of them reads no op messages for these.
        """
        self._look_from(new_offset)
        for offset, op in self._bridge.read_ops(self.next_op_offset):
            if op is not None:
                self._enter(op)
            elif self._switches.skips_undecodable_ops:
                self._skip(offset)

    def calculate_op_offset(self, old_offset: QueueOffset, new_half_offset: QueueOffset) -> QueueOffset:
        """The op offset behind the unbroken run of done op messages from an old offset (``#calculateOpOffset``).

        A message that is listed twice ends the run, as any gap does. So does, for a round that skips them, one that
        cannot be decoded and may name a half from `new_half_offset` on, as one stands there before it in the log (B17).
        """
        new_offset = old_offset
        done = self.done_op_offset
        if self._skipped and new_half_offset < self._bridge.max_offset(HALF_TOPIC):
            place = self._bridge.place_of(HALF_TOPIC, new_half_offset)
            done = [op for op in done if op not in self._skipped or self._bridge.place_of(OP_TOPIC, op) < place]
        for op in sorted(done):
            if op != new_offset:
                break
            new_offset = QueueOffset(new_offset + 1)
        return new_offset

    def _fill(self, offset: QueueOffset) -> PullResult:
        result = self._bridge.get_message(OP_TOPIC, offset, self._op_msg_pull_nums)
        if result is None and self._switches.tolerates_null_op_pull and self.was_filled:
            return PullResult(PullStatus.NO_NEW_MSG, offset)
        if result is None:
            message = "java.lang.NullPointerException: the op queue cannot be read"
            raise ThrownInCheckError(message)
        if result.status is PullStatus.OFFSET_ILLEGAL:
            self._bridge.update_consume_offset(OP_TOPIC, result.next_begin_offset)
        for op in result.found or ():
            self._enter(op)
        for offset in result.skipped:
            self._skip(offset)
        return result

    def _look_from(self, new_offset: QueueOffset) -> None:
        """Where halves are passed without their op messages, one before the round's place is finished, too."""
        if self._switches.settles_once:
            self._least = max(self._mini_offset, new_offset)

    def _is_of_interest(self, half: QueueOffset) -> bool:
        """Whether the round may still meet the half, or, where that counts, a copy of it (a repair of B01)."""
        if half >= self._least:
            return True
        index = self._bridge.half_index if self._switches.heeds_settled_originals else None
        return index is not None and index.last_copy_of(half) >= self._least

    def _skip(self, op: QueueOffset) -> None:
        self.done_op_offset.append(op)
        self._skipped.add(op)

    def _enter(self, op: LogRecord) -> None:
        if self._switches.batches_ops:
            self._enter_batch(op)
        else:
            self._enter_single(op)

    def _enter_batch(self, op: LogRecord) -> None:
        """5.1.0 and later: a list of half offsets, each followed by a comma."""
        halves: set[QueueOffset] = set()
        if op.properties.get(TAGS) == REMOVE_TAG:
            for text in op.body.decode().split(OFFSET_SEPARATOR):
                half = QueueOffset(get_long(text))
                if self._is_of_interest(half):
                    self.remove_map[half] = op.queue_offset
                    halves.add(half)
        if halves:
            self.op_msg_map[op.queue_offset] = halves
        else:
            self.done_op_offset.append(op.queue_offset)

    def _enter_single(self, op: LogRecord) -> None:
        """4.x and 5.0: one half offset is the whole body; an op message with another tag is never done.

        A list, as later versions write it, is no number, and counts as an offset that is long done (B18).
        """
        if self._switches.reads_op_lists and OFFSET_SEPARATOR in op.body.decode():
            self._enter_batch(op)
            return
        if op.properties.get(TAGS) != REMOVE_TAG:
            return
        half = QueueOffset(get_long(op.body.decode()))
        if not self._is_of_interest(half):
            self.done_op_offset.append(op.queue_offset)
        else:
            self.remove_map[half] = op.queue_offset


def _named(op: LogRecord) -> set[int]:
    """The halves that an op message names, in either form."""
    is_named = op.properties.get(TAGS) == REMOVE_TAG
    return {get_long(text) for text in op.body.decode().split(OFFSET_SEPARATOR)} if is_named else set()
