"""Faults that a test orders: messages on the network lost, doubled, late or overtaken, requests refused.

A fault is named like the action of the specification that it stands for, where there is one; what befalls the process
itself (crash, role, clock) is asked of the node at once and is nothing that waits here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any, Final

from reference.client.producer_messages import RemotingError
from reference.format.properties import KEYS, UNIQUE_KEY, properties_map
from reference.format.record import CommitLogOffset
from reference.simulation.scheduler import Sleep, Steps
from wire.node.ordered_faults import seen_in
from wire.node.producer_channels import check_command
from wire.order_arguments import OrderArgument, checked
from wire.remoting.codes import RequestCode, ResponseCode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reference.broker.processor.end_transaction_processor import EndTransactionRequestHeader
    from reference.broker.transaction.transactional_message_check_listener import CheckTransactionStateRequest
    from wire.node.broker_node import BrokerNode
    from wire.node.ordered_faults import OrderedFault
    from wire.remoting.command import RemotingCommand
    from wire.requests.request import Request

END_FAULTS: Final = {"lose_end", "double_end", "delay_end", "overtake"}
CHECK_FAULTS: Final = {"lose_check", "double_check", "delay_check", "overtake_check"}
REFUSALS: Final = {"refuse", "refuse_answer"}
KINDS: Final = tuple(sorted(END_FAULTS | CHECK_FAULTS | REFUSALS))
"""``refuse`` answers without doing what was asked, ``refuse_answer`` does it and answers the same."""


@dataclass(slots=True)
class Fault:
    """A fault of some of the messages of a kind."""

    kind: str
    """One of :data:`KINDS`."""
    times: int | None = 1
    """How many messages it still befalls; None for all."""
    chance: float = 1.0
    """With which probability, drawn from the seed."""
    delay_ms: int = 1_000
    """By how much of the broker's time one is late."""
    key: str = ""
    """Only a transaction whose message has this key, or this unique key; empty for all."""
    request: RequestCode = RequestCode.SEND_MESSAGE_V2
    code: int = int(ResponseCode.SYSTEM_BUSY)
    remark: str = "refused by a test"
    """Of a refusal: the kind of request, and what is answered."""

    @property
    def is_over(self) -> bool:
        """Whether it befalls nothing any more."""
        return self.times == 0

    @property
    def order(self) -> str:
        """The order in words, as far as it says what is befallen."""
        request = f" request={self.request.name}" if self.kind in REFUSALS else ""
        return f"fault {self.kind}" + request + (f" key={self.key}" if self.key else "")


@dataclass(slots=True)
class _Held:
    """A message that the next one of its kind overtakes."""

    kind: str
    go_on: Callable[[], None] = field(repr=False)


