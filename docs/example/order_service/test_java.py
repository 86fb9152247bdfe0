"""The Java service packs one parcel an order, whatever befalls the broker between it and its warehouse.

The clock of the broker stands still until a test pushes it, so that nothing is checked, retried or written by chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from services import SECONDS, wait_until

if TYPE_CHECKING:
    from halfcheck.pytest_plugin import RocketmqBroker
    from services import Service
    from wire.control.controller import Controller

pytestmark = pytest.mark.rocketmq(profile="5.5.0", virtual=True, seed=7)


def test_an_order_is_shipped(java_service: Service, rocketmq_broker: RocketmqBroker) -> None:
    java_service.place("order-1")
    assert java_service.wait_until_received("order-1") == {"placed": True, "received": 1, "parcels": 1}
    rocketmq_broker.control.push_clock(180_000)
    assert java_service.became("order-1")["parcels"] == 1
    assert rocketmq_broker.stop().broken == ()


def test_a_jammed_printer_ships_no_second_parcel(java_service: Service, rocketmq_broker: RocketmqBroker) -> None:
    """Its message comes again as a retry, which says of itself that it is one."""
    java_service.ask("POST", "/printer/jam")
    java_service.place("order-1")
    java_service.wait_until_received("order-1")

    def is_retried() -> bool:
        rocketmq_broker.control.push_clock(10_000)
        return bool(java_service.became("order-1")["received"] == 2)

    wait_until(is_retried, "order-1 was not retried")
    assert java_service.became("order-1")["parcels"] == 1


def test_a_restart_of_the_broker_ships_no_second_parcel(
    java_service: Service, rocketmq_broker: RocketmqBroker, rocketmq_faults: Controller
) -> None:
    """Until transactionOpBatchInterval has passed, that the order was committed stands in the broker's memory only."""
    java_service.place("order-1")
    java_service.wait_until_received("order-1")
    rocketmq_faults.restart()
    rocketmq_broker.wait_for_producer("order-service", seconds=SECONDS)
    rocketmq_faults.round()  # what is still pending is checked, and the service says that it is placed
    assert java_service.wait_until_received("order-1", times=2) == {"placed": True, "received": 2, "parcels": 1}
    assert "S1" in {each.property_id for each in rocketmq_broker.stop().broken}  # delivered at most once


def test_of_forty_orders_some_of_which_are_committed_twice_each_is_one_parcel(
    java_service: Service, rocketmq_broker: RocketmqBroker, rocketmq_faults: Controller
) -> None:
    """Which ones are, the seed of the broker decides."""
    rocketmq_faults.fault("double_end", times=None, chance=0.2)
    orders = [f"order-{number}" for number in range(40)]
    for order in orders:
        java_service.place(order)
    for order in orders:
        java_service.wait_until_received(order)
    assert rocketmq_faults.status()["befell"] == {"double_end": 13}
    wait_until(lambda: sum(java_service.became(order)["received"] for order in orders) == 53, "53 were not received")
    parcels = {order: java_service.became(order)["parcels"] for order in orders}
    assert {order: count for order, count in parcels.items() if count != 1} == {}
    assert "A13" in rocketmq_broker.stop().resembles
