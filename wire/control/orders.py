"""The table of orders to a broker on the wire: by the control port, an option or a fixture."""

from __future__ import annotations

from dataclasses import dataclass, field
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Final

from reference.broker.broker_settings import BrokerRole
from wire.control import handlers, order_answers
from wire.control.transactions import transactions
from wire.control.waiting import one_round, wait
from wire.errors import BadOrderError
from wire.node.faults import FAULT_ARGUMENTS
from wire.node.surroundings import MOST_PROXIES
from wire.order_arguments import OrderArgument, checked
from wire.requests.topic_types import TOPIC_TYPES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wire.control.order_answers import Schema
    from wire.node.broker_node import BrokerNode


@dataclass(frozen=True, slots=True)
class ControlOrder:
    """One order."""

    does: Callable[[BrokerNode, dict[str, Any]], object]
    """Does it, and gives what is answered, or what is to be awaited for that."""
    answers: Schema
    about: str
    takes: Mapping[str, OrderArgument] = field(default_factory=dict)
    """By name."""
    waits: bool = True
    """Whether it is carried out when the order before it is; else at once."""
    reads: bool = False
    """Whether it changes nothing; a GET does it then."""
    takes_long: bool = False
    """Whether it may be answered only after minutes."""


def order_called(name: str) -> ControlOrder:
    """The order of a name; `BadOrderError` with all that there are."""
    if name not in ORDERS:
        message = f"order {name!r}: expected one of {', '.join(sorted(ORDERS))}"
        raise BadOrderError(message)
    return ORDERS[name]


async def carry_out(node: BrokerNode, name: str, arguments: Mapping[str, Any]) -> object:
    """Carry out an order; its effect is there when this is over, as whoever gave it counts on that.

    Raises
    ------
    BadOrderError
        There is no such order, it takes something else, or it can't be done now.
    """
    order = order_called(name)
    taken = checked(name, order.takes, arguments)
    if not order.waits:
        return await _answered(order.does(node, taken))
    async with node.orders:
        answer = await _answered(order.does(node, taken))
        await node.settle()
    return answer


async def _answered(answer: object) -> object:
    return await answer if isawaitable(answer) else answer


STOP: Final = "stop"
"""The order that is answered when nothing is there any more to give another one to."""

MOST_PUSHED_MS: Final = 30 * 86_400_000
"""The most that one order lets pass: nobody waits for more, and who gives nanoseconds gets an answer."""

MOST_QUEUES: Final = 1_024
"""The most queues of a topic that an order makes."""

_WHICH_PROXY: Final = {"proxy": OrderArgument(int, "which one, or all", least=0, most=MOST_PROXIES - 1)}

ORDERS: Final[dict[str, ControlOrder]] = {
    "status": ControlOrder(handlers.status, order_answers.STATUS, "what the broker is doing", waits=False, reads=True),
    "transactions": ControlOrder(
        transactions,
        order_answers.TRANSACTIONS,
        "each transaction: state, checks, where its halves and deliveries lie, when it is checked next",
        {"key": OrderArgument(str, "those with this key or unique key alone")},
        waits=False,
        reads=True,
    ),
    "wait": ControlOrder(
        wait,
        order_answers.WAITED,
        "wait until a producer group is known, check rounds have ended, a message is in its topic, or was consumed",
        {
            "producer": OrderArgument(str, "a producer group"),
            "rounds": OrderArgument(int, "how many more rounds", least=1),
            "delivered": OrderArgument(str, "a key or unique key of a message"),
            "consumed": OrderArgument(str, "a key or unique key of a message"),
            "group": OrderArgument(str, "of consumed: the consumer group"),
            "times": OrderArgument(int, "of consumed: how often at least", least=1, default=1),
            "timeout_ms": OrderArgument(int, "for how long at most, in real milliseconds", least=0, default=60_000),
        },
        waits=False,
        reads=True,
        takes_long=True,
    ),
    "push_clock": ControlOrder(
        handlers.push_clock,
        order_answers.PUSHED,
        "let time pass at once, and all that is due in it happen",
        {"ms": OrderArgument(int, "milliseconds, 30 days at most", least=1, most=MOST_PUSHED_MS, is_required=True)},
        takes_long=True,
    ),
    "round": ControlOrder(
        one_round,
        order_answers.ONE_ROUND,
        "with a virtual clock: let time pass until a whole check round has begun and ended",
        takes_long=True,
    ),
    "step_clock": ControlOrder(
        handlers.step_clock,
        order_answers.STEPPED,
        "set the wall clock forward or back, while no time passes",
        {"ms": OrderArgument(int, "milliseconds, also negative ones", is_required=True)},
    ),
    "crash": ControlOrder(
        handlers.crash,
        order_answers.CRASHED,
        "kill the process now, or at a write from now on; it starts again",
        {"at_write": OrderArgument(int, "the number of a write from now on, or 0 for now", least=0, default=0)},
    ),
    "restart": ControlOrder(handlers.restart, order_answers.BEFALLS, "stop in the release's order, and start again"),
    STOP: ControlOrder(
        handlers.stop,
        order_answers.STOPPED,
        "stop as Ctrl-C does, and answer the verdict on the run",
        {"settles": OrderArgument(bool, "whether op messages in memory are written before", default=False)},
        waits=False,
        takes_long=True,
    ),
    "topic": ControlOrder(
        handlers.topic,
        order_answers.TOPIC_MADE,
        "make a topic, or change it",
        {
            "name": OrderArgument(str, "its name", is_required=True),
            "type": OrderArgument(str, "what gRPC clients may send to it", tuple(TOPIC_TYPES)),
            "queues": OrderArgument(int, "how many queues it has", least=1, most=MOST_QUEUES, default=4),
        },
    ),
    "group": ControlOrder(
        handlers.group,
        order_answers.GROUP,
        "make a consumer group, or change it",
        {
            "name": OrderArgument(str, "its name", is_required=True),
            "retryMaxTimes": OrderArgument(int, "after how many retries a message is a dead letter", least=-1),
            "consumeMessageOrderly": OrderArgument(bool, "whether gRPC clients pop in order"),
        },
    ),
    "restart_proxy": ControlOrder(
        handlers.restart_proxy,
        order_answers.BEFALLS,
        "stop a proxy with all that it knows, and start it again",
        _WHICH_PROXY,
    ),
    "drop_transaction_data": ControlOrder(
        handlers.drop_transaction_data,
        order_answers.DROPPED,
        "let a proxy forget where halves lie, as it does by itself",
        _WHICH_PROXY,
    ),
    "role": ControlOrder(
        handlers.change_role,
        order_answers.ROLE,
        "become slave, acting_master or master",
        {"role": OrderArgument(str, "the role", tuple(role.value for role in BrokerRole), is_required=True)},
    ),
    "unreachable_producer": ControlOrder(
        handlers.unreachable,
        order_answers.UNREACHABLE,
        "no check reaches a producer group, until ends=true",
        {
            "group": OrderArgument(str, "the producer group", is_required=True),
            "ends": OrderArgument(bool, "whether checks reach it again", default=False),
        },
    ),
    "fault": ControlOrder(
        handlers.fault, order_answers.FAULT, "what is to befall messages and requests", FAULT_ARGUMENTS
    ),
    "clear": ControlOrder(handlers.clear, order_answers.NOTHING, "no fault any more; what was held back goes on"),
}
"""By name."""