class NetworkFaults:
    """The network between the broker and its producers, with the faults that befall their messages."""

    def __init__(self, node: BrokerNode, seed: int) -> None:
        self.active: list[tuple[Fault, OrderedFault]] = []
        """The faults that are to befall messages, in the order in which they were ordered, and what each befell."""
        self.done: dict[str, int] = {}
        """By kind of fault how often it befell a message."""
        self._node = node
        self._random = Random(seed)
        self._held: list[_Held] = []

    def add(self, fault: Fault) -> OrderedFault:
        """Ask for a fault."""
        ordered = self._node.ordered.add(fault.order, "keys")
        self.active = [each for each in self.active if not each[0].is_over] + [(fault, ordered)]
        return ordered

    def clear(self) -> None:
        """Ask for none any more; what was held back goes on."""
        self.active.clear()
        held, self._held = self._held, []
        for each in held:
            each.go_on()

    def forget(self) -> None:
        """The process is gone, and what was under way to it or from it with its connections."""
        self._held.clear()
        self._node.scheduler.kill(self)

    def take_end(self, header: EndTransactionRequestHeader, handle: Callable[[], None]) -> None:
        """An END_TRANSACTION comes out of the network; `handle` lets the broker do it."""
        names = self._properties_at(header.commit_log_offset) if self.active else {}
        self._carry("end", END_FAULTS, names, handle)

    def send_check(self, check: CheckTransactionStateRequest, channel: str | None) -> None:
        """The broker sends a check to a producer (``Broker2Client#checkProducerTransactionState``)."""
        connection = self._node.connections.get(channel or "")
        if connection is None:
            return
        fields, body = check_command(self._node.broker, check)
        version = self._node.version

        def send() -> None:
            reached = connection.call_oneway(RequestCode.CHECK_TRANSACTION_STATE, fields, body, version)
            if reached:
                group, key = check.producer_group or "", check.msg_id or ""
                self._node.answers.check_delivered(group, reached, check.commit_log_offset, key)

        self._carry("check", CHECK_FAULTS, check.properties, send)

    def refusal(self, request: Request, *, is_done: bool) -> RemotingCommand | None:
        """The refusal to answer with instead, if the request is to be refused."""
        wanted, code = "refuse_answer" if is_done else "refuse", request.command.code
        meant = [each for each in self.active if each[0].kind == wanted and each[0].request == code]
        names = self._properties_of(request) if meant else {}
        for fault, ordered in meant:
            if self._befalls(fault, ordered, names):
                return request.answer(fault.code, fault.remark)
        return None

    def _properties_of(self, request: Request) -> Mapping[str, str]:
        """The properties of the message that a request sends, or ends the transaction of; none of any other."""
        fields = request.command.fields
        if request.command.code == RequestCode.END_TRANSACTION:
            offset = fields.get("commitLogOffset", "")
            return self._properties_at(int(offset)) if offset.isdecimal() else {}
        return properties_map(fields.get("i", fields.get("properties", "")))

    def _properties_at(self, commit_log_offset: int) -> Mapping[str, str]:
        record = None
        if self._node.is_up:
            record = self._node.broker.message_store.look_message_by_offset(CommitLogOffset(commit_log_offset))
        return {} if record is None else record.properties

    def refuse_answer(self, request: Request, answer: RemotingCommand) -> RemotingCommand:
        """The answer to what was done, with another code if that is asked for; its fields stay."""
        refused = self.refusal(request, is_done=True)
        return answer if refused is None else replace(answer, code=refused.code, remark=refused.remark)

    def _carry(self, what: str, kinds: set[str], properties: Mapping[str, str], go_on: Callable[[], None]) -> None:
        """Bring a message to the other side, or do to it what is asked for."""
        overtaken = [each for each in self._held if each.kind == what]
        meant = [each for each in self.active if each[0].kind in kinds]
        fault = next((fault for fault, ordered in meant if self._befalls(fault, ordered, properties)), None)
        kind = "" if fault is None else fault.kind
        if kind.startswith("overtake"):
            self._held.append(_Held(what, self._guarded(go_on)))
            return
        if kind.startswith("delay") and fault is not None:
            self._later(fault.delay_ms, go_on)
        elif not kind.startswith("lose"):
            go_on()
            if kind.startswith("double"):
                self._guarded(go_on)()
        for each in overtaken:
            self._held.remove(each)
            each.go_on()

    def _befalls(self, fault: Fault, ordered: OrderedFault, properties: Mapping[str, str]) -> bool:
        if fault.is_over:
            return False
        if fault.key and not bears(properties, fault.key):
            ordered.sees(seen_in(properties))
            return False
        if fault.chance < 1 and self._random.random() >= fault.chance:
            ordered.spared += 1
            return False
        self._node.ordered.strikes(ordered, properties)
        if fault.times is not None:
            fault.times -= 1
        self.done[fault.kind] = self.done.get(fault.kind, 0) + 1
        return True

    def _later(self, delay_ms: int, go_on: Callable[[], None]) -> None:
        """Go on when so much of the broker's time has passed."""

        def wait() -> Steps[None]:
            yield Sleep(delay_ms)
            self._guarded(go_on)()

        self._node.scheduler.start("late message", wait(), self)
        self._node.poke()

    def _guarded(self, go_on: Callable[[], None]) -> Callable[[], None]:
        """Guard a late message: it is lost if its broker is gone, or dies of it."""

        def carry() -> None:
            if not self._node.is_up:
                return
            try:
                self._node.serve(self._node.broker, go_on)
            except RemotingError:
                return

        return carry


def fault_of(order: Mapping[str, Any]) -> Fault:
    """A fault as the control port, an option or a fixture names it; `BadOrderError` if there is none such.

    Examples
    --------
    >>> fault_of({"fault": "delay_end", "delay_ms": 5_000, "key": "order-7"}).delay_ms
    5000
    """
    given = checked("fault", FAULT_ARGUMENTS, order)
    return Fault(given.pop("fault"), **given | {"request": RequestCode[given["request"]]})


def bears(properties: Mapping[str, str], key: str) -> bool:
    """Whether a message has a key, among its KEYS or as its UNIQ_KEY."""
    return key in (properties.get(UNIQUE_KEY), *properties.get(KEYS, "").split(" "))


MOST_DELAY_MS: Final = 30 * 86_400_000
_MOST_CODE: Final = (1 << 15) - 1
"""A header in binary has two bytes for it (``RocketMQSerializable``)."""

_USUAL: Final = Fault("")

FAULT_ARGUMENTS: Final = {
    "fault": OrderArgument(str, "its kind", KINDS, is_required=True),
    "times": OrderArgument(
        int, "how many messages it befalls, or null for all", least=0, default=_USUAL.times, may_be_null=True
    ),
    "chance": OrderArgument(float, "with which probability", least=0, most=1, default=_USUAL.chance),
    "delay_ms": OrderArgument(
        int, "milliseconds of the broker's clock", least=0, most=MOST_DELAY_MS, default=_USUAL.delay_ms
    ),
    "key": OrderArgument(str, "a key or a unique key of a message, or empty for all", default=_USUAL.key),
    "request": OrderArgument(
        str, "of a refusal: the kind of request", tuple(RequestCode.__members__), default=_USUAL.request.name
    ),
    "code": OrderArgument(int, "of a refusal: the response code", least=0, most=_MOST_CODE, default=_USUAL.code),
    "remark": OrderArgument(str, "of a refusal: its words", default=_USUAL.remark),
}
"""What a fault is made of."""
