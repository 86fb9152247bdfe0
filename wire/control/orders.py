"""Orders to a broker on the wire, each with its arguments: by the control port, an option or a fixture."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Final

from reference.broker.broker_settings import BrokerRole
from wire.errors import BadOrderError, BadRequestError
from wire.node.faults import fault_of
from wire.requests.administration import make_topic
from wire.requests.request import legal_name
from wire.requests.topic_types import MESSAGE_TYPE_ATTRIBUTE, TOPIC_TYPES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wire.node.broker_node import BrokerNode
    from wire.node.surroundings import ProxyControl

Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ControlOrder:
    """One order."""

    takes: Mapping[str, type]
    """The names of what it takes, with the type of each."""
    does: Callable[[BrokerNode, Arguments], object]
    """Does it, and gives what is answered, or what is to be awaited for that."""
    about: str
    waits: bool = True
    """Whether it is carried out when the order before it is; else at once."""


async def carry_out(node: BrokerNode, name: str, arguments: Mapping[str, Any]) -> object:
    """Carry out an order; its effect is there when this is over, as whoever gave it counts on that.

    Raises
    ------
    BadOrderError
        There is no such order, it takes something else, or it can't be done now.
    """
    order = ORDERS.get(name)
    if order is None:
        message = f"order {name!r}: expected one of {', '.join(sorted(ORDERS))}"
        raise BadOrderError(message)
    if name != "fault":
        _require_arguments(name, order, arguments)
    if not order.waits:
        return await _answered(order.does(node, dict(arguments)))
    async with node.orders:
        answer = await _answered(order.does(node, dict(arguments)))
        await node.settle()
    return answer


async def _answered(answer: object) -> object:
    return await answer if isawaitable(answer) else answer


def _require_arguments(name: str, order: ControlOrder, arguments: Mapping[str, Any]) -> None:
    for key, value in arguments.items():
        wanted = order.takes.get(key)
        if wanted is None:
            message = f"{name}: {key!r} is nothing that it takes; it takes {', '.join(order.takes) or 'nothing'}"
            raise BadOrderError(message)
        if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
            message = f"{name}: {key} is {value!r}, expected {_NAMES[wanted]}"
            raise BadOrderError(message)


def _status(node: BrokerNode, _: Arguments) -> object:
    store = node.broker.message_store if node.is_up else None
    return {
        "profile": node.start.release,
        "address": node.address,
        "is_up": node.serves,
        "role": node.role.value,
        "now": node.clock.now,
        "elapsed": node.clock.elapsed,
        "speed": node.pace.speed,
        "seed": node.start.seed,
        "died": node.died,
        "connections": len(node.connections),
        "waiting_pulls": node.pulls.count,
        "grpc_address": None if node.proxy is None else node.proxy.address,
        "transaction_data": None if node.proxy is None else node.proxy.transactions,
        "popped": None if node.pops is None else node.pops.in_flight,
        "producers": node.channels.groups(),
        "commit_log_end": None if store is None else int(store.max_phy_offset),
        "writes": node.disk.writes,
        "faults": [_shown(fault) for fault in node.faults.active if not fault.is_over],
        "befell": node.faults.done,
    }


def _shown(fault: Any) -> dict[str, object]:
    shown = asdict(fault)
    shown["request"] = fault.request.name
    return {"fault": shown.pop("kind"), **shown}


async def _push_clock(node: BrokerNode, arguments: Arguments) -> object:
    by_ms = arguments.get("ms", 0)
    if not 0 < by_ms <= MOST_PUSHED_MS:
        message = f"push_clock: ms is {by_ms}, expected 1 to {MOST_PUSHED_MS} milliseconds, which is 30 days"
        raise BadOrderError(message)
    await node.push_clock(by_ms)
    return {"now": node.clock.now}


def _step_clock(node: BrokerNode, arguments: Arguments) -> object:
    by_ms = arguments.get("ms", 0)
    if not 0 <= node.clock.now + by_ms <= LAST_MOMENT_MS:
        message = f"step_clock: ms is {by_ms}, expected milliseconds that lead to a time between 1970 and 9999"
        raise BadOrderError(message)
    node.step_clock(by_ms)
    return {"now": node.clock.now}


def _crash(node: BrokerNode, arguments: Arguments) -> object:
    at_write = arguments.get("at_write", 0)
    if at_write < 0:
        message = f"crash: at_write is {at_write}, expected 0 for now, or the number of a write from now on"
        raise BadOrderError(message)
    if at_write:
        node.disk.crash_at(at_write)
    else:
        node.crash()
    return {"writes": node.disk.writes}


def _restart(node: BrokerNode, _: Arguments) -> object:
    node.restart()
    return {}


async def _stop(node: BrokerNode, _: Arguments) -> object:
    return await node.on_stop()


def _change_role(node: BrokerNode, arguments: Arguments) -> object:
    names = [role.value for role in BrokerRole]
    if arguments.get("role") not in names:
        message = f"role {arguments.get('role')!r}: expected one of {', '.join(names)}"
        raise BadOrderError(message)
    node.change_role(BrokerRole(arguments["role"]))
    return {"role": node.role.value}


def _unreachable(node: BrokerNode, arguments: Arguments) -> object:
    group = arguments.get("group", "")
    if not group:
        message = "unreachable_producer: group is missing; name the producer group"
        raise BadOrderError(message)
    if arguments.get("ends", False):
        node.channels.unreachable.discard(group)
    else:
        node.channels.unreachable.add(group)
    return {"unreachable": sorted(node.channels.unreachable)}


def _topic(node: BrokerNode, arguments: Arguments) -> object:
    name, kind, queues = arguments.get("name", ""), arguments.get("type", "NORMAL"), arguments.get("queues", 4)
    if kind not in TOPIC_TYPES:
        message = f"topic: type {kind!r}: expected one of {', '.join(TOPIC_TYPES)}"
        raise BadOrderError(message)
    if not 0 < queues <= MOST_QUEUES:
        message = f"topic: queues is {queues}, expected 1 to {MOST_QUEUES}"
        raise BadOrderError(message)
    try:
        make_topic(node.broker, legal_name(name), queues, {MESSAGE_TYPE_ATTRIBUTE: kind} if "type" in arguments else {})
    except BadRequestError as error:
        message = f"topic: name: {error}"
        raise BadOrderError(message) from None
    node.poke()
    return {"topic": name, "queues": queues}


async def _restart_proxy(node: BrokerNode, _: Arguments) -> object:
    await _proxy_of(node, "restart_proxy").restart()
    return {}


def _drop_transaction_data(node: BrokerNode, _: Arguments) -> object:
    return {"dropped": _proxy_of(node, "drop_transaction_data").drop_transaction_data()}


def _proxy_of(node: BrokerNode, order: str) -> ProxyControl:
    if node.proxy is None:
        message = f"{order}: there is no proxy; start the broker with --grpc-port"
        raise BadOrderError(message)
    return node.proxy


def _fault(node: BrokerNode, arguments: Arguments) -> object:
    node.faults.add(fault_of(arguments))
    return {"faults": len(node.faults.active)}


def _clear(node: BrokerNode, _: Arguments) -> object:
    node.faults.clear()
    node.channels.unreachable.clear()
    node.disk.resume()
    return {}


MOST_PUSHED_MS: Final = 30 * 86_400_000
"""The most that one order lets pass: nobody waits for more, and who gives nanoseconds gets an answer."""

MOST_QUEUES: Final = 1_024
"""The most queues of a topic that an order makes."""

LAST_MOMENT_MS: Final = 253_402_300_799_999
"""The last millisecond of the year 9999, behind which nothing shows a time."""

STOP: Final = "stop"
"""The order that is answered when nothing is there any more to give another one to."""

_NAMES: Final = {int: "a whole number", str: "a text", bool: "true or false"}

ORDERS: Final[dict[str, ControlOrder]] = {
    "status": ControlOrder({}, _status, "what the broker is doing", waits=False),
    "push_clock": ControlOrder({"ms": int}, _push_clock, "let time pass at once, and all that is due in it happen"),
    "step_clock": ControlOrder({"ms": int}, _step_clock, "set the wall clock forward or back, while no time passes"),
    "crash": ControlOrder(
        {"at_write": int}, _crash, "kill the process now, or at a write from now on; it starts again"
    ),
    STOP: ControlOrder({}, _stop, "stop as Ctrl-C does, and answer the verdict on the run", waits=False),
    "restart": ControlOrder({}, _restart, "stop as told in the release's order, and start again"),
    "topic": ControlOrder({"name": str, "type": str, "queues": int}, _topic, "make a topic, or change it"),
    "restart_proxy": ControlOrder({}, _restart_proxy, "stop the proxy with all that it knows, and start it again"),
    "drop_transaction_data": ControlOrder(
        {}, _drop_transaction_data, "let the proxy forget where halves lie, as it does by itself"
    ),
    "role": ControlOrder({"role": str}, _change_role, "become slave, acting_master or master"),
    "unreachable_producer": ControlOrder(
        {"group": str, "ends": bool}, _unreachable, "no check reaches a group, until ends=true"
    ),
    "fault": ControlOrder({}, _fault, "what is to befall messages and requests; see the page of faults"),
    "clear": ControlOrder({}, _clear, "no fault any more; what was held back goes on"),
}
"""By name."""
