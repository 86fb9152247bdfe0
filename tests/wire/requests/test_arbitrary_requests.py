"""Whatever a client asks, it is answered, the broker goes on, and nothing is written outside of its store."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from tests.wire.one_broker import broker
from tests.wire.one_producer import OneProducer
from wire.client.transactions import COMMIT
from wire.remoting.codes import RequestCode, ResponseCode
from wire.requests.handlers import HANDLERS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wire.broker_thread import BrokerThread

NAMES = (
    "topic", "queueId", "consumerGroup", "group", "offset", "commitOffset", "queueOffset", "maxMsgNums", "sysFlag",
    "timestamp", "msgId", "key", "maxNum", "subscription", "subVersion", "expressionType", "suspendTimeoutMillis",
    "delayLevel", "readQueueNums", "writeQueueNums", "perm", "producerGroup", "tranStateTableOffset",
    "commitLogOffset", "commitOrRollback", *"abcdefghijklmn",
)  # fmt: skip
VALUES = some.sampled_from(
    ("", "0", "1", "-1", "8", "99999999999999999999", "1e3", "true", "Orders", "../../out", "%RETRY%g", "TAG", "SQL92",
     "TRAN_MSG\x01true\x02PGROUP\x01g\x02", "\x01\x02\x01", "ü" * 200)
)  # fmt: skip
BODIES = some.sampled_from(
    (b"", b"{}", b"[]", b"null", b'{"producerDataSet":[1],"consumerDataSet":{}}', b'{"mqSet":[{"topic":1}]}',
     b'{"consumerDataSet":[{"groupName":"g","subscriptionDataSet":[{}]}]}', b"transactionCheckMax=x\n", b"\xff\xfe",
     b'{"groupName":"../g"}', b"\0\0\0\x1a" + b"\0" * 22)
)  # fmt: skip
CODES = some.sampled_from(sorted(HANDLERS)) | some.integers(0, 400)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerThread]:
    with broker(tmp_path_factory.mktemp("broker") / "", "4.5.1") as one:
        yield one


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(code=CODES, fields=some.dictionaries(some.sampled_from(NAMES), VALUES, max_size=14), body=BODIES)
def test_every_request_is_answered(running: BrokerThread, code: int, fields: dict[str, str], body: bytes) -> None:
    with OneProducer(running.address, seconds=5) as client:
        said = dict(fields, suspendTimeoutMillis="50")
        opaque = client.begin(code, said, body)
        after = client.ask(RequestCode.GET_MAX_OFFSET, {"topic": "Orders", "queueId": 0})
        assert after.code == ResponseCode.SUCCESS
        is_unknown_end = code == RequestCode.END_TRANSACTION and said.get("commitOrRollback") == "0"
        is_unknown_request = code == RequestCode.LITE_PULL_MESSAGE  # 4.5.1 gives no answer to what it does not know
        if not is_unknown_end and not is_unknown_request:
            assert client.answer_to(opaque).code in set(ResponseCode)


@pytest.mark.parametrize(
    ("code", "fields", "body"),
    [
        (RequestCode.HEART_BEAT, {}, b'{"consumerDataSet":[{"groupName":"g","subscriptionDataSet":[{}]}]}'),
        (RequestCode.HEART_BEAT, {}, b'{"consumerDataSet":[{"groupName":"g","subscriptionDataSet":7}]}'),
        (RequestCode.SEND_MESSAGE_V2, {"b": "T", "d": 4, "e": 0, "f": 0, "g": 1, "h": 1 << 70, "i": ""}, b"x"),
        (RequestCode.CHECK_CLIENT_CONFIG, {}, b'{"subscriptionData":[1]}'),
        (RequestCode.RESUME_CHECK_HALF_MESSAGE, {"msgId": "no hexadecimal"}, b""),
    ],
)
def test_a_request_of_a_strange_form_is_refused_and_its_connection_stays(
    running: BrokerThread, code: int, fields: dict[str, object], body: bytes
) -> None:
    with OneProducer(running.address) as client:
        answer = client.ask(code, fields, body)
        assert answer.code == ResponseCode.SYSTEM_ERROR
        assert "not as expected" in (answer.remark or "")
        assert client.ask(RequestCode.GET_BROKER_CLUSTER_INFO).code == ResponseCode.SUCCESS


@pytest.mark.parametrize("topic", ["../../out", "/tmp/out", "a/b", ".", "..", "", "a" * 256])  # noqa: S108
def test_a_topic_or_group_that_is_no_name_makes_no_folder(topic: str, tmp_path: Path) -> None:
    with broker(tmp_path, "4.5.1") as running, OneProducer(running.address) as client:
        fields = {"a": "g", "b": topic, "d": 4, "e": 0, "f": 0, "g": 1, "h": 0, "i": ""}
        answer = client.ask(RequestCode.SEND_MESSAGE_V2, fields, b"x")
        assert answer.code == ResponseCode.SYSTEM_ERROR
        assert "illegal characters" in (answer.remark or "")
        hidden = fields | {"b": "SCHEDULE_TOPIC_XXXX", "i": f"REAL_TOPIC\x01{topic}\x02REAL_QID\x010\x02"}
        if topic:
            assert client.ask(RequestCode.SEND_MESSAGE_V2, hidden, b"x").code == ResponseCode.SYSTEM_ERROR
        group = {"consumerDataSet": [{"groupName": topic, "subscriptionDataSet": []}]}
        assert client.ask(RequestCode.HEART_BEAT, {}, json.dumps(group).encode()).code == ResponseCode.SYSTEM_ERROR
        client.end(client.half("sound"), COMMIT)
        assert client.keys() == ["sound"]
        running.controller.push_clock(10_000)
    assert {path.name for path in tmp_path.iterdir()} == {"broker.conf", "store", "trace.jsonl"}
