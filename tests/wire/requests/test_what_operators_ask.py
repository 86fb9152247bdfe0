"""What name server, mqadmin and clients beside their messages ask, in the forms in which they read the answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.wire.batches import encode_batch
from tests.wire.client.test_channel import MQ_VERSIONS
from tests.wire.one_broker import MINUTE, broker
from tests.wire.one_producer import TOPIC, OneProducer, unique_key
from wire.client.transactions import COMMIT
from wire.remoting.codes import RequestCode, ResponseCode
from wire.remoting.messages import BatchedMessage, decode_records, properties_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wire.broker_thread import BrokerThread

QUEUE = '{"brokerName":"broker-a","queueId":1,"topic":"Orders"}'


@pytest.fixture
def running(tmp_path: Path) -> Iterator[BrokerThread]:
    with broker(tmp_path, "5.5.0") as one:
        yield one


@pytest.fixture
def client(running: BrokerThread) -> Iterator[OneProducer]:
    """It has committed one message, and a consumer of the group `readers` has read it."""
    with OneProducer(running.address) as one:
        one.heartbeat("readers")
        one.end(one.half("order-1"), COMMIT)
        read = {"consumerGroup": "readers", "topic": TOPIC, "queueId": 1, "commitOffset": 1}
        assert one.ask(RequestCode.UPDATE_CONSUMER_OFFSET, read).code == ResponseCode.SUCCESS
        yield one


def body(client: OneProducer, code: RequestCode, **fields: object) -> Any:
    answer = client.ask(code, fields)
    assert answer.code == ResponseCode.SUCCESS, answer
    return json.loads(answer.body)


def test_the_route_of_a_topic_names_this_broker(running: BrokerThread, client: OneProducer) -> None:
    route = body(client, RequestCode.GET_ROUTEINFO_BY_TOPIC, topic=TOPIC)
    (data,) = route["brokerDatas"]
    assert (data["brokerAddrs"], data["brokerName"]) == ({"0": running.address}, "broker-a")
    assert route["queueDatas"] == [
        {"brokerName": "broker-a", "perm": 6, "readQueueNums": 4, "topicSysFlag": 0, "writeQueueNums": 4}
    ]
    assert client.ask(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": "none"}).code == ResponseCode.TOPIC_NOT_EXIST
    assert body(client, RequestCode.GET_BROKER_CLUSTER_INFO)["clusterAddrTable"] == {"DefaultCluster": ["broker-a"]}
    assert TOPIC in body(client, RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)["topicList"]


def test_tables_by_queue_have_the_form_that_only_fastjson_reads(client: OneProducer) -> None:
    stats = client.ask(RequestCode.GET_TOPIC_STATS_INFO, {"topic": TOPIC}).body.decode()
    assert f'{{"offsetTable":{{{QUEUE.replace(":1,", ":0,")}:' in stats
    assert f'{QUEUE}:{{"lastUpdateTimestamp":1' in stats
    assert '"maxOffset":1,"minOffset":0}' in stats
    progress = client.ask(RequestCode.GET_CONSUME_STATS, {"consumerGroup": "readers"}).body.decode()
    assert f'{QUEUE}:{{"brokerOffset":1,"consumerOffset":1,"lastTimestamp":1' in progress


def test_messages_are_found_by_place_key_and_time(running: BrokerThread, client: OneProducer) -> None:
    (record,) = client.pulled()
    seen = client.ask(RequestCode.VIEW_MESSAGE_BY_ID, {"offset": record.physical_offset})
    assert decode_records(seen.body) == (record,)
    assert client.ask(RequestCode.VIEW_MESSAGE_BY_ID, {"offset": record.physical_offset + 1}).code == 1
    asked = {"topic": TOPIC, "maxNum": 10, "beginTimestamp": 0, "endTimestamp": 1 << 50}
    by_key = client.ask(RequestCode.QUERY_MESSAGE, asked | {"key": "order-1"})
    by_unique = client.ask(
        RequestCode.QUERY_MESSAGE, asked | {"key": unique_key("order-1"), "_UNIQUE_KEY_QUERY": "true"}
    )
    assert decode_records(by_key.body) == decode_records(by_unique.body) == (record,)
    none = client.ask(RequestCode.QUERY_MESSAGE, asked | {"key": "order-1", "_UNIQUE_KEY_QUERY": "true"})
    assert none.code == ResponseCode.QUERY_NOT_FOUND
    running.controller.push_clock(MINUTE)
    client.send_message("order-2", is_half=False)
    where = {"topic": TOPIC, "queueId": 1}
    for timestamp, offset in ((0, "0"), (record.store_timestamp + 1, "1"), (1 << 50, "2")):
        found = client.ask(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, where | {"timestamp": timestamp})
        assert found.fields["offset"] == offset
    earliest = client.ask(RequestCode.GET_EARLIEST_MSG_STORETIME, where)
    assert int(earliest.fields["timestamp"]) == record.store_timestamp


def test_offsets_that_nobody_told_are_the_begin_or_none(client: OneProducer) -> None:
    asked = {"consumerGroup": "new", "topic": TOPIC, "queueId": 1}
    assert client.ask(RequestCode.QUERY_CONSUMER_OFFSET, asked).fields["offset"] == "0"
    strict = asked | {"setZeroIfNotFound": False}
    assert client.ask(RequestCode.QUERY_CONSUMER_OFFSET, strict).code == ResponseCode.QUERY_NOT_FOUND
    empty = asked | {"queueId": 0}
    assert client.ask(RequestCode.QUERY_CONSUMER_OFFSET, empty).code == ResponseCode.QUERY_NOT_FOUND
    saved = body(client, RequestCode.GET_ALL_CONSUMER_OFFSET)
    assert saved["offsetTable"]["Orders@readers"] == {"1": 1}


def test_a_queue_is_one_clients_until_it_is_given_back(client: OneProducer) -> None:
    def locked(client_id: str) -> list[Any]:
        asked = {"consumerGroup": "readers", "clientId": client_id, "mqSet": [json.loads(QUEUE)]}
        answer = client.ask(RequestCode.LOCK_BATCH_MQ, {}, json.dumps(asked).encode())
        return list(json.loads(answer.body)["lockOKMQSet"])

    assert locked("one") == [json.loads(QUEUE)]
    assert locked("two") == []
    given_back = {"consumerGroup": "readers", "clientId": "one", "mqSet": [json.loads(QUEUE)]}
    client.ask(RequestCode.UNLOCK_BATCH_MQ, {}, json.dumps(given_back).encode())
    assert locked("two") == [json.loads(QUEUE)]


def test_consumers_hear_of_each_other(running: BrokerThread, client: OneProducer) -> None:
    assert client.wait_for(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, 5) is not None
    with OneProducer(running.address) as other:
        other.heartbeat("readers")
        notice = client.wait_for(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, 5)
        assert notice is not None
        assert notice.fields == {"consumerGroup": "readers"}
        ids = body(client, RequestCode.GET_CONSUMER_LIST_BY_GROUP, consumerGroup="readers")["consumerIdList"]
        assert ids == [f"{client.own_address}@test", f"{other.own_address}@test"]
        other.ask(RequestCode.UNREGISTER_CLIENT, {"clientID": "x", "consumerGroup": "readers"})
        assert client.wait_for(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, 5) is not None
    connections = body(client, RequestCode.GET_CONSUMER_CONNECTION_LIST, consumerGroup="readers")
    assert [each["clientAddr"] for each in connections["connectionSet"]] == [client.own_address]
    assert body(client, RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, topic=TOPIC)["groupList"] == ["readers"]


def test_topics_are_made_changed_and_deleted(client: OneProducer) -> None:
    made = {"topic": "New", "readQueueNums": 2, "writeQueueNums": 3, "perm": 6}
    assert client.ask(RequestCode.UPDATE_AND_CREATE_TOPIC, made).code == ResponseCode.SUCCESS
    config = body(client, RequestCode.GET_TOPIC_CONFIG, topic="New")
    assert (config["readQueueNums"], config["writeQueueNums"]) == (2, 3)
    assert client.ask(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "New"}).code == ResponseCode.SUCCESS
    assert client.ask(RequestCode.GET_TOPIC_CONFIG, {"topic": "New"}).code == ResponseCode.TOPIC_NOT_EXIST


def test_a_batch_is_stored_message_by_message(client: OneProducer) -> None:
    batch = [BatchedMessage(0, b"%d" % n, properties_text({"KEYS": f"batched-{n}", "WAIT": "true"})) for n in range(3)]
    fields = {"a": "g", "b": TOPIC, "d": 4, "e": 1, "f": 0, "g": 1, "h": 0, "i": "", "m": True}
    answer = client.ask(RequestCode.SEND_BATCH_MESSAGE, fields, encode_batch(batch))
    assert (answer.code, answer.fields["queueOffset"]) == (ResponseCode.SUCCESS, "1")
    assert client.keys() == ["order-1", "batched-0", "batched-1", "batched-2"]


@pytest.mark.parametrize("release", MQ_VERSIONS)
def test_each_release_calls_itself_by_its_number(release: str, tmp_path: Path) -> None:
    with broker(tmp_path, release) as running, OneProducer(running.address) as client:
        assert client.ask(RequestCode.GET_BROKER_CLUSTER_INFO).version == MQ_VERSIONS[release]
        knows_v2 = "IS_SUPPORT_HEART_BEAT_V2" in client.ask(RequestCode.HEART_BEAT, {}, b"{}").fields
        assert knows_v2 == (release >= "5.2.0")
