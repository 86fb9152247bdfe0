"""The role of a broker in its group, and its settings for transactions, with the defaults of a release."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Self

from spec.releases.broker_defaults import defaults_of

if TYPE_CHECKING:
    from reference.format.broker_conf import BrokerConf

_HOUR_MS = 3600 * 1000
_DEFAULTS = defaults_of("5.3.3")


class BrokerRole(Enum):
    """The role of a broker in its group (``BrokerRole``, ``BrokerConfig.brokerId``)."""

    MASTER = "master"
    SLAVE = "slave"
    ACTING_MASTER = "acting_master"
    """A slave with ``enableSlaveActingMaster`` and the smallest id of those alive in its group (5.1.0 and later)."""

    @property
    def is_slave(self) -> bool:
        """Whether the store takes no messages, and END_TRANSACTION is refused."""
        return self is not BrokerRole.MASTER


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """Times are in units of the virtual clock: milliseconds in RocketMQ, ticks for whoever likes them shorter.

    Only CHECK_IMMUNITY_TIME_IN_SECONDS is bound to a unit: one second of it is 1000 units of the clock.
    """

    transaction_timeout_ms: int = _DEFAULTS["transactionTimeOut"]
    """``transactionTimeOut``: a half without an immunity is not checked while younger."""
    transaction_check_max: int = _DEFAULTS["transactionCheckMax"]
    """``transactionCheckMax``: the check count at which a half is discarded."""
    transaction_check_interval_ms: int = _DEFAULTS["transactionCheckInterval"]
    """``transactionCheckInterval``: the wait between the end of a round and the next."""
    op_batch_interval_ms: int = _DEFAULTS["transactionOpBatchInterval"]
    op_msg_max_size: int = _DEFAULTS["transactionOpMsgMaxSize"]
    """``transactionOpMsgMaxSize``, in characters of the op message's body."""
    op_context_queue_length: int = _DEFAULTS["op context queue"]
    """The most entries that wait for a batch (``MessageQueueOpContext``)."""
    op_msg_pull_nums: int = _DEFAULTS["OP_MSG_PULL_NUMS"]
    """Op messages that a round reads at once."""
    check_pool_length: int = _DEFAULTS["check pool"]
    """The most checks that wait to be sent (``AbstractTransactionalMessageCheckListener``), in threads and queue."""
    max_process_time_limit_ms: int = _DEFAULTS["MAX_PROCESS_TIME_LIMIT"]
    """The length of a round beyond which it stops."""
    sleep_while_no_op_ms: int = _DEFAULTS["SLEEP_WHILE_NO_OP"]
    """How long the check thread sleeps after a pull without an op message, where it does."""
    file_reserved_time_ms: int = _DEFAULTS["fileReservedTime"] * _HOUR_MS
    """``fileReservedTime``: a half born earlier is discarded at its next visit."""
    flush_consumer_offset_delay_ms: int = _DEFAULTS["first flush of consumer offsets"]
    """When the consumer offsets are saved first, counted from the start (``BrokerController#initialize``)."""
    flush_consumer_offset_interval_ms: int = _DEFAULTS["flushConsumerOffsetInterval"]
    transaction_metric_flush_interval_ms: int = _DEFAULTS["transactionMetricFlushInterval"]
    """``transactionMetricFlushInterval``: how often the counts of halves are saved (5.2.0 and later)."""
    async_send_enable: bool = True
    """``asyncSendEnable`` (5.x): the answer to a send does not wait in the thread that takes it."""
    reject_transaction_message: bool = False
    """``rejectTransactionMessage``: halves are refused with NO_PERMISSION."""
    store_host: str = "127.0.0.1:10911"
    """``brokerIP1:listenPort``."""
    broker_name: str = "broker-a"
    broker_cluster_name: str = "DefaultCluster"
    region_id: str = "DefaultRegion"

    @classmethod
    def of_broker_conf(cls, conf: BrokerConf, release: str) -> Self:
        """The settings of a ``broker.conf``; what it leaves out is the default of that release."""
        return cls(
            transaction_timeout_ms=conf.or_default("transactionTimeOut", release),
            transaction_check_max=conf.or_default("transactionCheckMax", release),
            transaction_check_interval_ms=conf.or_default("transactionCheckInterval", release),
            op_batch_interval_ms=conf.or_default("transactionOpBatchInterval", release),
            op_msg_max_size=conf.or_default("transactionOpMsgMaxSize", release),
            file_reserved_time_ms=conf.or_default("fileReservedTime", release) * _HOUR_MS,
            transaction_metric_flush_interval_ms=defaults_of(release)["transactionMetricFlushInterval"],
            flush_consumer_offset_interval_ms=conf.or_default("flushConsumerOffsetInterval", release),
            reject_transaction_message=bool(conf.reject_transaction_message),
        )
