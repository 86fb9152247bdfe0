"""What an operator does and asks at a real broker behind a proxy: topics with a type, groups, queues, producers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from real_brokers.errors import RealBrokerError
from wire.client.channel import BrokerChannel
from wire.client.queries import connected_producers, end_of_queue, pull_all
from wire.remoting.codes import RequestCode, ResponseCode
from wire.requests.request import body_of

if TYPE_CHECKING:
    from reference.format.record import LogRecord
    from wire.client.channel import Address

TOPIC: Final = "Orders"
_READER: Final = "reader-of-topics"


class BrokerOperator:
    """Asks a broker by its own port, a connection an order."""

    def __init__(self, address: Address) -> None:
        self._address = address

    def make_topic(self, name: str = TOPIC, kind: str = "TRANSACTION", queues: int = 1) -> None:
        """Make a topic of a type."""
        fields = {
            "topic": name, "defaultTopic": "TBW102", "readQueueNums": queues, "writeQueueNums": queues, "perm": 6,
            "topicFilterType": "SINGLE_TAG", "topicSysFlag": 0, "order": False, "attributes": f"+message.type={kind}",
        }  # fmt: skip
        self._order(RequestCode.UPDATE_AND_CREATE_TOPIC, fields)

    def make_group(self, name: str, **settings: object) -> None:
        """Make a consumer group."""
        self._order(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, body_of({"groupName": name, **settings}))

    def change(self, **settings: object) -> None:
        """Change settings of ``broker.conf`` while it runs."""
        text = "".join(f"{name}={value}\n" for name, value in settings.items())
        self._order(RequestCode.UPDATE_BROKER_CONFIG, {}, text.encode())

    def records(self, topic: str = TOPIC, queue_id: int = 0) -> list[LogRecord]:
        """All messages of a queue."""
        with BrokerChannel(self._address) as channel:
            return pull_all(channel, _READER, topic, 0, queue_id)

    def end(self, topic: str = TOPIC, queue_id: int = 0) -> int:
        """The end of a queue."""
        with BrokerChannel(self._address) as channel:
            return end_of_queue(channel, topic, queue_id)

    def producers(self, group: str) -> list[str]:
        """The ids of the clients that the broker can ask for transactions of a group."""
        with BrokerChannel(self._address) as channel:
            return list(connected_producers(channel, group))

    def _order(self, code: RequestCode, fields: dict[str, object], body: bytes = b"") -> None:
        with BrokerChannel(self._address) as channel:
            answer = channel.ask(code, fields, body)
        if answer.code != ResponseCode.SUCCESS:
            message = f"{self._address}: request {int(code)} is answered {answer.code}: {answer.remark}"
            raise RealBrokerError(message)
