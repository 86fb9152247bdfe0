"""The broker's half of the lockstep: a broker, its disk and clock, and what is around it, to which things are done.

The driver plays producers and network by their own memories, never by the specification's state. It learns where a
half lies as a producer does: from the answer to its send or from the check request; only a wrong END_TRANSACTION names
a copy that nobody was told of.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fuzz.broker_side.network import Network
from fuzz.broker_side.other_master import OtherMaster
from fuzz.broker_side.producers import Producers
from fuzz.broker_side.requests import CHANNEL, GROUP, end_transaction, transaction_of_key
from fuzz.broker_side.time_unit import TICK_MS
from model_check.instances import unturned
from reference.broker.broker_role import BrokerRole
from reference.broker.broker_settings import BrokerSettings
from reference.broker.processor.end_transaction_processor import EndTransactionOutcome
from reference.simulation.virtual_clock import VirtualClock
from reference.versions.versions import VERSIONS
from spec.state import End, Producer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fuzz.lockstep.pairing import MakeBroker
    from reference.broker.processor.end_transaction_processor import EndTransactionRequestHeader, EndTransactionStep
    from reference.broker.processor.send_message_processor import SendMessageRequest, SendMessageResponse
    from reference.broker.transaction.check_step import CheckStep
    from reference.broker.transaction.transactional_message_check_listener import CheckTransactionStateRequest
    from reference.format.offsets import CommitLogOffset
    from spec.constants import Constants

_CHARACTERS_OF_AN_ENTRY: Final = 2
"""An offset of one digit and its comma; `fuzz.lockstep.fuzzed_instances` keeps longer ones from making a difference."""


def settings_for(constants: Constants) -> BrokerSettings:
    """A `broker.conf` that makes a broker of this instance: times in milliseconds, sizes in characters.

    The check thread never sleeps and offsets may be saved at any time, because the schedule decides when things happen.
    """
    return BrokerSettings(
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
    """A broker, and what is on its way between it and its producers.

    Parameters
    ----------
    constants
        The instance; its horizon is the time at which the schedule begins.
    profile
        The version; the broker knows nothing of a switch that is turned in the specification.
    make_broker
        Makes the broker; `BrokerController` or a broken one.

    Attributes
    ----------
    broker
        The running process; a crash replaces it.
    network, producers, other_master
        What is around it.
    told_places
        For each half queue offset where a producer was told that it lies in the commit log.
    mishaps, clock_steps
        How often something was done to the broker, and how often its clock was set back.
    """

    def __init__(self, constants: Constants, profile: str, make_broker: MakeBroker) -> None:
        switches, settings = VERSIONS[unturned(profile)], settings_for(constants)
        since_the_last_round = (constants.check_interval + constants.clock_step) * TICK_MS
        self.clock = VirtualClock(constants.horizon * TICK_MS - since_the_last_round)
        self.broker = make_broker(switches, settings, self.clock)
        self.broker.message_store.dispatches_at_once = False
        self.clock.advance(since_the_last_round)
        self.network = Network()
        self.producers = Producers()
        self.other_master = OtherMaster(make_broker(switches, settings, self.clock))
        self.mishaps = 0
        self.clock_steps = 0
        self.told_places: dict[int, CommitLogOffset] = {}
        self._connect()

    # --- producers ----------------------------------------------------------------------------------------------------

    def send(self, transaction: int, request: SendMessageRequest) -> SendMessageResponse:
        """Send a transactional message; the answer tells the producer where it lies."""
        answer = self.broker.send_message(request)
        self.producers.begin(transaction, request, answer)
        if answer.record is not None:
            sent = self.producers.sent[transaction]
            self.told_places[sent.queue_offset] = sent.place
        return answer

    def take_check_request(self, half: int) -> CheckTransactionStateRequest:
        """The check request that names a copy leaves the network; a producer learns from it where the copy lies."""
        request = next(r for r in self.broker.check_requests if r.tran_state_table_offset == half)
        self.told_places[half] = request.commit_log_offset
        self.broker.check_requests.remove(request)
        return request

    def disconnect(self, are: Producer) -> None:
        """All producers lose their connections, or start again."""
        self.producers.end(are)
        self.broker.producer_manager.do_channel_close_event(CHANNEL)
        self.broker.check_requests.clear()

    def connect_again(self) -> None:
        """A producer is connected again."""
        self.producers.are = Producer.ONLINE
        self._connect()

    def _connect(self) -> None:
        self.broker.producer_manager.register_producer(GROUP, CHANNEL)
        self.broker.escape_bridge.send_to_master = self.other_master.send

    # --- END_TRANSACTION ----------------------------------------------------------------------------------------------

    def header(self, half: int, says: End, stored_at: CommitLogOffset) -> EndTransactionRequestHeader:
        """An END_TRANSACTION for a half, which is stored there if nobody was told where.

        A producer that was told of the half by a check answers that check.
        """
        place = self.told_places.get(half, stored_at)
        record = self.broker.message_store.look_message_by_offset(place)
        answers_check = half in self.network.claims_check
        if record is not None and not answers_check:
            sent = self.producers.sent.get(transaction_of_key(record.properties["UNIQ_KEY"]))
            answers_check = sent is None or sent.queue_offset != half
        return end_transaction(half, place, says, answers_check=answers_check)

    def go_on_with_end(self, half: int, stored_at: CommitLogOffset) -> EndTransactionStep:
        """Let the broker take the next step with the first END_TRANSACTION that names a half."""
        first = self.network.ends[half][0]
        if first.handling is not None:
            step = first.handling.step()
        else:
            ending = self.broker.end_transaction(self.header(half, first.says, stored_at))
            step = ending.step()
            if step.outcome is EndTransactionOutcome.MESSAGE_STORED:
                first.handling = ending
        self.network.note(half, step)
        return step

    def ask_end(self, header: EndTransactionRequestHeader) -> EndTransactionStep:
        """The broker's first step with an END_TRANSACTION that nothing on the network accounts for."""
        return self.broker.end_transaction(header).step()

    # --- the broker's own threads -------------------------------------------------------------------------------------

    def step_round(self) -> CheckStep | None:
        """One pass of the check round; None when none runs."""
        running = self.broker.check_service.round
        return None if running is None else running.step()

    @contextmanager
    def puts_fail(self) -> Iterator[None]:
        """Meanwhile the store refuses every message."""
        self.broker.message_store.is_writeable = False
        yield
        self.broker.message_store.is_writeable = True

    def dispatch(self) -> None:
        """What is in the commit log appears in the consume queues."""
        self.broker.message_store.dispatch()

    # --- time ---------------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """A tick passes."""
        self.clock.advance(TICK_MS)

    def step_clock_back(self) -> None:
        """Set the wall clock back by a tick.

        Threads wait by elapsed time, and may sleep longer than they asked for: the check thread does so by a tick, as
        the specification lets it wait by the wall clock.
        """
        self.clock_steps += 1
        self.clock.step(-TICK_MS)
        self.broker.check_service.oversleep(TICK_MS)

    def let_unseen_time_pass(self, by: int) -> None:
        """What takes time here and none in the specification: time passes, and the wall clock is set back."""
        self.clock.advance(by)
        self.clock.step(-by)
        self.broker.check_service.oversleep(by)

    def end_round_by_its_limit(self) -> CheckStep | None:
        """The rest of a round's time passes without progress, unseen by the specification, and the round ends."""
        running = self.broker.check_service.round
        began = self.clock.now if running is None else running.start_time
        by = began - self.clock.now + self.broker.settings.max_process_time_limit_ms + 1
        self.clock.advance(by)
        step = self.step_round()
        self.clock.step(-by)
        return step

    # --- the end of a process -----------------------------------------------------------------------------------------

    def crash_and_restart(self) -> None:
        """The process dies and starts again; the requests that it had begun die with it."""
        self.broker.crash()
        self._restart()

    def stop_and_restart(self) -> None:
        """The broker is shut down as it should be, and started again."""
        self.broker.shutdown()
        self._restart()

    def lose_power(self, end: CommitLogOffset, halves: int) -> None:
        """The machine loses power; of the commit log what is before `end` is left, with so many halves."""
        self.mishaps += 1
        self.broker.lose_power(end)
        self.network.forget_halves_from(halves)
        for half in [half for half in self.told_places if half >= halves]:
            del self.told_places[half]
        self._restart()

    def act_for_dead_master(self) -> None:
        """The master dies; a slave with the same messages and the offsets that were saved acts for it."""
        self.mishaps += 1
        self.broker.crash()
        self._restart(BrokerRole.ACTING_MASTER)

    def bring_master_back(self, *, takes_offsets: bool) -> None:
        """The master starts again, and takes the offsets of the slave that acted for it, or does not.

        When the last round ended is told of the group, not of a process.
        """
        last_ended = self.broker.check_service.last_ended
        if takes_offsets:
            self.broker.save_consumer_offsets()
        self.broker.crash()
        self._replace()
        self.broker.check_service.last_ended = last_ended

    def _restart(self, role: BrokerRole = BrokerRole.MASTER) -> None:
        """A new process; what was under way to the old one is lost."""
        self._replace(role)
        self.network.forget_all()

    def _replace(self, role: BrokerRole = BrokerRole.MASTER) -> None:
        """Another process serves; clients that are connected connect to it by themselves."""
        self.broker = self.broker.restart(role)
        self.broker.escape_bridge.send_to_master = self.other_master.send


def as_wrong_group(header: EndTransactionRequestHeader) -> EndTransactionRequestHeader:
    """The same request in the name of another producer group; it answers a check, so that it is never late."""
    return replace(header, producer_group=header.producer_group + "-2", from_transaction_check=True)


def as_wrong_offset(header: EndTransactionRequestHeader) -> EndTransactionRequestHeader:
    """The same request with a queue offset that is not the half's; it answers a check, so that it is never late."""
    return replace(
        header,
        tran_state_table_offset=type(header.tran_state_table_offset)(header.tran_state_table_offset + 1),
        from_transaction_check=True,
    )
