"""A scenario for forecasts: halves that nobody answers, until the last of them is discarded."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from real_brokers.rocketmq.client import UNKNOWN, ClientMessage, ClientPlan
from real_brokers.rocketmq.scenarios import RealScenario
from reference.format.properties import IMMUNITY_SECONDS

if TYPE_CHECKING:
    from real_brokers.rocketmq.broker import RealBroker

_HALVES: Final = 40
_IMMUNE: Final = 5
_IMMUNITIES: Final = ("1", "15", "25")
_PAUSE_S: Final = 0.05
_TOPIC: Final = "TopicPending"


def left_pending(broker: RealBroker) -> None:
    """40 halves in two seconds that are never answered, each fifth with an immunity of its own."""
    client = broker.client("pending-group")
    for number in range(_HALVES):
        own = {} if number % _IMMUNE else {IMMUNITY_SECONDS: _IMMUNITIES[number // _IMMUNE % len(_IMMUNITIES)]}
        message = ClientMessage(_TOPIC, f"pending-{number}", "TagP", f"k{number}", properties=own)
        client.send("P", message, ClientPlan.of(UNKNOWN, UNKNOWN))
        time.sleep(_PAUSE_S)
    broker.settle(client, 60)
    client.leave("P", _TOPIC)


PENDING: Final = RealScenario(
    left_pending,
    {"transactionTimeOut": "6000", "transactionCheckInterval": "10000", "transactionCheckMax": "4"},
)
