"""The broker's half of the lockstep: a broker with its disk, its clock and its surroundings, on which steps are done.

The driver plays producers and network by their own memories, never by the specification's state. It learns where a
half lies as a producer does: from the answer to its send or from the check request; only a wrong END_TRANSACTION names
a copy of which no producer knows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fuzz.broker_side.broker_process import BrokerProcess, MakeBroker, MakeProcess
from fuzz.broker_side.broker_records import TICK_MS, BrokerRecords
from fuzz.broker_side.network import Network, OtherMaster
from fuzz.broker_side.producers import (
    CHANNEL,
    GROUP,
    Producers,
    end_transaction,
    half_message,
    transaction_of_key,
)
from fuzz.broker_side.proxies import Proxies
from reference.broker.broker_settings import BrokerRole, BrokerSettings
from reference.broker.processor.end_transaction_processor import (
    EndTransactionOutcome,
    EndTransactionRequestHeader,
    EndTransactionStep,
)
from reference.format.properties import TRANSACTION_PREPARED
from reference.format.system_topics import HALF_QUEUE_ID, HALF_TOPIC
from reference.simulation.virtual_clock import VirtualClock
from reference.store.message_store_config import MessageStoreConfig
from reference.versions.versions import switches_of
from spec.language import NONE
from spec.state import End, Producer

if TYPE_CHECKING:
    from reference.broker.broker_controller import BrokerController
    from reference.broker.processor.send_message_processor import SendMessageRequest, SendMessageResponse
    from reference.broker.transaction.transactional_message_check_listener import CheckTransactionStateRequest
    from reference.format.record import CommitLogOffset
    from spec.constants import Constants

SMALL_FILES: Final = MessageStoreConfig(mapped_file_size_commit_log=1 << 17)
"""A message of the lockstep takes up to a third of it."""

_ANOTHER_TOPIC: Final = "BenchmarkTest"
"""Each broker has it from its start."""

_CHARACTERS_OF_AN_ENTRY: Final = 2
"""An offset of one digit and its comma; `fuzz.lockstep.fuzzed_instances` keeps longer ones from making a difference."""


def settings_for(constants: Constants) -> BrokerSettings:
    """A `broker.conf` that makes a broker of this instance: times in milliseconds, sizes in characters.

    The check thread never sleeps and offsets may be saved at any time, because the steps decide when things happen.
    """
    usual = BrokerSettings().file_reserved_time_ms
    return BrokerSettings(
        file_reserved_time_ms=usual if constants.reserved_time == NONE else constants.reserved_time * TICK_MS,
        transaction_timeout_ms=constants.timeout * TICK_MS,
        transaction_check_max=constants.check_max,
        transaction_check_interval_ms=constants.check_interval * TICK_MS,
        op_batch_interval_ms=constants.op_batch_interval * TICK_MS,
        op_msg_max_size=constants.op_batch_size * _CHARACTERS_OF_AN_ENTRY,
        op_msg_pull_nums=constants.op_pull_size,
        max_process_time_limit_ms=constants.round_limit * TICK_MS,
        sleep_while_no_op_ms=0,
        flush_consumer_offset_delay_ms=0,
        flush_consumer_offset_interval_ms=0,
    )


class BrokerSide:
    """A broker, with the messages on their way between it and its producers.

    Parameters
    ----------
    constants
        The instance; its horizon is the time at which the steps begin.
    release
        The broker's version.
    make_broker
        Makes the broker; `BrokerController` or a broken one.
    records
        The records that the broker has stored, as of the last comparison.
    make_process
        Makes what is done to it, perhaps with another broker beside it.
    """

    def __init__(
        self,
        constants: Constants,
        release: str,
        make_broker: MakeBroker,
        records: BrokerRecords,
        make_process: MakeProcess = BrokerProcess,
    ) -> None:
        self.constants = constants
        self.records = records
        switches, settings = switches_of(release), settings_for(constants)
        since_the_last_round = (constants.check_interval + constants.clock_step) * TICK_MS
        self.clock = VirtualClock(constants.horizon * TICK_MS - since_the_last_round)
        self.process = make_process(make_broker(switches, settings, self.clock, store_config=SMALL_FILES))
        """What is done to the broker."""
        self.process.advance(since_the_last_round)
        self.network = Network()
        self.producers = Producers()
        self.proxies = Proxies(constants, self.clock)
        self._relayed: list[CheckTransactionStateRequest] = []
        """The check requests that the first proxy has passed on."""
        self.other_master = OtherMaster(
            self.process.another(make_broker(switches, settings, self.clock, store_config=SMALL_FILES))
        )
        self.mishaps = 0
        self.crashes = 0
        self.clock_steps = 0
        """How often something was done to the broker, its process died, and its clock was set back."""
        self.known_places: dict[int, CommitLogOffset] = {}
        """The commit log offset of each half that a producer knows, by half queue offset."""
        self._rolled_at = -1
        self.resumed: set[int] = set()
        """The halves that an operator has resumed."""
        self.connect()
        if constants.retention:
            self._send_something_else()

    @property
    def broker(self) -> BrokerController:
        """The running process; a crash replaces it."""
        return self.process.broker

    def _send_something_else(self) -> None:
        """Send a message that is no transaction's, so that no half lies at the place 0.

        Where that is deleted, RocketMQ reads the first record that is left instead (``CommitLog#getMessage``); the
        specification has no such place.
        """
        half = half_message(0, NONE, self.clock.now)
        properties = {name: value for name, value in half.properties.items() if name != TRANSACTION_PREPARED}
        self.process.send(replace(half, topic=_ANOTHER_TOPIC, properties=properties))
        self.roll()
        self.process.dispatch()

    # --- producers ----------------------------------------------------------------------------------------------------

    def send(self, transaction: int, request: SendMessageRequest) -> SendMessageResponse:
        """Send a transactional message; the answer tells the producer where it lies."""
        answer = self.process.send(request)
        self.producers.begin(transaction, request, answer)
        if answer.record is not None:
            sent = self.producers.sent[transaction]
            self.known_places[sent.queue_offset] = sent.place
            self.proxies.note(transaction, sent.queue_offset, sent.place)
        return answer

    def relay_checks(self) -> None:
        """The first proxy notes where the copies lie whose check requests are new."""
        if self.proxies:
            for request in self.broker.check_requests:
                if request not in self._relayed:
                    self.proxies.note(
                        transaction_of_key(request.transaction_id or ""),
                        request.tran_state_table_offset,
                        request.commit_log_offset,
                    )
            self._relayed = list(self.broker.check_requests)

    def take_check_request(self, half: int) -> CheckTransactionStateRequest:
        """The check request that names a copy leaves the network; a producer learns from it where the copy lies."""
        request = next(r for r in self.broker.check_requests if r.tran_state_table_offset == half)
        self.known_places[half] = request.commit_log_offset
        self.broker.check_requests.remove(request)
        return request

    def disconnect(self, are: Producer) -> None:
        """All producers lose their connections, or start again."""
        self.producers.end(are)
        self.process.disconnect(CHANNEL)
        self.broker.check_requests.clear()

    def leave_broker(self) -> None:
        """The broker loses its connection to the producers; they go on."""
        if self.producers.are is Producer.ONLINE:
            self.producers.are = Producer.OFFLINE
            self.process.disconnect(CHANNEL)

    def connect(self) -> None:
        """A producer is connected."""
        self.producers.are = Producer.ONLINE
        self.process.connect(GROUP, CHANNEL)
        self.process.let_escape(self.other_master)

    # --- END_TRANSACTION ----------------------------------------------------------------------------------------------

    def place_of_half(self, half: int) -> CommitLogOffset:
        """Where a half begins in the commit log; for one that is not stored, the log's end."""
        places = self.records.half_places
        return places[half] if half < len(places) else self.broker.message_store.max_phy_offset

    def header(self, half: int, says: End) -> EndTransactionRequestHeader:
        """An END_TRANSACTION for a half.

        A producer that knows the half from a check answers that check.
        """
        place = self.known_places[half] if half in self.known_places else self.place_of_half(half)
        record = self.broker.message_store.look_message_by_offset(place)
        answers_check = half in self.network.claims_check
        if record is not None and not answers_check and not self.proxies:
            sent = self.producers.sent.get(transaction_of_key(record.properties["UNIQ_KEY"]))
            answers_check = sent is None or sent.queue_offset != half
        return end_transaction(half, place, says, answers_check=answers_check)

    def go_on_with_end(self, half: int) -> EndTransactionStep:
        """Let the broker take the next step with the first END_TRANSACTION that names a half."""
        first = self.network.ends[half][0]
        if first.handling is not None:
            step = self.process.step_end(first.handling)
        else:
            ending = self.process.begin_end(self.header(half, first.says))
            step = self.process.step_end(ending)
            if step.outcome is EndTransactionOutcome.MESSAGE_STORED:
                first.handling = ending
        self.network.note(half, step)
        return step

    def ask_end(self, header: EndTransactionRequestHeader) -> EndTransactionStep:
        """The broker's first step with an END_TRANSACTION that nothing on the network accounts for."""
        return self.process.step_end(self.process.begin_end(header))

    # --- the broker's own threads -------------------------------------------------------------------------------------

    @property
    def cursor_is_dispatched(self) -> bool:
        """The half at the round's cursor is in its consume queue already, or the one that is read for it."""
        running = self.broker.check_service.round
        store = self.broker.message_store
        cursor = 0 if running is None else running.new_offset
        return store.get_max_offset_in_queue(HALF_TOPIC, HALF_QUEUE_ID) > max(cursor, self.records.deleted(store)[0])

    def roll(self) -> None:
        """Where files may be deleted, what is stored next goes to a file of its own, so that it may go alone."""
        store = self.broker.message_store
        if self.constants.retention and store.max_phy_offset != self._rolled_at:
            self.process.roll_log()
            self._rolled_at = store.max_phy_offset

    # --- the end of a process -----------------------------------------------------------------------------------------

    def dispatch_old_files(self) -> None:
        """Before a process dies whose successor reads the last files of the log only, of which each step fills one.

        A broker that runs has dispatched what lies before them long ago (``commitLogRecoverMaxNum``).
        """
        if self.constants.retention and self.broker.switches.recovers_few_files:
            self.process.dispatch()

    def restart(self, role: BrokerRole = BrokerRole.MASTER) -> None:
        """A new process; what was under way to the old one is lost."""
        self.replace(role)
        self.network.forget_all()

    def replace(self, role: BrokerRole = BrokerRole.MASTER) -> None:
        """Another process serves; clients that are connected connect to it by themselves."""
        self.process.restart(role)
        self._rolled_at = -1
        self.process.let_escape(self.other_master)
