"""The work of orders that is done at once or by the node: what each does to a broker, and what is answered."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from reference.broker.broker_settings import BrokerRole
from wire.errors import BadOrderError, BadRequestError
from wire.node.faults import fault_of
from wire.requests.administration import make_group, make_topic
from wire.requests.request import legal_name
from wire.requests.topic_types import MESSAGE_TYPE_ATTRIBUTE

if TYPE_CHECKING:
    from wire.node.broker_node import BrokerNode
    from wire.node.faults import Fault
    from wire.node.ordered_faults import OrderedFault
    from wire.node.surroundings import ProxyControl

Arguments = dict[str, Any]

LAST_MOMENT_MS: Final = 253_402_300_799_999
"""The last millisecond of the year 9999, behind which nothing shows a time."""


def status(node: BrokerNode, _: Arguments) -> object:
    """What the broker is doing; the settings are those in force, in milliseconds where they are times."""
    store, settings = node.broker.message_store if node.is_up else None, node.settings
    return {
        "profile": node.start.release,
        "address": node.address,
        "is_up": node.serves,
        "role": node.role.value,
        "now": node.clock.now,
        "elapsed": node.clock.elapsed,
        "clock": "virtual" if node.pace.speed is None else "real",
        "speed": node.pace.speed,
        "seed": node.start.seed,
        "transactionCheckInterval": settings.transaction_check_interval_ms,
        "transactionTimeOut": settings.transaction_timeout_ms,
        "transactionCheckMax": settings.transaction_check_max,
        "transactionOpBatchInterval": settings.op_batch_interval_ms if node.start.switches.batches_ops else None,
        "rounds_ended": node.recorder.rounds_ended,
        "died": node.died,
        "connections": len(node.connections),
        "waiting_pulls": node.pulls.count,
        "grpc_address": node.proxies[0].address if node.proxies else None,
        "proxies": [
            {"grpc_address": each.address, "transaction_data": each.transactions, "producers": each.producers}
            for each in node.proxies
        ],
        "popped": None if node.pops is None else node.pops.in_flight,
        "producers": node.channels.groups(),
        "consumers": node.consumers.client_ids(),
        "commit_log_end": None if store is None else int(store.max_phy_offset),
        "writes": node.disk.writes,
        "faults": [_shown(fault, ordered) for fault, ordered in node.faults.active if not fault.is_over],
        "befell": node.faults.done,
        "unused_faults": node.ordered.unused,
    }


def _shown(fault: Fault, ordered: OrderedFault) -> dict[str, object]:
    shown = asdict(fault)
    shown["request"] = fault.request.name
    return {"fault": shown.pop("kind"), **shown, "befell": ordered.befell, "ordered": ordered.number}


async def push_clock(node: BrokerNode, arguments: Arguments) -> object:
    """Let time pass."""
    await node.push_clock(arguments["ms"])
    return {"now": node.clock.now}


def step_clock(node: BrokerNode, arguments: Arguments) -> object:
    """Set the wall clock."""
    by_ms = arguments["ms"]
    if not 0 <= node.clock.now + by_ms <= LAST_MOMENT_MS:
        message = f"step_clock: ms is {by_ms}, expected milliseconds that lead to a time between 1970 and 9999"
        raise BadOrderError(message)
    stepped = node.ordered.befalls_all(f"step_clock ms={by_ms}", lasts=True)
    node.step_clock(by_ms)
    return {"ordered": stepped.number, "now": node.clock.now}


def crash(node: BrokerNode, arguments: Arguments) -> object:
    """Kill the process, now or at a write."""
    at_write = arguments["at_write"]
    if at_write:
        crash = node.ordered.add(f"crash at_write={at_write}")
        node.disk.crash_at(at_write, crash)
    else:
        crash = node.ordered.befalls_all("crash now")
        node.crash()
    return {"ordered": crash.number, "writes": node.disk.writes}


def restart(node: BrokerNode, _: Arguments) -> object:
    """Shut the process down, and start the next one."""
    begins = node.recorder.row_count
    node.restart()
    restarted = node.ordered.befalls_all("restart", since=begins)
    return {"ordered": restarted.number}


async def stop(node: BrokerNode, arguments: Arguments) -> object:
    """Stop the broker; the verdict."""
    if arguments["settles"]:
        await node.let_op_batch_be_written()
    return await node.on_stop()


def change_role(node: BrokerNode, arguments: Arguments) -> object:
    """Become slave, acting master or master."""
    role = BrokerRole(arguments["role"])
    node.change_role(role)
    node.ordered.end("role ")
    changed = node.ordered.befalls_all(f"role role={role.value}", lasts=role is not BrokerRole.MASTER)
    return {"ordered": changed.number, "role": role.value}


def unreachable(node: BrokerNode, arguments: Arguments) -> object:
    """Let no check reach a group, or let them reach it again."""
    group = arguments["group"]
    order = f"unreachable_producer group={group}"
    number = None
    if arguments["ends"]:
        node.channels.unreachable.pop(group, None)
        node.ordered.end(order)
    elif group not in node.channels.unreachable:
        fault = node.channels.unreachable[group] = node.ordered.add(order, "producer groups")
        node.ordered.begin(fault, lasts=True)
        number = fault.number
    return {"ordered": number, "unreachable": sorted(node.channels.unreachable)}


def topic(node: BrokerNode, arguments: Arguments) -> object:
    """Make a topic, or change it; one that nobody gives a type takes NORMAL from gRPC clients."""
    name, attributes = _legal("topic", arguments["name"]), {}
    if "type" in arguments:
        attributes = {MESSAGE_TYPE_ATTRIBUTE: arguments["type"]}
    make_topic(node.broker, name, arguments["queues"], attributes)
    node.poke()
    return {"topic": name, "queues": arguments["queues"]}


def group(node: BrokerNode, arguments: Arguments) -> object:
    """Make a consumer group, or change it."""
    name = _legal("group", arguments.pop("name"))
    known = make_group(node.broker, name, {})
    if missing := next((setting for setting in arguments if setting not in known), None):
        message = f"group: {missing}: {node.start.release} has no such setting of a group; leave it out"
        raise BadOrderError(message)
    return make_group(node.broker, name, arguments)


def _legal(order: str, name: str) -> str:
    try:
        return legal_name(name)
    except BadRequestError as error:
        message = f"{order}: name: {error}"
        raise BadOrderError(message) from None


async def restart_proxy(node: BrokerNode, arguments: Arguments) -> object:
    """Stop a proxy, or all, and start it again."""
    proxies = _proxies_of(node, "restart_proxy", arguments)
    restarted = node.ordered.befalls_all("restart_proxy")
    for each in proxies:
        await each.restart()
    return {"ordered": restarted.number}


def drop_transaction_data(node: BrokerNode, arguments: Arguments) -> object:
    """Let a proxy, or all, forget where halves lie."""
    proxies = _proxies_of(node, "drop_transaction_data", arguments)
    dropped = sum(each.drop_transaction_data() for each in proxies)
    return {"ordered": node.ordered.befalls_all("drop_transaction_data").number, "dropped": dropped}


def _proxies_of(node: BrokerNode, order: str, arguments: Arguments) -> list[ProxyControl]:
    """The one that an order names, or all."""
    number, there = arguments.get("proxy"), len(node.proxies)
    if not there:
        message = f"{order}: there is no proxy; start the broker with --grpc-port"
        raise BadOrderError(message)
    if number is None:
        return list(node.proxies)
    if number >= there:
        message = f"{order}: proxy is {number}, and there is only proxy 0; start the broker with --proxies 2"
        raise BadOrderError(message)
    return [node.proxies[number]]


def fault(node: BrokerNode, arguments: Arguments) -> object:
    """Let a fault befall messages."""
    ordered = node.faults.add(fault_of(arguments))
    return {"ordered": ordered.number, "faults": len(node.faults.active)}


def clear(node: BrokerNode, _: Arguments) -> object:
    """End all faults."""
    node.faults.clear()
    node.channels.unreachable.clear()
    node.ordered.end("unreachable_producer ")
    node.disk.resume()
    return {}
