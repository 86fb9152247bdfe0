"""The proxy's numbers, as 5.5.0 has them where nobody sets another (``ProxyConfig``)."""

from __future__ import annotations

from typing import Final

_SECOND_MS: Final = 1_000
_HOUR_MS: Final = 3_600_000

MOST_REQUEST_BYTES: Final = 130 << 20
"""``grpcMaxInboundMessageSize``"""

MOST_IDLE_MS: Final = 120 * _SECOND_MS
"""``grpcClientIdleTimeMills``"""

MOST_BODY_BYTES: Final = 4 << 20
"""``maxMessageSize``"""

MOST_PROPERTY_BYTES: Final = 16 << 10
MOST_PROPERTIES: Final = 128
"""``maxUserPropertySize``, of user properties, tag and keys together, and ``userPropertyMaxNum``."""

MESSAGE_GROUP_BYTES: Final = 64
"""``maxMessageGroupSize``: one of so many is too large."""

MOST_DELAY_MS: Final = 24 * _HOUR_MS
"""``maxDelayTimeMills``"""

MOST_RECOVERY_SECONDS: Final = 3_600
"""``maxTransactionRecoverySecond``"""

LEAST_INVISIBLE_MS: Final = 10 * _SECOND_MS
MOST_INVISIBLE_MS: Final = 12 * _HOUR_MS
RENEWED_INVISIBLE_MS: Final = 60 * _SECOND_MS
"""``minInvisibleTimeMillsForRecv``, ``maxInvisibleTimeMills``, and ``defaultInvisibleTimeMills`` of what is renewed."""

PRODUCER_ATTEMPTS: Final = 3
PRODUCER_BACKOFF_MS: Final = (10, 1_000)
PRODUCER_BACKOFF_MULTIPLIER: Final = 2
"""``grpcClientProducerMaxAttempts``, and of its backoff the first, the longest and the factor."""

LEAST_POLLING_MS: Final = 5 * _SECOND_MS
MOST_POLLING_MS: Final = 20 * _SECOND_MS
POLLING_BATCH: Final = 32
POLLING_RESERVE_MS: Final = 100
"""``grpcClientConsumerMinLongPollingTimeoutMillis`` and so on: how long a pop waits, how many it asks for, and how
long before the client's deadline it is answered (``longPollingReserveTimeInMillis``)."""

LITE_TOPICS: Final = 2_000
LITE_TOPIC_BYTES: Final = 64
"""``liteSubClientQuota`` of a group and ``maxLiteTopicSize``, which every consumer is given."""

TRANSACTION_DATA_MS: Final = 30 * _SECOND_MS
MOST_TRANSACTION_DATA: Final = 15
"""``transactionDataExpireMillis`` and ``transactionDataMaxNum``, of one transaction."""
