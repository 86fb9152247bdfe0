"""The state of the reference broker in one line, as ``halfcheck.harness.Digest`` says it of the real classes."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

from reference.format.record import CommitLogOffset
from reference.format.system_topics import DISCARD_TOPIC, HALF_QUEUE_ID, HALF_TOPIC, OP_TOPIC

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reference.broker.broker_controller import BrokerController
    from reference.broker.transaction.transactional_message_check_listener import CheckTransactionStateRequest

PARTS: Final = (
    "the answer", "the beginning of the log", "the end of the log", "the new bytes of the log",
    "the offset of the half queue",
    "the offset of the op queue", "the end of the half queue", "the end of the op queue",
    "the end of the discard queue", "the end of the topic's queue", "the lower end of the half queue",
    "the lower end of the op queue", "the op batch", "the check requests",
)  # fmt: skip
"""Of an answer, in their order."""


class Digest:
    """The digests of one store, from order to order: what is new in the log is said once."""

    def __init__(self, topic: str) -> None:
        self._queues = (HALF_TOPIC, OP_TOPIC, DISCARD_TOPIC, topic)
        self._seen = 0

    def of(self, broker: BrokerController, checks: Iterable[CheckTransactionStateRequest] = ()) -> tuple[str, ...]:
        """All of `PARTS` but the answer; the check requests are those that the order made."""
        store, offsets = broker.message_store, broker.consumer_offset_manager
        end = store.max_phy_offset
        start = CommitLogOffset(min(self._seen, end))
        self._seen = end
        context = broker.transactional_message_service.delete_context.get(HALF_QUEUE_ID)
        return (
            str(int(store.cleaning.min_phy_offset)),
            str(int(end)),
            f"{zlib.crc32(store.get_data(start, end)):x}",
            str(int(offsets.query_offset(HALF_TOPIC, HALF_QUEUE_ID))),
            str(int(offsets.query_offset(OP_TOPIC, HALF_QUEUE_ID))),
            *(str(int(store.get_max_offset_in_queue(topic, HALF_QUEUE_ID))) for topic in self._queues),
            *(str(int(store.cleaning.get_min_offset_in_queue(topic, HALF_QUEUE_ID))) for topic in self._queues[:2]),
            "" if context is None else f"{context.last_write_timestamp} {''.join(context.context_queue)}",
            ",".join(f"{r.tran_state_table_offset}@{r.commit_log_offset}={r.transaction_id}" for r in checks),
        )
