"""A broker's process with RocketMQ's own classes beside it: each operation is done to both, and the answers compared.

What no order can do to the real classes yet ends the comparison of a schedule there; it is counted by the operation.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from conformance.errors import JavaError
from conformance.java.digest import Digest
from fuzz.broker_side.broker_process import BrokerProcess, MakeProcess
from fuzz.broker_side.order_fields import opening, sending
from fuzz.broker_side.producers import CHANNEL, TOPIC
from reference.broker.broker_settings import BrokerRole
from reference.broker.processor.end_transaction_processor import EndTransactionOutcome
from reference.broker.transaction.check_outcome import CheckBranch
from reference.format.properties import PRODUCER_GROUP
from reference.store.get_message import GetMessageResult, GetMessageStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from conformance.java.real_classes import RealClasses, RealDifference
    from fuzz.broker_side.network import OtherMaster
    from reference.broker.broker_controller import BrokerController
    from reference.broker.processor.end_transaction_processor import (
        EndTransaction,
        EndTransactionStep,
    )
    from reference.broker.processor.send_message_processor import SendMessageRequest, SendMessageResponse
    from reference.broker.transaction.check_outcome import CheckStep
    from reference.broker.transaction.check_round import CheckRound
    from reference.broker.transaction.transactional_message_check_listener import CheckTransactionStateRequest
    from reference.broker.transaction.transactional_message_service import OpBatch
    from reference.errors import ThrownInCheckError
    from reference.format.record import CommitLogOffset

_STOPS: Final = {True: "over", False: "next half"}
"""Where a pass has stopped, by whether it ended the round."""

_DEAD: Final = "over by an Error"
"""Where a pass has ended its thread."""

_STORED: Final = "message stored"


class _Endings:
    """The END_TRANSACTIONs in handling, and the orders that take a step with one."""

    def __init__(self) -> None:
        self._numbers: dict[EndTransaction, int] = {}

    def order(self, ending: EndTransaction, step: EndTransactionStep) -> tuple[str, str, dict[str, object]]:
        """The order of a step, the answer to it, and its fields."""
        answer = "none" if step.response is None else str(step.response.code)
        if step.outcome is EndTransactionOutcome.MESSAGE_STORED:
            answer = _STORED
        if ending in self._numbers:
            return "go on with end", answer, {"number": self._numbers[ending]}
        number, header = len(self._numbers), ending.header
        self._numbers[ending] = number
        fields = {
            "number": number,
            "group": header.producer_group,
            "half": header.tran_state_table_offset,
            "place": header.commit_log_offset,
            "says": header.commit_or_rollback,
            "answersCheck": str(header.from_transaction_check).lower(),
            "client": CHANNEL,
        }
        return "end", answer, fields


class _OtherTwin(BrokerProcess):
    """The other master, on both sides."""

    def __init__(self, broker: BrokerController, order: Callable[..., None]) -> None:
        super().__init__(broker)
        self._order = order
        self._endings = _Endings()
        self._digest = Digest(TOPIC)

    def look(self) -> None:
        """Compare what it holds."""
        self._order("look at other", ("", *self._digest.of(self.broker)))

    def step_end(self, ending: EndTransaction) -> EndTransactionStep:
        """See `BrokerProcess`."""
        step = super().step_end(ending)
        name, answer, fields = self._endings.order(ending, step)
        self._order(f"{name} at other", (answer, *self._digest.of(self.broker)), **fields)
        return step


@dataclass(frozen=True, slots=True)
class TwinProcesses:
    """Makes twins with the real classes of one JVM, one after the other."""

    real: RealClasses
    left_at: Counter[str] = field(default_factory=Counter)
    """How many schedules were compared no further, by the operation that ended it."""

    def to_json(self) -> dict[str, Any]:
        """The release, the orders whose answers were compared, and where a comparison ended, as plain data."""
        return {
            "release": self.real.release,
            "answers": dict(self.real.compared),
            "compared_up_to": dict(self.left_at),
            "classes": self.real.report(),
        }

    def __call__(self, broker: BrokerController) -> TwinProcess:
        """The twin of a broker on an empty store.

        Raises
        ------
        JavaError
            The first of them does not open, or its classes are built otherwise than the agent expects.
        """
        is_first = not self.real.compared
        twin = TwinProcess(broker, self.real, self.left_at)
        if is_first:
            twin.collect()
            if twin.difference is not None:
                message = f"{self.real.name}: a broker can't be opened: {twin.difference.given}"
                raise JavaError(message)
            self.real.require_rewritten()
        return twin


def twins_of(make_process: MakeProcess) -> TwinProcesses | None:
    """What makes twins, where processes are made with the real classes beside the broker."""
    return make_process if isinstance(make_process, TwinProcesses) else None


class TwinProcess(BrokerProcess):
    """The process of the reference broker, and that of the real classes.

    Parameters
    ----------
    left_at
        Counts the operation at which a schedule is compared no further.
    """

    def __init__(self, broker: BrokerController, real: RealClasses, left_at: Counter[str]) -> None:
        super().__init__(broker)
        self._left_at = left_at
        self._real = real
        self._digest = Digest(TOPIC)
        self._endings = _Endings()
        self._network = (True, True)
        self._has_left = False
        real.collect()  # Of a schedule that ended at a difference, the rest is nobody's.
        settings, config = broker.settings, broker.message_store.config
        self._order(
            "open",
            "",
            (),
            **opening(real.folder, self.clock.now, settings, config),
            **self.more_settings,
        )

    @property
    def more_settings(self) -> Mapping[str, Any]:
        """Settings of the real classes besides those that a lockstep needs."""
        return {}

    def collect(self) -> None:
        """See `BrokerProcess`."""
        self._note(self._real.collect())

    # --- time ---------------------------------------------------------------------------------------------------------

    def advance(self, by: int) -> None:
        """See `BrokerProcess`."""
        super().advance(by)
        self._give("advance", ("",), ms=by)

    def set_clock(self, by: int) -> None:
        """See `BrokerProcess`."""
        super().set_clock(by)
        self._give("step", ("",), ms=by)

    def oversleep(self, by: int) -> None:
        """See `BrokerProcess`."""
        super().oversleep(by)
        self._order("oversleep", "", ms=by)

    # --- clients and operators ----------------------------------------------------------------------------------------

    def connect(self, group: str, channel: str) -> None:
        """See `BrokerProcess`."""
        super().connect(group, channel)
        self._order("connect", "", group=group, client=channel)

    def disconnect(self, channel: str) -> None:
        """See `BrokerProcess`."""
        super().disconnect(channel)
        self._order("disconnect", "", client=channel)

    def send(self, request: SendMessageRequest) -> SendMessageResponse:
        """See `BrokerProcess`."""
        group = request.properties.get(PRODUCER_GROUP)
        if group:
            self.connect(group, request.born_host)
        answer = super().send(request)
        code = str(answer.response.code)
        self._order(
            "send",
            code if answer.record is None else f"{code} {answer.queue_offset} {answer.msg_id}",
            (),
            **sending(request, self.broker.switches),
        )
        return answer

    def step_end(self, ending: EndTransaction) -> EndTransactionStep:
        """See `BrokerProcess`."""
        step = super().step_end(ending)
        name, answer, fields = self._endings.order(ending, step)
        self._give(name, (answer, *self._digest.of(self.broker)), **fields)
        return step

    def let_escape(self, other: OtherMaster) -> None:
        """See `BrokerProcess`."""
        super().let_escape(other)
        self._other = other

    def another(self, broker: BrokerController) -> BrokerProcess:
        """See `BrokerProcess`."""
        self._another = _OtherTwin(broker, self._give)
        return self._another

    def resume_check(self, msg_id: str) -> int:
        """See `BrokerProcess`."""
        code = super().resume_check(msg_id)
        self._order("resume", str(code), id=msg_id)
        return code

    # --- its threads --------------------------------------------------------------------------------------------------

    def dispatch(self) -> None:
        """See `BrokerProcess`."""
        was_behind = self.broker.message_store.is_behind
        super().dispatch()
        if was_behind:
            self._order("dispatch", "")

    def flush(self) -> None:
        """See `BrokerProcess`."""
        super().flush()
        self._order("flush", "")

    def persist_offsets(self) -> bool:
        """See `BrokerProcess`."""
        is_due = super().persist_offsets()
        if is_due:
            self._order("save offsets", "")
        return is_due

    def save_offsets(self) -> None:
        """See `BrokerProcess`."""
        super().save_offsets()
        self._order("save offsets", "")

    def write_op_batches(self) -> OpBatch:
        """See `BrokerProcess`."""
        batch = super().write_op_batches()
        if self.broker.switches.batches_ops:
            self._order("batch", "")
        return batch

    def begin_round(self) -> CheckRound | None:
        """See `BrokerProcess`.

        Up to 5.3.3 a thread whose interval is over begins a round in a shutdown, too, until the store closes: one that
        the specification lets begin before the shutdown only.
        """
        began = super().begin_round()
        if not self.broker.is_stopping:
            self._order("begin round", "waits" if began is None else _STOPS[began.is_over])
        return began

    def step_round(self) -> CheckStep | None:
        """See `BrokerProcess`."""
        done = super().step_round()
        if done is not None:
            checks = () if done.check_request is None else (done.check_request,)
            if self.broker.role is not BrokerRole.ACTING_MASTER:
                died = not self.broker.check_service.is_alive
                self._order("pass", _DEAD if died else _STOPS[done.branch.is_end], checks)
                return done
            self._set_network()
            sleeps = done.branch is CheckBranch.ESCAPE_FAILED
            self._order("pass", "asleep" if sleeps else _STOPS[done.branch.is_end], checks, stopsInSleep="true")
            self._another.look()
        return done

    def interrupt_round(self) -> CheckStep | None:
        """See `BrokerProcess`."""
        done = super().interrupt_round()
        if done is not None:
            self._order("interrupt", _STOPS[done.branch.is_end])
        return done

    def _set_network(self) -> None:
        """Tell whether messages and answers pass between the two brokers now."""
        network = self._other.takes_messages, self._other.answers
        if network != self._network:
            self._network = network
            takes, answers = (str(each).lower() for each in network)
            self._give("network", ("",), takesMessages=takes, answers=answers)

    # --- its disk and its files ---------------------------------------------------------------------------------------

    @contextmanager
    def puts_fail(self) -> Iterator[None]:
        """See `BrokerProcess`."""
        with super().puts_fail():
            self._order("refuse puts", "")
            yield
        self._order("take puts", "")

    def miss_next_read(self, answer: GetMessageResult | ThrownInCheckError) -> None:
        """See `BrokerProcess`."""
        super().miss_next_read(answer)
        if isinstance(answer, GetMessageResult):
            is_none = answer.status is GetMessageStatus.NO_ANSWER
            said = "nothing" if is_none else answer.status.name
            self._order("miss read", "", gives=said, next=answer.next_begin_offset, max=answer.max_offset)
        else:
            self._leave("a read that throws")

    def damage(self, place: CommitLogOffset) -> None:
        """See `BrokerProcess`."""
        super().damage(place)
        self._order("damage", "", place=place)

    def put_offset(self, topic: str, offset: int | None) -> None:
        """See `BrokerProcess`."""
        super().put_offset(topic, offset)
        self._order("set offsets", "", topic=topic, offset="" if offset is None else offset)

    def roll_log(self) -> None:
        """See `BrokerProcess`."""
        super().roll_log()
        self._order("roll", "")

    def delete_files_before(self, end: CommitLogOffset) -> None:
        """See `BrokerProcess`."""
        super().delete_files_before(end)
        self._order("delete files", "", before=end)

    def move_lower_ends(self) -> None:
        """See `BrokerProcess`."""
        super().move_lower_ends()
        self._order("move lower ends", "")

    # --- its end, its role, and the next process ----------------------------------------------------------------------

    def lose_power(self, end: CommitLogOffset) -> None:
        """See `BrokerProcess`."""
        super().lose_power(end)
        self._give("lose power", ("",), end=end)

    def begin_shutdown(self) -> None:
        """See `BrokerProcess`."""
        super().begin_shutdown()
        self._order("begin shutdown", _STOPS[self.broker.check_service.round is None])

    def end_shutdown(self) -> None:
        """See `BrokerProcess`."""
        before = self.clock.elapsed
        super().end_shutdown()
        self._give("end shutdown", ("",))
        slept = self.clock.elapsed - before
        if slept:
            self._give("advance", ("",), ms=slept)

    def restart(self, role: BrokerRole = BrokerRole.MASTER) -> None:
        """See `BrokerProcess`."""
        super().restart(role)
        is_acting = role is BrokerRole.ACTING_MASTER
        if is_acting and not self.broker.switches.escapes:
            self._leave("a slave of a release that has no acting masters")
        self._order("act for master" if is_acting else "restart", "")
        for group, channel in self.broker.producer_manager.connected():
            self.connect(group, channel)

    def change_to_slave(self) -> None:
        """See `BrokerProcess`."""
        super().change_to_slave()
        self._order("role", "", role="SLAVE")

    def change_to_master(self) -> None:
        """See `BrokerProcess`."""
        super().change_to_master()
        self._order("role", "", role="ASYNC_MASTER")

    # --- orders -------------------------------------------------------------------------------------------------------

    def _order(
        self, name: str, answer: str, checks: Iterable[CheckTransactionStateRequest] = (), **fields: object
    ) -> None:
        if not self._has_left:
            self._give(name, (answer, *self._digest.of(self.broker, checks)), **fields)

    def _give(self, name: str, predicted: tuple[str, ...], **fields: object) -> None:
        if not self._has_left and self.difference is None:
            self._note(self._real.order(name, predicted, self.doing, **fields))

    def _note(self, difference: RealDifference | None) -> None:
        self.difference = self.difference or difference

    def _leave(self, operation: str) -> None:
        if not self._has_left:
            self._left_at[operation] += 1
            self._has_left = True
