"""What a name server knows of the brokers of its clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from reference.format.fastjson import parse_fastjson
from wire.client.channel import Address, NoAnswerError
from wire.remoting.codes import RequestCode, ResponseCode

if TYPE_CHECKING:
    from wire.client.channel import BrokerChannel

MASTER_ID = 0
"""``MixAll.MASTER_ID``"""


class BrokerGroup(NamedTuple):
    """The brokers of one name: a master and its slaves, by their ids."""

    name: str
    cluster: str
    addresses: dict[int, Address]

    @property
    def first(self) -> Address:
        """The master; without one, the slave of the least id, which acts as it where that is enabled (5.0.0)."""
        return self.addresses[min(self.addresses)]

    @property
    def has_master(self) -> bool:
        """Whether the master is known to the name server."""
        return MASTER_ID in self.addresses


def broker_groups(channel: BrokerChannel) -> tuple[BrokerGroup, ...]:
    """GET_BROKER_CLUSTER_INFO, by name; `NoAnswerError` where the other side does not know any."""
    answer = channel.ask(RequestCode.GET_BROKER_CLUSTER_INFO)
    if answer.code != ResponseCode.SUCCESS:
        message = f"{channel.address} lists no brokers ({answer.code}): give the address of a name server"
        raise NoAnswerError(message)
    try:
        table = parse_fastjson(answer.body)["brokerAddrTable"]
        groups = [
            BrokerGroup(
                str(name),
                str(data.get("cluster", "")),
                {int(number): Address.of(address) for number, address in data["brokerAddrs"].items()},
            )
            for name, data in sorted(table.items())
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        message = f"{channel.address}: its list of brokers can't be understood: give the address of a name server"
        raise NoAnswerError(message) from None
    return tuple(group for group in groups if group.addresses)
