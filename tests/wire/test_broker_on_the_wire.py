"""What clients get from the broker: commit, rollback, checks, discards, retries, a crash, in every release."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reference.versions.versions import VERSIONS
from tests.wire.one_broker import MINUTE, broker, wait_until_it_serves
from tests.wire.one_producer import TOPIC, OneProducer
from wire.client.channel import NoAnswerError
from wire.client.transactions import COMMIT, ROLLBACK, UNKNOWN
from wire.remoting.codes import RequestCode, ResponseCode, Serialization

if TYPE_CHECKING:
    from pathlib import Path

DISCARDED = "TRANS_CHECK_MAX_TIME_TOPIC"


@pytest.mark.parametrize("profile", VERSIONS)
def test_halves_end_as_their_producer_says(profile: str, tmp_path: Path) -> None:
    with broker(tmp_path, profile, transactionCheckMax=3) as running, OneProducer(running.address) as producer:
        producer.heartbeat()
        committed, rolled_back = producer.half("committed"), producer.half("rolled-back")
        asked, never_known = producer.half("asked"), producer.half("never-known")
        assert (answer := producer.end(committed, COMMIT)) is not None
        assert answer.code == ResponseCode.SUCCESS
        assert (answer := producer.end(rolled_back, ROLLBACK)) is not None
        assert answer.code == ResponseCode.SUCCESS
        assert producer.keys() == ["committed"]
        for half in (asked, never_known):
            producer.end(half, UNKNOWN, oneway=True)
        checks: list[str] = []
        # In steps that leave the batch thread its time between an answer and the next round (B05).
        for _ in range(30):
            running.controller.push_clock(10_000)
            while (check := producer.check(0.01)) is not None:
                checks.append(check.key)
                says = COMMIT if check.key == "asked" else UNKNOWN
                producer.end(check, says, answers_check=True, oneway=True)
        assert sorted(checks) == ["asked", "never-known", "never-known", "never-known"]
        assert producer.keys() == ["committed", "asked"]
        keeps_discarded = VERSIONS[profile].keeps_discarded
        assert producer.keys(DISCARDED, 0) == (["never-known"] if keeps_discarded else [])


def test_a_half_of_a_group_without_a_connection_is_counted_and_reaches_nobody(tmp_path: Path) -> None:
    with broker(tmp_path, transactionCheckMax=2) as running, OneProducer(running.address) as producer:
        producer.half("unheard")
        for _ in range(4):
            running.controller.push_clock(MINUTE)
        assert producer.check(0.05) is None
        assert producer.keys(DISCARDED, 0) == ["unheard"]


def test_checks_take_turns_between_the_connections_of_a_group(tmp_path: Path) -> None:
    with (
        broker(tmp_path) as running,
        OneProducer(running.address) as one,
        OneProducer(running.address) as two,
    ):
        one.heartbeat()
        two.heartbeat()
        for number in range(4):
            one.half(f"half-{number}")
        for _ in range(2):
            running.controller.push_clock(MINUTE)
        counts = [0, 0]
        for place, producer in enumerate((one, two)):
            while producer.check(0.1) is not None:
                counts[place] += 1
        assert min(counts) > 0


@pytest.mark.parametrize("profile", ["4.5.1", "5.5.1"])
def test_what_was_stored_outlives_a_crash_and_what_waited_in_memory_does_not(profile: str, tmp_path: Path) -> None:
    with broker(tmp_path, profile) as running:
        with OneProducer(running.address) as producer:
            producer.heartbeat()
            producer.end(producer.half("committed"), COMMIT)
            pending = producer.half("pending")
            running.controller.crash()
        wait_until_it_serves(running)
        with OneProducer(running.address) as producer:
            producer.heartbeat()
            assert producer.keys() == ["committed"]
            for _ in range(3):
                running.controller.push_clock(MINUTE)
            asked = {check.key for check in iter(lambda: producer.check(0.1), None)}
            # From 5.1 on the op message of the commit waited in memory (B02).
            assert asked == ({"pending"} if profile == "4.5.1" else {"pending", "committed"})
            assert (answer := producer.end(pending, COMMIT)) is not None
            assert answer.code == ResponseCode.SUCCESS


def test_offsets_below_none_outlive_a_restart_as_none(tmp_path: Path) -> None:
    """The Go client commits -1 for queues of which it has read nothing."""
    commits = [("readers", TOPIC, -1), ("readers", "Other", -7), ("CID_RMQ_SYS_TRANS", "RMQ_SYS_TRANS_HALF_TOPIC", -1)]
    with broker(tmp_path) as running:
        with OneProducer(running.address) as client:
            client.send_message("first", is_half=False)
            for group, topic, offset in commits:
                fields = {"consumerGroup": group, "topic": topic, "queueId": 1, "commitOffset": offset}
                assert client.ask(RequestCode.UPDATE_CONSUMER_OFFSET, fields).code == ResponseCode.SUCCESS
            running.controller.push_clock(MINUTE)
            running.controller.restart()
        with OneProducer(running.address) as client:
            asked = {"consumerGroup": "readers", "topic": TOPIC, "queueId": 1, "setZeroIfNotFound": False}
            assert client.ask(RequestCode.QUERY_CONSUMER_OFFSET, asked).code == ResponseCode.QUERY_NOT_FOUND


def test_a_crash_at_a_write_falls_between_the_two_writes_of_a_commit(tmp_path: Path) -> None:
    with broker(tmp_path, "4.9.7") as running:
        with OneProducer(running.address) as producer:
            producer.heartbeat()
            producer.end(producer.half("warm"), COMMIT)
            half = producer.half("torn")
            running.controller.push_clock(1_000)
            running.controller.crash(at_write=2)
            with pytest.raises(NoAnswerError):
                producer.end(half, COMMIT)
        wait_until_it_serves(running)
        with OneProducer(running.address) as producer:
            producer.heartbeat()
            assert producer.keys() == ["warm", "torn"]
            for _ in range(2):
                running.controller.push_clock(MINUTE)
            assert (check := producer.check()) is not None
            assert check.key == "torn"


def test_a_message_that_is_given_back_comes_again_and_ends_as_a_dead_letter(tmp_path: Path) -> None:
    with broker(tmp_path) as running, OneProducer(running.address) as client:
        client.heartbeat("readers")
        client.end(client.half("poison"), COMMIT)
        (record,) = client.pulled()
        for times in range(2):
            fields = {"group": "readers", "offset": record.physical_offset, "delayLevel": 0, "maxReconsumeTimes": 1}
            assert client.ask(RequestCode.CONSUMER_SEND_MSG_BACK, fields).code == ResponseCode.SUCCESS
            running.controller.push_clock(31_000)
            if not times:
                (record,) = client.pulled("%RETRY%readers", 0)
                assert (record.reconsume_times, record.properties["RETRY_TOPIC"]) == (1, TOPIC)
        assert client.keys("%RETRY%readers", 0) == ["poison"]
        assert client.keys("%DLQ%readers", 0) == ["poison"]


def test_a_pull_waits_for_the_next_message_and_no_longer_than_it_asks(tmp_path: Path) -> None:
    with broker(tmp_path) as running, OneProducer(running.address) as client, OneProducer(running.address) as reader:
        client.send_message("first", is_half=False)
        fields = {
            "consumerGroup": "g", "topic": TOPIC, "queueId": 1, "queueOffset": 1, "maxMsgNums": 32, "sysFlag": 6,
            "commitOffset": 0, "suspendTimeoutMillis": 20_000, "subscription": "paid", "subVersion": 0,
        }  # fmt: skip
        waiting = reader.begin(RequestCode.PULL_MESSAGE, fields)
        while not running.controller.status()["waiting_pulls"]:
            pass
        client.send_message("second", is_half=False)
        assert reader.answer_to(waiting).code == ResponseCode.SUCCESS
        nothing = reader.ask(RequestCode.PULL_MESSAGE, fields | {"queueOffset": 2, "suspendTimeoutMillis": 100})
        assert (nothing.code, nothing.remark) == (ResponseCode.PULL_NOT_FOUND, "OFFSET_OVERFLOW_ONE")
        unwanted = reader.ask(RequestCode.PULL_MESSAGE, fields | {"queueOffset": 0, "subscription": "unpaid || none"})
        assert (unwanted.code, unwanted.fields["nextBeginOffset"]) == (ResponseCode.PULL_RETRY_IMMEDIATELY, "2")


@pytest.mark.parametrize(
    ("profile", "code"), [("4.9.7", ResponseCode.SYSTEM_ERROR), ("5.3.3", ResponseCode.INVALID_PARAMETER)]
)
def test_a_queue_that_is_not_there_is_refused_as_the_release_does(
    profile: str, code: ResponseCode, tmp_path: Path
) -> None:
    sent = {"a": "g", "b": TOPIC, "d": 4, "e": 99, "f": 0, "g": 1, "h": 0, "i": ""}
    pulled = {"consumerGroup": "g", "topic": TOPIC, "queueId": 99, "queueOffset": 0, "maxMsgNums": 32, "sysFlag": 0,
              "commitOffset": 0, "suspendTimeoutMillis": 0, "subVersion": 0}  # fmt: skip
    with broker(tmp_path, profile) as running, OneProducer(running.address) as client:
        client.send_message("first", is_half=False)
        assert client.ask(RequestCode.SEND_MESSAGE_V2, sent, b"x").code == code
        assert client.ask(RequestCode.PULL_MESSAGE, pulled).code == code


def test_what_is_not_supported_is_answered_and_nothing_else_happens(tmp_path: Path) -> None:
    with broker(tmp_path) as running:
        for serialization in Serialization:
            with OneProducer(running.address, serialization=serialization) as client:
                answer = client.ask(353, {"topic": TOPIC})
                assert answer.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED
                assert answer.remark == " request type 353 not supported"
                wrong = client.ask(RequestCode.GET_MAX_OFFSET, {"topic": TOPIC, "queueId": "one"})
                assert wrong.code == ResponseCode.SYSTEM_ERROR
                missing = client.ask(RequestCode.GET_MAX_OFFSET, {"topic": TOPIC})
                assert missing.remark == "the custom field <queueId> is null"


def test_time_may_run_as_fast_as_a_test_likes(tmp_path: Path) -> None:
    with broker(tmp_path, speed=300, transactionCheckMax=5) as running, OneProducer(running.address) as producer:
        producer.heartbeat()
        producer.half("hasty")
        assert [check.key for _ in range(4) if (check := producer.check(10)) is not None] == ["hasty"] * 4


def test_an_operator_changes_settings_that_bear_on_transactions_and_no_others(tmp_path: Path) -> None:
    with broker(tmp_path) as running, OneProducer(running.address) as client:
        settings = client.ask(RequestCode.GET_BROKER_CONFIG).body.decode()
        assert "transactionCheckMax=15\n" in settings
        assert client.ask(RequestCode.UPDATE_BROKER_CONFIG, {}, b"transactionCheckMax=1\n").code == 0
        assert client.ask(RequestCode.UPDATE_BROKER_CONFIG, {}, b"haListenPort=1\n").code == 1
        assert "transactionCheckMax=1\n" in client.ask(RequestCode.GET_BROKER_CONFIG).body.decode()
        client.heartbeat()
        client.half("once")
        for _ in range(4):
            running.controller.push_clock(MINUTE)
        assert (check := client.check()) is not None
        assert check.key == "once"
        assert client.check(0.1) is None
