"""The settings of a broker that bear on its transactions, with RocketMQ's defaults filled in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from reference.store.broker_conf import BrokerConf
    from reference.version_switches import VersionSwitches

_HOUR_MS = 3600 * 1000


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """Times are in units of the virtual clock: milliseconds in RocketMQ, ticks for whoever likes them shorter.

    Only CHECK_IMMUNITY_TIME_IN_SECONDS is bound to a unit: one second of it is 1000 units of the clock.

    Attributes
    ----------
    transaction_timeout_ms
        ``transactionTimeOut``: a half without an immunity is not checked while younger.
    transaction_check_max
        ``transactionCheckMax``: the check count at which a half is discarded.
    transaction_check_interval_ms
        ``transactionCheckInterval``: the wait between the end of a round and the next; 60000 before 5.1.1.
    op_batch_interval_ms, op_msg_max_size, op_context_queue_length
        ``transactionOpBatchInterval``; ``transactionOpMsgMaxSize``, in characters of the op message's body; the most
        entries that wait for a batch (``MessageQueueOpContext``).
    op_msg_pull_nums
        Op messages that a round reads at once (``OP_MSG_PULL_NUMS``).
    check_pool_length
        The most checks that wait to be sent: five threads and a queue of 2,000
        (``AbstractTransactionalMessageCheckListener``).
    max_process_time_limit_ms
        The length of a round beyond which it stops (``MAX_PROCESS_TIME_LIMIT``).
    sleep_while_no_op_ms
        How long the check thread sleeps after a pull without an op message (``SLEEP_WHILE_NO_OP``), where it does.
    file_reserved_time_ms
        ``fileReservedTime``: a half born earlier is discarded at its next visit.
    flush_consumer_offset_delay_ms, flush_consumer_offset_interval_ms
        When the consumer offsets are saved first, counted from the start (``BrokerController#initialize``), and
        ``flushConsumerOffsetInterval``.
    transaction_metric_flush_interval_ms
        ``transactionMetricFlushInterval``: how often the counts of halves are saved (5.2.0 and later; 10 s in 5.4.0).
    async_send_enable
        ``asyncSendEnable`` (5.x): the answer to a send does not wait in the thread that takes it.
    reject_transaction_message
        ``rejectTransactionMessage``: halves are refused with NO_PERMISSION.
    store_host, broker_name, broker_cluster_name, region_id
        ``brokerIP1:listenPort``, ``brokerName``, ``brokerClusterName`` and ``regionId``.
    """

    transaction_timeout_ms: int = 6_000
    transaction_check_max: int = 15
    transaction_check_interval_ms: int = 30_000
    op_batch_interval_ms: int = 3_000
    op_msg_max_size: int = 4_096
    op_context_queue_length: int = 20_000
    op_msg_pull_nums: int = 32
    check_pool_length: int = 2_005
    max_process_time_limit_ms: int = 60_000
    sleep_while_no_op_ms: int = 1_000
    file_reserved_time_ms: int = 72 * _HOUR_MS
    flush_consumer_offset_delay_ms: int = 10_000
    flush_consumer_offset_interval_ms: int = 5_000
    transaction_metric_flush_interval_ms: int = 3_000
    async_send_enable: bool = True
    reject_transaction_message: bool = False
    store_host: str = "127.0.0.1:10911"
    broker_name: str = "broker-a"
    broker_cluster_name: str = "DefaultCluster"
    region_id: str = "DefaultRegion"

    @classmethod
    def of_broker_conf(cls, conf: BrokerConf, switches: VersionSwitches) -> Self:
        """The settings of a ``broker.conf``; what it leaves out is that version's default."""
        interval = 30_000 if switches.checks_each_half_minute else 60_000
        hours = conf.file_reserved_hours
        return cls(
            transaction_timeout_ms=_or_default(conf.transaction_timeout_ms, 6_000),
            transaction_check_max=conf.check_max,
            transaction_check_interval_ms=_or_default(conf.transaction_check_interval_ms, interval),
            op_batch_interval_ms=_or_default(conf.op_batch_interval_ms, 3_000),
            op_msg_max_size=_or_default(conf.op_message_max_size, 4_096),
            file_reserved_time_ms=_or_default(hours, 72) * _HOUR_MS,
            transaction_metric_flush_interval_ms=10_000 if switches.forces_metrics_file else 3_000,
            flush_consumer_offset_interval_ms=_or_default(conf.flush_consumer_offset_interval_ms, 5_000),
            reject_transaction_message=bool(conf.reject_transaction_message),
        )


def _or_default(value: int | None, default: int) -> int:
    return default if value is None else value
