"""One broker process on one store: starts, serves, takes its steps when told to, crashes (``BrokerController``).

Nothing happens here by itself. Time stands still unless somebody moves the clock. Each write that another thread or a
crash could come before is a step of its own, so that a scheduler outside decides every interleaving.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Self

from reference.check_listener import CheckTransactionStateRequest, TransactionalMessageCheckListener
from reference.check_service import TransactionalMessageCheckService
from reference.consumer_offset_manager import ConsumerOffsetManager
from reference.end_transaction_processor import EndTransaction
from reference.errors import BrokerIsDownError, BrokerIsRunningError
from reference.message_store import MessageStore
from reference.recorder import Recorder
from reference.send_message_processor import SendMessageProcessor
from reference.store_path_root_dir import StorePathRootDir
from reference.transactional_message_bridge import TransactionalMessageBridge
from reference.transactional_message_service import TransactionalMessageService

if TYPE_CHECKING:
    from reference.broker_settings import BrokerSettings
    from reference.check_round import CheckRound
    from reference.end_transaction_request import EndTransactionRequestHeader
    from reference.send_message_processor import SendMessageRequest, SendMessageResponse
    from reference.transactional_message_service import OpBatch
    from reference.version_switches import VersionSwitches
    from reference.virtual_clock import VirtualClock


class BrokerController:
    """A running broker, a master.

    Parameters
    ----------
    switches
        The version.
    settings
        ``broker.conf``.
    clock
        The broker's clock.
    store_path
        What an earlier process left; without it, the broker starts on an empty store.
    recorder
        Takes the rows of the trace; without it, the broker makes one.

    Attributes
    ----------
    message_store, consumer_offset_manager, transactional_message_bridge, transactional_message_service, check_service
        The parts, by RocketMQ's names.
    check_requests
        The check requests that were sent and that nobody has taken from here yet.
    is_running
        False once it crashed or was shut down; then every call raises ``BrokerIsDownError``, and so does every step of
        what it had begun.
    """

    def __init__(
        self,
        switches: VersionSwitches,
        settings: BrokerSettings,
        clock: VirtualClock,
        store_path: StorePathRootDir | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        self.switches = switches
        self.settings = settings
        self.clock = clock
        self.store_path = StorePathRootDir(MessageStore(switches, clock)) if store_path is None else store_path
        self.recorder = Recorder(clock) if recorder is None else recorder
        self.is_running = True
        self.message_store = self.store_path.message_store
        self.message_store.dispatch()
        self.consumer_offset_manager = ConsumerOffsetManager(self.store_path.consumer_offsets)
        self.transactional_message_bridge = TransactionalMessageBridge(
            switches, settings, clock, self.message_store, self.consumer_offset_manager
        )
        self.transactional_message_service = TransactionalMessageService(
            switches, settings, clock, self.transactional_message_bridge, self.recorder
        )
        self.check_requests: deque[CheckTransactionStateRequest] = deque()
        self.check_listener = TransactionalMessageCheckListener(switches, self.message_store, self.check_requests)
        self.check_service = TransactionalMessageCheckService(self)
        self._send_message_processor = SendMessageProcessor(self)
        self._flushes_consumer_offsets_at = clock.elapsed + settings.flush_consumer_offset_delay_ms

    def send_message(self, request: SendMessageRequest) -> SendMessageResponse:
        """Handle SEND_MESSAGE, which is one write."""
        self.require_running()
        return self._send_message_processor.process_request(request)

    def end_transaction(self, header: EndTransactionRequestHeader) -> EndTransaction:
        """Take an END_TRANSACTION in; nothing is done before its first step."""
        self.require_running()
        return EndTransaction(self, header)

    def run_op_batch_service(self) -> OpBatch:
        """Let the op batch service look for batches that are due, and write them (``TransactionalOpBatchService``)."""
        self.require_running()
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
        self._save_consumer_offsets()
        return True

    def shutdown(self) -> None:
        """Stop as told: the op batches that are due are written, the others are lost (B03); the offsets are saved."""
        self.run_op_batch_service()
        self._save_consumer_offsets()
        self.is_running = False

    def crash(self) -> None:
        """Die (SIGKILL): what was stored stays, because the page cache does; everything in memory is gone."""
        self.require_running()
        self.recorder.record("crashed")
        self.is_running = False

    def restart(self) -> Self:
        """A new process on what this one left; it takes over settings, clock and recorder.

        Raises
        ------
        BrokerIsRunningError
            This process has neither crashed nor been shut down.
        """
        if self.is_running:
            message = "this broker process still runs; crash() or shutdown() first"
            raise BrokerIsRunningError(message)
        return type(self)(self.switches, self.settings, self.clock, self.store_path, self.recorder)

    def require_running(self) -> None:
        """Raise if the process is gone.

        Raises
        ------
        BrokerIsDownError
            It crashed or was shut down.
        """
        if not self.is_running:
            message = "this broker process is gone; restart() gives the next one"
            raise BrokerIsDownError(message)

    def _save_consumer_offsets(self) -> None:
        self.store_path.consumer_offsets = self.consumer_offset_manager.encode()
        self.recorder.record("offsets_persisted")
