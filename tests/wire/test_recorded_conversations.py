"""What the Java client 5.5.0 said to a real broker 5.5.0, said to ours: the same answers, checks and deliveries.

The client's requests are sent again in their order. Where they name a place in the log, it is the one that our broker
told; its clock is pushed where the client waited for a check, a retry or a discard.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.wire.clients.conversation import CONVERSATIONS, Turn, delivered, read_turns
from tests.wire.one_broker import broker
from tests.wire.one_producer import OneProducer
from wire.remoting.codes import RequestCode, Serialization
from wire.remoting.messages import decode_records

if TYPE_CHECKING:
    from pathlib import Path

    from reference.format.record import LogRecord
    from wire.broker_thread import BrokerThread
    from wire.remoting.command import RemotingCommand

MOST_PUSHES = 80
OFFSETS_OF_A_PULL = {"nextBeginOffset", "maxOffset", "minOffset"}


class Replay:
    """A conversation on its way through our broker."""

    def __init__(self, running: BrokerThread, serialization: Serialization) -> None:
        self.turns: list[Turn] = []
        self.notified_groups: set[str] = set()
        self._running = running
        self._serialization = serialization
        self._clients: dict[int, OneProducer] = {}
        self._owners: dict[str, int] = {}
        self._places: dict[str, tuple[str, str]] = {}
        self._log_offsets: dict[int, int] = {}

    def close(self) -> None:
        for client in self._clients.values():
            self._end(client)

    def client(self, turn: Turn) -> OneProducer:
        if turn.connection not in self._clients:
            self._clients[turn.connection] = OneProducer(self._running.address, serialization=self._serialization)
        return self._clients[turn.connection]

    def take(self, turn: Turn) -> None:
        if turn.is_from_client:
            self._ask(turn)
        elif turn.request.code == RequestCode.CHECK_TRANSACTION_STATE:
            self._await_check(turn)

    def _ask(self, turn: Turn) -> None:
        fields = dict(turn.request.fields)
        if turn.request.code == RequestCode.END_TRANSACTION:
            fields["tranStateTableOffset"], fields["commitLogOffset"] = self._places[fields["transactionId"]]
        elif turn.request.code == RequestCode.CONSUMER_SEND_MSG_BACK:
            fields["offset"] = str(self._log_offsets[int(fields["offset"])])
        elif turn.request.code == RequestCode.PULL_MESSAGE:
            self._await_message(fields["topic"], int(fields["queueId"]), int(fields["queueOffset"]))
        elif turn.request.code == RequestCode.HEART_BEAT:
            self._leave_old_connection(turn)
        client = self.client(turn)
        if turn.request.is_oneway:
            client.send_oneway(turn.request.code, fields, turn.request.body)
            return
        opaque = client.begin(turn.request.code, fields, turn.request.body)
        if turn.answer is None:
            return
        answer = client.answer_to(opaque)
        self._compare(turn, answer)
        self.turns.append(Turn(turn.connection, True, turn.request, answer))

    def _leave_old_connection(self, turn: Turn) -> None:
        """A client that connects again has lost the connection that it had."""
        owner = json.loads(turn.request.body)["clientID"]
        before = self._owners.get(owner, turn.connection)
        if before != turn.connection and before in self._clients:
            self._end(self._clients.pop(before))
        self._owners[owner] = turn.connection

    def _end(self, client: OneProducer) -> None:
        self.notified_groups |= {each.fields["consumerGroup"] for each in client.hear() if each.code == 40}
        client.close()

    def _compare(self, turn: Turn, ours: RemotingCommand) -> None:
        theirs, code = turn.answer, turn.request.code
        assert theirs is not None
        assert (code, ours.code, first_line(ours.remark)) == (code, theirs.code, first_line(theirs.remark))
        assert (code, set(ours.fields)) == (code, set(theirs.fields))
        if code == RequestCode.SEND_MESSAGE_V2:
            assert dict(ours.fields) | {"msgId": ""} == dict(theirs.fields) | {"msgId": ""}
            if "TRAN_MSG\x01true" in turn.request.fields["i"]:
                place = str(int(ours.fields["msgId"][16:], 16))
                self._places[ours.fields["transactionId"]] = ours.fields["queueOffset"], place
        elif code == RequestCode.PULL_MESSAGE:
            same = dict.fromkeys(OFFSETS_OF_A_PULL, "")
            assert dict(ours.fields) | same == dict(theirs.fields) | same
            mine = {content(record): record.physical_offset for record in decode_records(ours.body)}
            for record in decode_records(theirs.body):
                assert content(record) in mine
                self._log_offsets[record.physical_offset] = mine[content(record)]
        else:
            assert (code, meaning(ours.body)) == (code, meaning(theirs.body))
            assert (code, dict(ours.fields)) == (code, dict(theirs.fields))

    def _await_message(self, topic: str, queue_id: int, offset: int) -> None:
        client = next(iter(self._clients.values()))
        for _ in range(MOST_PUSHES):
            found = client.ask(RequestCode.GET_MAX_OFFSET, {"topic": topic, "queueId": queue_id})
            if int(found.fields["offset"]) > offset:
                return
            self._running.controller.push_clock(1_000)
        pytest.fail(f"nothing came to {topic}, queue {queue_id}")

    def _await_check(self, turn: Turn) -> None:
        client, key = self.client(turn), turn.request.fields["transactionId"]
        for _ in range(MOST_PUSHES):
            for ours in [each for each in client.hear() if each.fields.get("transactionId") == key]:
                client.heard.remove(ours)
                self._compare_check(turn.request, ours)
                self._places[key] = ours.fields["tranStateTableOffset"], ours.fields["commitLogOffset"]
                return
            self._running.controller.push_clock(200)
            client.ask(RequestCode.GET_MAX_OFFSET, {"topic": "Orders", "queueId": 0})
        pytest.fail(f"no check came for {key}")

    def _compare_check(self, theirs: RemotingCommand, ours: RemotingCommand) -> None:
        assert set(ours.fields) == set(theirs.fields)
        (mine,), (real,) = decode_records(ours.body), decode_records(theirs.body)
        assert content(mine) == content(real)
        assert mine.properties == real.properties
        assert [key for key, _ in mine.pairs] == [key for key, _ in real.pairs]


def first_line(remark: str | None) -> str | None:
    """Behind it a real broker gives the address of a page."""
    return remark and remark.partition("\n")[0]


def meaning(body: bytes) -> Any:
    """JSON without addresses, lists as sets: a client that connects again is there twice for a moment."""
    if not body:
        return None
    content = json.loads(body)
    for broker_data in content.get("brokerDatas", ()):
        broker_data["brokerAddrs"] = len(broker_data["brokerAddrs"])
    return {key: set(map(str, each)) if isinstance(each, list) else each for key, each in content.items()}


def content(record: LogRecord) -> tuple[object, ...]:
    """What a message is, wherever and whenever it was stored."""
    return record.topic, record.queue_id, record.body, record.flag, record.sys_flag, record.reconsume_times


@pytest.mark.parametrize("name", ["java-5.5.0", "java-5.5.0-binary"])
def test_our_broker_answers_a_real_client_as_the_real_broker_did(name: str, tmp_path: Path) -> None:
    turns = read_turns(CONVERSATIONS / f"{name}.jsonl.gz")
    conf: dict[str, object] = {
        "transactionTimeOut": 3_000,
        "transactionCheckInterval": 1_000,
        "transactionCheckMax": 8,
        "transactionOpBatchInterval": 200,
    }
    serialization = Serialization.ROCKETMQ if name.endswith("binary") else Serialization.JSON
    with broker(tmp_path, "5.5.0", conf=conf) as running:
        replay = Replay(running, serialization)
        try:
            for turn in turns:
                replay.take(turn)
        finally:
            replay.close()
    assert delivered(replay.turns) == delivered(turns)
    notified = {turn.request.fields["consumerGroup"] for turn in turns if turn.request.code == 40}
    assert replay.notified_groups == notified
    assert {turn.request.code for turn in turns} >= {34, 310, 37, 39, 11, 36, 14, 38, 41, 35, 105}
