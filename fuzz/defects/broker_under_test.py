"""One reference broker of any profile, with its clock, its clients and the acts that scenarios are made of."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from fuzz.broker_side.broker_process import BrokerProcess
from fuzz.defects.scenario import BrokerProfile, ScenarioError
from reference.broker.broker_controller import BrokerController
from reference.broker.broker_settings import BrokerRole, BrokerSettings
from reference.broker.processor.end_transaction_processor import TRANSACTION_ROLLBACK, EndTransactionRequestHeader
from reference.broker.processor.send_message_processor import SendMessageRequest, SendMessageResponse
from reference.broker.transaction.check_outcome import CheckBranch, CheckStep
from reference.client.client_message import properties_of_half
from reference.format.record import TRANSACTION_COMMIT, LogRecord
from reference.format.stored_message import create_message_id
from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC, OP_TOPIC, SCHEDULE_TOPIC, TIMER_TOPIC
from reference.simulation.virtual_clock import VirtualClock
from reference.store.message_store import MessageStore
from reference.versions.versions import V4_5_1
from spec.releases.broker_defaults import defaults_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reference.broker.producer_manager import ProducerManager
    from reference.broker.transaction.transactional_message_check_listener import CheckTransactionStateRequest
    from reference.store.memory_disk import MemoryDisk
    from reference.store.message_store_config import MessageStoreConfig

GROUP = "producers"
TOPIC = "Orders"
START_MS = 1_700_000_000_000
SECOND_MS = 1_000
_MOST_PASSES = 2_000
_OF_VERSION = {
    "transaction_timeout_ms": "transactionTimeOut",
    "transaction_check_max": "transactionCheckMax",
    "transaction_check_interval_ms": "transactionCheckInterval",
    "transaction_metric_flush_interval_ms": "transactionMetricFlushInterval",
}
"""The settings whose defaults differ by version."""
_SYSTEM_TOPICS = (HALF_TOPIC, OP_TOPIC, DISCARD_TOPIC, SCHEDULE_TOPIC, TIMER_TOPIC)


class BrokerUnderTest:
    """A broker with RocketMQ's defaults for its version, and transactional producers of one group.

    Parameters
    ----------
    config
        File sizes and limits of its store.
    clock
        Its clock, if it is not to stand still while nobody moves it.
    disk
        Its disk, if it is not to be a new one in memory.
    """

    def __init__(
        self,
        profile: BrokerProfile,
        config: MessageStoreConfig | None = None,
        clock: VirtualClock | None = None,
        disk: MemoryDisk | None = None,
        **settings: int | bool | str,
    ) -> None:
        self.profile = profile
        self.clock = VirtualClock(START_MS) if clock is None else clock
        self._config = config
        self._keys = (f"K{number}" for number in count())
        self._settings = dict(settings)
        self.process = self._process_on(MessageStore(self.profile.switches, self.clock, disk, config))
        """What is done to it."""

    @property
    def broker(self) -> BrokerController:
        """The reference broker of the running process; a restart replaces it."""
        return self.process.broker

    # --- clients ------------------------------------------------------------------------------------------------------

    def send(
        self,
        properties: Mapping[str, str] | None = None,
        *,
        topic: str = TOPIC,
        queue_id: int = 0,
        body: bytes = b"body",
        flag: int = 0,
        sys_flag: int = 0,
    ) -> SendMessageResponse:
        """Send a message with a unique key of its own, as any client may."""
        own = {"UNIQ_KEY": next(self._keys), "WAIT": "true", **(properties or {})}
        return self.request(
            SendMessageRequest(topic, queue_id, body, self.clock.now, own, flag=flag, sys_flag=sys_flag)
        )

    def request(self, request: SendMessageRequest) -> SendMessageResponse:
        """A message as it came over the network."""
        answer = self.process.send(request)
        self.process.dispatch()
        return answer

    def half(
        self,
        properties: Mapping[str, str] | None = None,
        *,
        java_client: bool = True,
        topic: str = TOPIC,
        queue_id: int = 0,
        body: bytes = b"body",
        flag: int = 0,
        sys_flag: int = 0,
    ) -> LogRecord:
        """Send a half: by the Java client of the broker's version, or by a client that sends what it is given."""
        switches = self.profile.switches if java_client else V4_5_1
        sent = properties_of_half(properties or {}, GROUP, switches)
        record = self.send(sent, topic=topic, queue_id=queue_id, body=body, flag=flag, sys_flag=sys_flag).record
        if record is None:
            message = f"the half for {topic} was refused"
            raise ScenarioError(message)
        return record

    def end(self, half: LogRecord, commit_or_rollback: int) -> int | None:
        """END_TRANSACTION of a half, handled to its end; gives the answer's code."""
        return self.end_request(
            EndTransactionRequestHeader(
                half.properties["PGROUP"],
                half.queue_offset,
                half.physical_offset,
                commit_or_rollback,
                transaction_id=half.properties["UNIQ_KEY"],
            )
        )

    def commit(self, half: LogRecord) -> int | None:
        """COMMIT, see :meth:`end`."""
        return self.end(half, TRANSACTION_COMMIT)

    def roll_back(self, half: LogRecord) -> int | None:
        """ROLLBACK, see :meth:`end`."""
        return self.end(half, TRANSACTION_ROLLBACK)

    def answer_commit(self, check: CheckTransactionStateRequest) -> int | None:
        """A producer answers a check with COMMIT."""
        return self.end_request(
            EndTransactionRequestHeader(
                check.producer_group or "",
                check.tran_state_table_offset,
                check.commit_log_offset,
                TRANSACTION_COMMIT,
                from_transaction_check=True,
                transaction_id=check.transaction_id,
            )
        )

    def end_request(self, header: EndTransactionRequestHeader) -> int | None:
        """An END_TRANSACTION as it came over the network, handled to its end; gives the answer's code."""
        request = self.process.begin_end(header)
        step = self.process.step_end(request)
        while not request.is_over:
            step = self.process.step_end(request)
        self.process.dispatch()
        return None if step.response is None else step.response.code

    def resume(self, discarded: LogRecord) -> int:
        """An operator resumes a discarded half; gives the answer's code."""
        msg_id = create_message_id(discarded.store_host, discarded.physical_offset)
        code = self.process.resume_check(msg_id)
        self.process.dispatch()
        return code

    # --- the broker's threads -----------------------------------------------------------------------------------------

    def wait(self, seconds: float) -> None:
        """Let time pass; the services that write op batches and bring delayed messages run each second of it."""
        left = round(seconds * SECOND_MS)
        while left > 0:
            self.process.advance(min(SECOND_MS, left))
            left -= SECOND_MS
            self.process.write_op_batches()
            self.process.dispatch()
            self.process.deliver_delayed()
            self.process.dispatch()

    def round(self, *, pass_ms: int = 0) -> list[CheckStep]:
        """One whole check round, see :meth:`steps`."""
        return list(self.steps(pass_ms=pass_ms))

    def steps(self, *, pass_ms: int = 0, waits: bool = True) -> Iterator[CheckStep]:
        """Wait for the check interval, if wanted, and let one check round run pass by pass; each takes some time.

        Passes in which the thread slept are left out. A round that does not end is a `ScenarioError`.
        """
        if waits:
            self.wait(self.broker.settings.transaction_check_interval_ms / SECOND_MS)
        check_round = self.process.begin_round()
        passes = 0
        while check_round is not None and not check_round.is_over:
            step = self.process.step_round()
            if step is None:
                break
            if step.branch is CheckBranch.ASLEEP:
                self.process.advance(check_round.wakes_at - self.clock.elapsed)
                continue
            self.process.dispatch()
            if pass_ms:
                self.process.advance(pass_ms)
            passes += 1
            if passes > _MOST_PASSES:
                message = f"the round does not end: {_MOST_PASSES} passes, the last {step.branch.value} at {step.half}"
                raise ScenarioError(message)
            yield step

    def checks(self, rounds: int = 1) -> list[CheckTransactionStateRequest]:
        """The check requests that some rounds send."""
        sent = (step.check_request for _ in range(rounds) for step in self.round())
        return [check for check in sent if check is not None]

    def restart(
        self, profile: BrokerProfile | None = None, *, kill: bool = False, role: BrokerRole = BrokerRole.MASTER
    ) -> None:
        """Stop the broker or kill it, and start one on the same disk, perhaps as another version, or as a slave.

        A slave stands for another machine with the same messages and the offsets that were saved.
        """
        if kill:
            self.process.crash()
        else:
            self.process.begin_shutdown()
            self.broker.check_service.join()
            self.process.end_shutdown()
        if profile is not None and profile != self.profile:
            self.profile = profile
            disk, producers = self.broker.message_store.disk, self.broker.producer_manager
            store = MessageStore(profile.switches, self.clock, disk, self._config)
            self.process = self._process_on(store, producers)
        else:
            self.start(role)

    def start(self, role: BrokerRole = BrokerRole.MASTER) -> None:
        """Start a process on what the last one left."""
        self.process.restart(role)
        self.process.dispatch()

    def _process_on(self, store: MessageStore, producers: ProducerManager | None = None) -> BrokerProcess:
        switches, settings = self.profile.switches, self._settings_of_version()
        return self.profile.make_process(BrokerController(switches, settings, self.clock, store, None, producers))

    # --- what is seen -------------------------------------------------------------------------------------------------

    def stored(self, topic: str) -> list[LogRecord]:
        """The records of a topic, in the order of the commit log."""
        return [record for record in self.broker.message_store.records() if record.topic == topic]

    @property
    def delivered(self) -> list[LogRecord]:
        """The messages for consumers: the records of all topics but those of the broker itself."""
        return [record for record in self.broker.message_store.records() if record.topic not in _SYSTEM_TOPICS]

    def deliveries(self, key: str) -> int:
        """How often a message with that unique key was delivered."""
        return sum(record.properties.get("UNIQ_KEY") == key for record in self.delivered)

    @property
    def half_offset(self) -> int:
        """The committed offset of the half queue, -1 if there is none."""
        return self.broker.consumer_offset_manager.query_offset(HALF_TOPIC, 0)

    def _settings_of_version(self) -> BrokerSettings:
        defaults = defaults_of(self.profile.name)
        of_version = {setting: defaults[key] for setting, key in _OF_VERSION.items()}
        if self.profile.make_process is not BrokerProcess:
            of_version["sleep_while_no_op_ms"] = 0  # There, a sleep takes no time.
        return BrokerSettings(**{**of_version, **self._settings})  # type: ignore[arg-type]
