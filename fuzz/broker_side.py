"""The broker's half of the lockstep: does to the broker what a step of the specification says, and returns its answer.

The driver plays producer and network. It learns where a half lies as a producer does: from the answer to its send or
from the check request; only a wrong END_TRANSACTION names a copy that nobody was told of.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from fuzz.requests import end_transaction, half_message
from fuzz.time_unit import TICK_MS
from model_check.instances import unturned
from reference.broker_settings import BrokerSettings
from reference.check_step import CheckBranch, CheckStep
from reference.message_id import decode_message_id
from reference.version_switches import VERSIONS
from reference.virtual_clock import VirtualClock

if TYPE_CHECKING:
    from fuzz.world import MakeBroker
    from reference.end_transaction_processor import EndTransaction
    from reference.end_transaction_request import EndTransactionRequestHeader
    from reference.end_transaction_step import EndTransactionStep
    from reference.store.offsets import CommitLogOffset
    from spec.constants import Constants
    from spec.state import End

_CHARACTERS_OF_AN_ENTRY: Final = 2
"""An offset of one digit and its comma; `fuzz.instance` sees to it that longer ones make no difference."""


@dataclass(frozen=True, slots=True)
class Sender:
    """What the driver knows of the specification's producer and network before a step."""

    end: End
    is_first_half: bool
    claims_check: bool


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
    in_handling
        The ENDs that the broker has begun, by half offset.
    """

    def __init__(
        self,
        constants: Constants,
        profile: str,
        make_broker: MakeBroker,
    ) -> None:
        self.clock = VirtualClock((constants.horizon - constants.check_interval) * TICK_MS)
        self.broker = make_broker(VERSIONS[unturned(profile)], settings_for(constants), self.clock)
        self.broker.message_store.dispatches_at_once = False
        self.clock.advance(constants.check_interval * TICK_MS)
        self.in_handling: dict[int, EndTransaction] = {}
        self._places: dict[int, CommitLogOffset] = {}

    # --- producer and network -----------------------------------------------------------------------------------------

    def send_half(self, transaction: int, immunity: int) -> int:
        """Send a transactional message; the response code."""
        answer = self.broker.send_message(half_message(transaction, immunity, self.clock.now // TICK_MS))
        if answer.record is not None:
            self._places[answer.record.queue_offset] = decode_message_id(answer.msg_id)
        return answer.response.code

    def take_check_request(self, half: int) -> None:
        """The check request that names a copy leaves the network; a producer learns from it where the copy lies."""
        for request in self.broker.check_requests:
            if request.tran_state_table_offset == half:
                self._places[half] = request.commit_log_offset
                self.broker.check_requests.remove(request)
                return

    def header(self, half: int, sender: Sender, stored_at: CommitLogOffset) -> EndTransactionRequestHeader:
        """The END_TRANSACTION that a sender has for a half, which is stored there if nobody was told where."""
        answers_check = sender.claims_check or not sender.is_first_half
        return end_transaction(half, self._places.get(half, stored_at), sender.end, answers_check=answers_check)

    # --- END_TRANSACTION ----------------------------------------------------------------------------------------------

    def begin_end(self, header: EndTransactionRequestHeader) -> EndTransactionStep:
        """Hand an END_TRANSACTION to the broker and let it take one step."""
        ending = self.broker.end_transaction(header)
        step = ending.step()
        if not ending.is_over:
            self.in_handling[header.tran_state_table_offset] = ending
        return step

    def finish_end(self, half: int) -> EndTransactionStep:
        """Let the broker write the op of a commit whose real message it has stored."""
        return self.in_handling.pop(half).step()

    # --- the broker's own threads -------------------------------------------------------------------------------------

    def step_round(self) -> CheckStep | None:
        """One pass of the check round; None when none runs.

        In 4.5.1 the end of the half queue reads as a half that is missing, so that a second look ends the round.
        """
        running = self.broker.check_service.round
        if running is None:
            return None
        step = running.step()
        return running.step() if step.branch is CheckBranch.NULL_HALF else step

    def dispatch(self) -> None:
        """What is in the commit log appears in the consume queues."""
        self.broker.message_store.dispatch()

    def crash_and_restart(self) -> None:
        """The process dies and starts again; the requests that it had begun die with it."""
        self.broker.crash()
        self.in_handling.clear()
        self.broker = self.broker.restart()

    def tick(self) -> None:
        """A tick passes."""
        self.clock.advance(TICK_MS)


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
