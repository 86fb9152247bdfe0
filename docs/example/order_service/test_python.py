"""The Python service speaks gRPC, where a producer's group is its topic: two services answer each other's checks.

The clock of the broker stands still until a test pushes it, so that nothing is checked by chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from services import wait_until

if TYPE_CHECKING:
    from halfcheck.pytest_plugin import RocketmqBroker
    from services import Service
    from wire.control.controller import Controller

pytestmark = pytest.mark.rocketmq(profile="5.5.0", virtual=True, seed=7, grpc=True)


def test_an_order_is_shipped(python_services: list[Service], rocketmq_broker: RocketmqBroker) -> None:
    ours, theirs = python_services
    ours.place("order-1")
    wait_until(lambda: sum(each.became("order-1")["received"] for each in python_services), "order-1 was not received")
    assert ours.became("order-1")["placed"]
    assert not theirs.became("order-1")["placed"]
    rocketmq_broker.control.push_clock(10_000)
    assert rocketmq_broker.stop().broken == ()


def test_orders_whose_commits_are_lost_are_shipped_whichever_service_is_asked(
    python_services: list[Service], rocketmq_faults: Controller
) -> None:
    """The broker asks the producers of the topic in turn, so that the other service is asked for some of them."""
    orders = [f"order-{number}" for number in range(6)]
    rocketmq_faults.fault("lose_end", times=len(orders))
    for order in orders:
        python_services[0].place(order)
    wait_until(lambda: rocketmq_faults.status()["befell"] == {"lose_end": len(orders)}, "not every commit was lost")

    def are_settled() -> bool:
        rocketmq_faults.round()
        return all(each["op"] for each in rocketmq_faults.transactions())

    wait_until(are_settled, "the orders were not settled")
    assert any(python_services[1].became(order)["checks"] for order in orders)

    def received() -> set[str]:
        return {order for order in orders if any(each.became(order)["received"] for each in python_services)}

    wait_until(lambda: received() == set(orders), "an order was placed, and was not shipped", seconds=20)
