"""A producer and a consumer of a few lines over the client's channel, for tests of the broker behind it."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from wire.client.channel import Address, BrokerChannel
from wire.remoting.codes import RequestCode, ResponseCode, Serialization
from wire.remoting.messages import decode_records, properties_text

if TYPE_CHECKING:
    from reference.format.record import LogRecord
    from wire.remoting.command import RemotingCommand

GROUP: Final = "order-service"
TOPIC: Final = "Orders"


@dataclass(frozen=True, slots=True)
class Half:
    """Where the broker says that a half lies."""

    key: str
    queue_offset: int
    commit_log_offset: int


def unique_key(key: str) -> str:
    return key.encode().hex().upper().ljust(32, "0")[:32]


class OneProducer(BrokerChannel):
    """One connection of a producer that answers nothing by itself."""

    def __init__(
        self, address: str, *, seconds: float = 10.0, serialization: Serialization = Serialization.JSON
    ) -> None:
        super().__init__(Address.of(address), seconds, serialization)
        self.heard: list[RemotingCommand] = []

    def hear(self) -> list[RemotingCommand]:
        """What the broker has asked so far, and nobody has taken out."""
        while (request := self.asked()) is not None:
            self.heard.append(request)
        return self.heard

    def wait_for(self, code: int, seconds: float) -> RemotingCommand | None:
        """Take out the next request of a kind; None if it does not come."""
        end = time.monotonic() + seconds
        while True:
            found = next((each for each in self.hear() if each.code == code), None)
            if found is not None:
                self.heard.remove(found)
                return found
            if time.monotonic() > end:
                return None
            time.sleep(0.01)

    @property
    def own_address(self) -> str:
        """Where the connection comes from, by which the broker knows it."""
        host, port = self._socket.getsockname()[:2]
        return f"{host}:{port}"

    def heartbeat(self, *consumers: str, group: str = GROUP) -> None:
        data = {
            "clientID": f"{self.own_address}@test",
            "producerDataSet": [{"groupName": group}],
            "consumerDataSet": [
                {
                    "groupName": name,
                    "messageModel": "CLUSTERING",
                    "consumeType": "CONSUME_PASSIVELY",
                    "subscriptionDataSet": [{"topic": TOPIC, "subString": "*", "subVersion": 1}],
                }
                for name in consumers
            ],
        }
        assert self.ask(RequestCode.HEART_BEAT, {}, json.dumps(data).encode()).code == ResponseCode.SUCCESS

    def send_message(
        self, key: str, properties: dict[str, str] | None = None, *, is_half: bool = True
    ) -> RemotingCommand:
        known = {"KEYS": key, "UNIQ_KEY": unique_key(key), "WAIT": "true", "TAGS": "paid"}
        if is_half:
            known |= {"TRAN_MSG": "true", "PGROUP": GROUP}
        fields = {
            "a": GROUP, "b": TOPIC, "c": "TBW102", "d": 4, "e": 1, "f": 4 if is_half else 0,
            "g": int(time.time() * 1_000), "h": 0, "i": properties_text(known | (properties or {})), "j": 0,
            "k": False, "m": False,
        }  # fmt: skip
        return self.ask(RequestCode.SEND_MESSAGE_V2, fields, key.encode())

    def half(self, key: str, **properties: str) -> Half:
        answer = self.send_message(key, properties)
        assert answer.code == ResponseCode.SUCCESS, answer
        return Half(key, int(answer.fields["queueOffset"]), int(answer.fields["msgId"][16:], 16))

    def end(
        self, half: Half, says: int, *, answers_check: bool = False, oneway: bool = False
    ) -> RemotingCommand | None:
        fields = {
            "producerGroup": GROUP,
            "tranStateTableOffset": half.queue_offset,
            "commitLogOffset": half.commit_log_offset,
            "commitOrRollback": says,
            "fromTransactionCheck": answers_check,
            "msgId": unique_key(half.key),
            "transactionId": unique_key(half.key),
        }
        if oneway:
            self.send_oneway(RequestCode.END_TRANSACTION, fields)
            return None
        return self.ask(RequestCode.END_TRANSACTION, fields)

    def check(self, seconds: float = 5.0) -> Half | None:
        """The next check that comes, as the half that its answer must name."""
        command = self.wait_for(RequestCode.CHECK_TRANSACTION_STATE, seconds)
        if command is None:
            return None
        (record,) = decode_records(command.body)
        fields = command.fields
        return Half(record.properties["KEYS"], int(fields["tranStateTableOffset"]), int(fields["commitLogOffset"]))

    def pulled(self, topic: str = TOPIC, queue_id: int = 1) -> list[LogRecord]:
        """All that a queue holds."""
        found: list[LogRecord] = []
        fields = {
            "consumerGroup": "reader", "topic": topic, "queueId": queue_id, "maxMsgNums": 32, "sysFlag": 4,
            "commitOffset": 0, "suspendTimeoutMillis": 0, "subscription": "*", "subVersion": 0, "queueOffset": 0,
        }  # fmt: skip
        while True:
            answer = self.ask(RequestCode.PULL_MESSAGE, fields)
            if answer.code != ResponseCode.SUCCESS:
                return found
            found += decode_records(answer.body)
            fields["queueOffset"] = int(answer.fields["nextBeginOffset"])

    def keys(self, topic: str = TOPIC, queue_id: int = 1) -> list[str]:
        """The keys of the messages in a queue."""
        return [record.properties["KEYS"] for record in self.pulled(topic, queue_id)]
