"""The topics and the consumer group that a broker keeps for its transactions (``TopicValidator``, ``MixAll``)."""

from __future__ import annotations

from typing import Final

from reference.store.consumer_offsets import TRANSACTION_GROUP

HALF_TOPIC: Final = "RMQ_SYS_TRANS_HALF_TOPIC"
OP_TOPIC: Final = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
DISCARD_TOPIC: Final = "TRANS_CHECK_MAX_TIME_TOPIC"
REMOVE_TAG: Final = "d"
"""``TransactionalMessageUtil.REMOVE_TAG``: the tag of an op message whose halves are to be removed."""

CHECK_GROUP: Final = TRANSACTION_GROUP
"""The group under which the check service reads the half and the op queue."""

HALF_QUEUE_ID: Final = 0
"""Half messages of all topics share this one queue; its op messages lie in the op queue of the same number."""
