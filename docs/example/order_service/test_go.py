"""The Go service ships each order that is placed, whenever the broker asks what became of it.

The clock of the broker stands still until a test pushes it. That of the service cannot be pushed, so that its log,
which remembers a local transaction for ten minutes, does so for a second where a test is to be late.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from services import wait_until

if TYPE_CHECKING:
    from halfcheck.pytest_plugin import RocketmqBroker
    from services import Service
    from wire.control.controller import Controller

MINUTE = 60_000
pytestmark = pytest.mark.rocketmq(profile="5.5.0", virtual=True, seed=7, conf={"transactionCheckInterval": MINUTE})


def test_an_order_is_shipped(go_service: Service, rocketmq_broker: RocketmqBroker) -> None:
    go_service.place("order-1")
    assert go_service.wait_until_received("order-1")["parcels"] == 1
    rocketmq_broker.control.push_clock(3 * MINUTE)
    assert go_service.became("order-1") == {"placed": True, "checks": 0, "received": 1, "parcels": 1}
    assert rocketmq_broker.stop().broken == ()


def test_an_order_whose_commit_is_lost_is_shipped_when_it_is_checked(
    go_service: Service, rocketmq_faults: Controller
) -> None:
    rocketmq_faults.fault("lose_end", key="order-1")
    go_service.place("order-1")
    wait_until(lambda: rocketmq_faults.status()["befell"] == {"lose_end": 1}, "no END_TRANSACTION was lost")
    rocketmq_faults.push_clock(MINUTE)
    assert go_service.wait_until_received("order-1") == {"placed": True, "checks": 1, "received": 1, "parcels": 1}


@pytest.mark.keep_log("1s")
def test_an_order_whose_commit_is_lost_is_shipped_when_it_is_checked_late(
    go_service: Service, rocketmq_broker: RocketmqBroker, rocketmq_faults: Controller
) -> None:
    """The first ten checks do not reach the service, as happens while its network is down."""
    rocketmq_faults.fault("lose_end", key="order-1")
    rocketmq_faults.fault("lose_check", key="order-1", times=10)
    go_service.place("order-1")
    wait_until(lambda: rocketmq_faults.status()["befell"].get("lose_end") == 1, "no END_TRANSACTION was lost")
    while rocketmq_faults.status()["befell"].get("lose_check", 0) < 10:
        rocketmq_faults.push_clock(MINUTE)
    wait_until(lambda: go_service.ask("GET", "/transactions")["logged"] == [], "the log did not forget")
    rocketmq_faults.push_clock(MINUTE)  # the eleventh
    wait_until(lambda: go_service.became("order-1")["checks"], "the service was not checked")
    assert go_service.became("order-1")["placed"]
    wait_until(
        lambda: go_service.became("order-1")["parcels"] == 1, "order-1 is placed, and was not shipped", seconds=20
    )
    rocketmq_faults.push_clock(
        MINUTE
    )  # until it is written down that the half is settled; before, a stop would lose that
    assert rocketmq_broker.stop().broken == ()
