"""One broker process on one store: starts, serves, runs step by step, crashes (``BrokerController``).

Nothing happens here by itself. Time stands still unless somebody moves the clock. Each write that another thread or a
crash could come before is a step of its own, so that a scheduler outside decides every interleaving.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Self

from reference.broker.broker_settings import BrokerRole, BrokerSettings
from reference.broker.config_manager import SubscriptionGroupManager, TopicConfigManager, save_empty_tables
from reference.broker.consumer_offset_manager import ConsumerOffsetManager
from reference.broker.escape_bridge import EscapeBridge
from reference.broker.processor.admin_broker_processor import AdminBrokerProcessor
from reference.broker.processor.consumer_manage_processor import ConsumerManageProcessor
from reference.broker.processor.end_transaction_processor import EndTransaction, EndTransactionRequestHeader
from reference.broker.processor.send_message_processor import (
    SendMessageProcessor,
    SendMessageRequest,
    SendMessageResponse,
)
from reference.broker.producer_manager import ProducerManager
from reference.broker.recorder import Recorder
from reference.broker.response import SUCCESS, RemotingResponse
from reference.broker.schedule_message_service import ScheduleMessageService
from reference.broker.transaction.pending_files import PendingFiles
from reference.broker.transaction.settled_transactions import SettledTransactions
from reference.broker.transaction.transaction_metrics import TransactionMetrics
from reference.broker.transaction.transaction_metrics_flush_service import TransactionMetricsFlushService
from reference.broker.transaction.transactional_message_bridge import TransactionalMessageBridge
from reference.broker.transaction.transactional_message_check_listener import (
    CheckTransactionStateRequest,
    TransactionalMessageCheckListener,
)
from reference.broker.transaction.transactional_message_check_service import TransactionalMessageCheckService
from reference.broker.transaction.transactional_message_service import OpBatch, TransactionalMessageService
from reference.errors import BrokerIsDownError, BrokerIsRunningError
from reference.format.properties import ESCAPED_FROM, PRODUCER_GROUP
from reference.format.system_topics import HALF_QUEUE_ID, HALF_TOPIC, OP_TOPIC
from reference.store.message_store import MessageStore
from reference.store.timer_message_store import TimerMessageStore

if TYPE_CHECKING:
    from reference.broker.transaction.check_round import CheckRound
    from reference.format.record import CommitLogOffset
    from reference.simulation.virtual_clock import VirtualClock
    from reference.store.message_store_config import MessageStoreConfig
    from reference.versions.switches import ReleaseSwitches


class BrokerController:
    """A running broker; a master by default.

    Parameters
    ----------
    message_store
        What an earlier process left; without it, the broker starts on an empty store.
    recorder
        Takes the rows of the trace; without it, the broker makes one.
    producer_manager
        Who is connected; without it, nobody before the first send.
    role
        The role of the process in its group.
    store_config
        Of the empty store, where there is no other.

    Attributes
    ----------
    message_store, consumer_offset_manager, topic_config_manager, subscription_group_manager,
    transactional_message_bridge, transactional_message_service, check_service, schedule_message_service,
    timer_message_store, transaction_metrics, transaction_metrics_flush_service, send_message_processor,
    consumer_manage_processor
        The parts, by RocketMQ's names.
    check_requests
        The check requests that were sent and that nobody has taken from here yet: whoever plays the network delivers,
        delays or loses them.
    topic_queue_mappings
        Static topics of which this broker has a part: at which offset it begins (``TopicQueueMappingManager``, 5.0.0).
    is_stopping
        True from :meth:`begin_shutdown` on.
    is_running
        False once it crashed or was shut down; then every call raises :class:`BrokerIsDownError`, and so does every
        step of what it had begun.
    """

    def __init__(
        self,
        switches: ReleaseSwitches,
        settings: BrokerSettings,
        clock: VirtualClock,
        message_store: MessageStore | None = None,
        recorder: Recorder | None = None,
        producer_manager: ProducerManager | None = None,
        role: BrokerRole = BrokerRole.MASTER,
        *,
        store_config: MessageStoreConfig | None = None,
    ) -> None:
        self.switches = switches
        self.settings = settings
        self.clock = clock
        self.recorder = Recorder(clock) if recorder is None else recorder
        self.producer_manager = ProducerManager(switches) if producer_manager is None else producer_manager
        self.escape_bridge = EscapeBridge(settings.store_host, settings.broker_name if switches.escapes_once else "")
        self.is_running = True
        self.is_stopping = False
        self.message_store = (
            MessageStore(switches, clock, None, store_config) if message_store is None else message_store
        )
        disk = self.message_store.disk
        self.consumer_offset_manager = ConsumerOffsetManager(disk, switches, clock)
        self.message_store.dispatch()
        if switches.clamps_offsets:
            self._clamp_offsets()
        self.role = role
        self.message_store.is_slave = role.is_slave
        self.transactional_message_bridge = TransactionalMessageBridge(self)
        self.settled_transactions = SettledTransactions(self)
        self.transactional_message_service = TransactionalMessageService(self)
        self.topic_config_manager = TopicConfigManager(disk, switches, clock, settings)
        self.subscription_group_manager = SubscriptionGroupManager(disk, switches, clock)
        self.check_requests: deque[CheckTransactionStateRequest] = deque()
        self.transaction_metrics = TransactionMetrics(disk, switches, clock)
        self.check_listener = TransactionalMessageCheckListener(self)
        self.check_service = TransactionalMessageCheckService(self)
        if switches.keeps_pending_files:
            self.message_store.cleaning.keeps_from = PendingFiles(self).begin
        self.topic_queue_mappings: dict[str, int] = {}
        self.admin_broker_processor = AdminBrokerProcessor(self)
        self.consumer_manage_processor = ConsumerManageProcessor(self)
        self.schedule_message_service = ScheduleMessageService(switches, self.message_store, clock)
        self.timer_message_store = TimerMessageStore(switches, self.message_store, clock)
        self.send_message_processor = SendMessageProcessor(self)
        self._flushes_consumer_offsets_at = clock.elapsed + settings.flush_consumer_offset_delay_ms
        self.transaction_metrics_flush_service = TransactionMetricsFlushService(self)

    def send_message(self, request: SendMessageRequest) -> SendMessageResponse:
        """Handle a client's SEND_MESSAGE, which is one write.

        A client sends its heartbeat to a broker as soon as it knows the route to it, which is before its first send
        (``MQClientInstance#sendHeartbeatToAllBroker``); so whoever sends is known as a producer of its group.
        """
        group = request.properties.get(PRODUCER_GROUP)
        if group:
            self.producer_manager.register_producer(group, request.born_host)
        return self.take_escaped(request)

    def take_escaped(self, request: SendMessageRequest) -> SendMessageResponse:
        """Handle another broker's SEND_MESSAGE (:class:`EscapeBridge`), which brings no producer with it."""
        self.require_running()
        origin, index = request.properties.get(ESCAPED_FROM), self.transactional_message_bridge.half_index
        if self.switches.escapes_once and index is not None and origin is not None and index.has_come_from(origin):
            return SendMessageResponse(RemotingResponse(SUCCESS))
        return self.send_message_processor.process_request(request)

    def end_transaction(self, header: EndTransactionRequestHeader) -> EndTransaction:
        """Take an END_TRANSACTION in; nothing is done before its first step."""
        self.require_running()
        return EndTransaction(self, header)

    def run_op_batch_service(self) -> OpBatch:
        """Let the op batch service look for batches that are due, and write them (``TransactionalOpBatchService``)."""
        self.require_running()
        if self.is_stopping and self.switches.closes_op_service:
            return OpBatch((), (), self.clock.now)
        return self.transactional_message_service.batch_send_op_message()

    def begin_check_round(self) -> CheckRound | None:
        """Begin a check round; None if one runs or the interval since the last is not over."""
        self.require_running()
        return self.check_service.begin_round()

    def persist_consumer_offsets(self) -> bool:
        """Save the consumer offsets if that is due; False if it is not (``BrokerController#initialize``).

        The first time is ``flush_consumer_offset_delay_ms`` after the start, then at a fixed rate.
        """
        self.require_running()
        if self.clock.elapsed < self._flushes_consumer_offsets_at:
            return False
        self._flushes_consumer_offsets_at += self.settings.flush_consumer_offset_interval_ms
        if self.switches.flushes_before_saving and self.consumer_offset_manager.has_moved:
            self.message_store.flush()
        self.save_consumer_offsets()
        return True

    def persist_transaction_metrics(self) -> bool:
        """Save the counts of halves if that is due; False if it is not (``TransactionMetricsFlushService``)."""
        self.require_running()
        return self.transaction_metrics_flush_service.save_if_due()

    def shutdown(self) -> None:
        """Shut down in order while nobody else does anything: the beginning, a last round, the end."""
        self.begin_shutdown()
        self.check_service.join()
        self.end_shutdown()

    def begin_shutdown(self, *, wakes_check_service: bool = True) -> None:
        """Begin to stop (``#shutdown``): no connection is left, and the op batch service writes what is due (B03).

        What waits in the pools is handled all the same: an END_TRANSACTION that comes now joins a batch that nobody
        writes (B53). From 5.1.0 to 5.1.3 ``TransactionalMessageServiceImpl#close`` does not stop the op batch service,
        and all batches are lost (A43). From 5.3.4 on the check service is woken for one more round (B52),
        unless whoever plays its thread does that.
        """
        self.require_running()
        if self.switches.closes_op_service:
            self.run_op_batch_service()
        if self.switches.awaits_ends_on_stop:
            self._await_ends()
        if self.switches.flushes_on_stop:
            self.transactional_message_service.write_all()
            self.message_store.dispatch()
        self.transaction_metrics.persist()
        self.is_stopping = True
        self.recorder.record("stop_began")
        if self.switches.joins_round_first and wakes_check_service:
            self.check_service.wake_up()

    def end_shutdown(self) -> None:
        """The store closes, the offsets are saved, and the process is gone.

        Up to 5.3.3 the store closes before the check service is joined: a round that runs finds nothing any more, ends
        with a NullPointerException and commits nothing (A29).
        """
        self.require_running()
        self.message_store.is_closed = True
        if self.check_service.round is not None:
            self.check_service.join()
        self.schedule_message_service.persist()
        self.save_consumer_offsets()
        save_empty_tables(self.message_store.disk, self.switches, self.clock)
        self.recorder.record("stopped")
        self.is_running = False
        self.message_store.shutdown()

    def crash(self) -> None:
        """Die (SIGKILL): what was stored stays, because the page cache does; everything in memory is gone."""
        self.require_running()
        self.recorder.record("crashed")
        self.is_running = False
        self.message_store.abandon()

    def lose_power(self, end: CommitLogOffset) -> None:
        """The machine loses power, and of the commit log only what lies before `end` is left (B13, B14).

        Raises
        ------
        ValueError
            That much of it was flushed.
        """
        self.require_running()
        self.message_store.cut_to(end)
        self.recorder.record("power_lost")
        self.is_running = False
        self.message_store.abandon()

    def change_to_slave(self) -> None:
        """Another broker of the group is the master now (``#changeToSlave``): no check round begins, no write succeeds.

        What waits in the op batch stays there, and will not be stored (B04).
        """
        self._change_to(BrokerRole.SLAVE)

    def change_to_master(self) -> None:
        """Become the master again (``#changeToMaster``): the check service is started anew."""
        self._change_to(BrokerRole.MASTER)
        self.check_service.start()

    def _change_to(self, role: BrokerRole) -> None:
        self.require_running()
        self.role = role
        self.message_store.is_slave = role.is_slave
        self.recorder.record("role_changed")

    def restart(self, role: BrokerRole = BrokerRole.MASTER) -> Self:
        """A new process on what this one left; it takes over settings, clock and recorder, and the clients come back.

        As a slave it stands for another machine with the same messages and the offsets that were saved; the settings
        of one that acts for its master (``#changeSpecialServiceStatus``) are ``enableSlaveActingMaster`` and
        ``enableRemoteEscape``.

        Raises
        ------
        BrokerIsRunningError
            This process has neither crashed nor been shut down.
        """
        if self.is_running:
            message = "this broker process still runs; crash() or shutdown() first"
            raise BrokerIsRunningError(message)
        message_store = self.message_store.reopen()
        return type(self)(
            self.switches, self.settings, self.clock, message_store, self.recorder, self.producer_manager, role
        )

    def _await_ends(self) -> None:
        """Let the pool of END_TRANSACTION come to its end (a repair of B53), as far as the store takes its messages."""
        for ending in tuple(self.transactional_message_service.ends_between_writes):
            ending.step()

    def _clamp_offsets(self) -> None:
        """Let no offset of the check service lie beyond the end of its queue, in memory and file (a repair of B14)."""
        offsets, store = self.consumer_offset_manager, self.message_store
        beyond = [
            (topic, end)
            for topic in (HALF_TOPIC, OP_TOPIC)
            if offsets.query_offset(topic, HALF_QUEUE_ID) > (end := store.get_max_offset_in_queue(topic, HALF_QUEUE_ID))
        ]
        for topic, end in beyond:
            offsets.commit_offset(topic, HALF_QUEUE_ID, end)
        if beyond:
            offsets.persist()

    def require_running(self) -> None:
        """Raise `BrokerIsDownError` if the process crashed or was shut down."""
        if not self.is_running:
            message = "this broker process is gone; restart() gives the next one"
            raise BrokerIsDownError(message)

    def save_consumer_offsets(self) -> None:
        """Save the consumer offsets (``ConfigManager#persist`` of ``ConsumerOffsetManager``)."""
        self.consumer_offset_manager.persist()
        self.recorder.record("offsets_persisted")
