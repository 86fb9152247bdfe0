"""Pulls in flight: what they ask for, in which order messages come, and what follows each answer."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from reference.format.record import decode_record
from reference.format.system_topics import HALF_TOPIC, OP_TOPIC
from tests.wire.client.scripted_broker import PULLS, TOPIC, OneQueue, answer, message, scripted_broker
from tests.wire.one_broker import broker
from tests.wire.one_producer import TOPIC as REAL_TOPIC
from tests.wire.one_producer import OneProducer
from wire.client.byte_rate import ByteRate
from wire.client.channel import BrokerChannel, NoAnswerError, RefusedError
from wire.client.credentials import Credentials
from wire.client.entries import LogStretch
from wire.client.queries import begin_of_queue, end_of_queue
from wire.client.queue_reader import QueueReader
from wire.client.stored_messages import QueueStretch, StoredMessages
from wire.errors import MalformedFrameError
from wire.remoting.codes import RequestCode, ResponseCode
from wire.remoting.command import RemotingCommand
from wire.remoting.messages import encode_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

COMMIT = 8
OTHER = "Others"


def read_out(
    script: Callable[[RemotingCommand], Iterable[bytes]],
    *stretches: QueueStretch,
    in_flight: int = 4,
    slept: list[float] | None = None,
) -> list[StoredMessages]:
    """All that is read of some stretches of a scripted broker."""
    with scripted_broker(script) as address, BrokerChannel(address) as channel:
        sleep = (lambda _: None) if slept is None else slept.append
        reader = QueueReader(channel, ByteRate(math.inf), in_flight, sleep=sleep)
        return list(reader.read(stretches or [QueueStretch(TOPIC, 0, 0, 100)]))


def offsets(read: Iterable[StoredMessages]) -> list[int]:
    """The queue offsets of all messages, decoded by the reader of stores."""
    return [decode_record(body, 0, limit=len(body)).queue_offset for each in read for _, body in each.records()]


# --- what is read of a reference broker -------------------------------------------------------------------------------


@pytest.mark.parametrize("in_flight", [1, 3, 16])
def test_queues_come_one_after_the_other_byte_by_byte_as_they_were_stored_and_end_where_they_are_to(
    in_flight: int, tmp_path: Path
) -> None:
    with broker(tmp_path) as running, OneProducer(running.address) as producer:
        for number in range(150):
            producer.send_message(f"K{number}", is_half=number % 2 == 0)
        half_end, real_end = (end_of_queue(producer, *queue) for queue in ((HALF_TOPIC, 0), (REAL_TOPIC, 1)))
        producer.send_message("too late")
        producer.send_message("too late", is_half=False)
        stored = [producer.pulled(HALF_TOPIC, 0)[5:-1], producer.pulled(REAL_TOPIC, 1)[:-1]]
        stretches = [QueueStretch(HALF_TOPIC, 0, 5, half_end), QueueStretch(REAL_TOPIC, 1, 0, real_end)]
        read = list(QueueReader(producer, in_flight=in_flight).read(stretches))
    assert (half_end, real_end) == (75, 75)
    assert b"".join(each.body for each in read) == b"".join(encode_record(each) for queue in stored for each in queue)
    assert [place for each in read for place, _ in each.records()] == [
        record.physical_offset for queue in stored for record in queue
    ]
    assert [(each.stretch.topic, each.stretch.begin, each.stretch.end) for each in read] == [
        (HALF_TOPIC, 5, 37), (HALF_TOPIC, 37, 69), (HALF_TOPIC, 69, 75),
        (REAL_TOPIC, 0, 32), (REAL_TOPIC, 32, 64), (REAL_TOPIC, 64, 75),
    ]  # fmt: skip


def test_a_slave_that_lets_nobody_pull_is_read_by_the_entries_of_its_queues(tmp_path: Path) -> None:
    with broker(tmp_path) as running, OneProducer(running.address) as producer:
        for number in range(40):
            producer.send_message(f"K{number}")
        stretches = [QueueStretch(HALF_TOPIC, 0, 3, 39)]
        pulled, found = (
            [(each.stretch, each.body) for each in QueueReader(producer, lets_pull=lets_pull).read(stretches)]
            for lets_pull in (True, False)
        )
    assert found == pulled
    assert [(each.begin, each.end) for each, _ in found] == [(3, 35), (35, 39)]


def test_nothing_of_it_is_recorded_by_the_broker(tmp_path: Path) -> None:
    with broker(tmp_path) as running, OneProducer(running.address) as producer:
        producer.half("K1")
        groups = producer.ask(RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG).body
        consumed = producer.ask(RequestCode.GET_ALL_CONSUMER_OFFSET).body
        assert len(list(QueueReader(producer).read([QueueStretch(HALF_TOPIC, 0, 0, 1)]))) == 1
        assert producer.ask(RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG).body == groups
        assert producer.ask(RequestCode.GET_ALL_CONSUMER_OFFSET).body == consumed


def test_op_messages_that_4_x_lets_nobody_pull_are_found_by_their_entries(tmp_path: Path) -> None:
    with broker(tmp_path, "4.9.7") as running, OneProducer(running.address) as producer:
        for half in [producer.half(f"K{number}") for number in range(40)]:
            producer.end(half, COMMIT)
        stretches = [QueueStretch(OP_TOPIC, 0, 3, end_of_queue(producer, OP_TOPIC)), QueueStretch(HALF_TOPIC, 0, 0, 2)]
        read = list(QueueReader(producer, in_flight=1).read(stretches))
    records = [decode_record(body, 0, limit=len(body)) for each in read for _, body in each.records()]
    assert [(record.topic, record.queue_offset) for record in records] == [
        *((OP_TOPIC, number) for number in range(3, 40)), *((HALF_TOPIC, number) for number in range(2)),
    ]  # fmt: skip
    assert [record.body for record in records[:37]] == [b"%d" % number for number in range(3, 40)]
    assert [(each.stretch.begin, each.stretch.end) for each in read] == [(3, 35), (35, 40), (0, 2)]


@pytest.mark.parametrize("in_flight", [1, 4])
def test_a_topic_that_is_deleted_while_it_is_read_is_found_by_its_entries_from_there_on(in_flight: int) -> None:
    queue = OneQueue(100, most=8)
    queue.instead = lambda asked: answer(asked, ResponseCode.TOPIC_NOT_EXIST) if len(queue.asked) > 7 else None

    def script(asked: RemotingCommand) -> Iterator[bytes]:
        if asked.code == RequestCode.QUERY_CONSUME_QUEUE:
            first, count = int(asked.fields["index"]), int(asked.fields["count"])
            entries = [{"physicOffset": 100 * offset} for offset in range(first, first + count)]
            yield answer(asked, ResponseCode.SUCCESS, json.dumps({"queueData": entries}).encode())
        elif asked.code == RequestCode.VIEW_MESSAGE_BY_ID:
            yield answer(asked, ResponseCode.SUCCESS, message(int(asked.fields["offset"]) // 100))
        else:
            yield from queue(asked)

    assert offsets(read_out(script, in_flight=in_flight)) == list(range(100))


def of_4_5(asked: RemotingCommand) -> Iterator[bytes]:
    """A topic that can't be pulled, whose entries are not told either; its log has two files of 1,000 bytes."""
    log, at = {}, 100
    for number, topic in enumerate((OTHER, TOPIC, OTHER, TOPIC, TOPIC)):
        at = 1_000 if number == 2 else at
        log[at] = message(number, at, topic)
        at += len(log[at])
    place = int(asked.fields.get("offset", 0))
    if asked.code == RequestCode.GET_MIN_OFFSET:
        yield answer(asked, ResponseCode.SUCCESS, offset=0)
    elif asked.code == RequestCode.VIEW_MESSAGE_BY_ID and place in log:
        yield answer(asked, ResponseCode.SUCCESS, log[place])
    elif asked.code == RequestCode.QUERY_CONSUME_QUEUE:
        yield answer(asked, ResponseCode.SUCCESS)
    else:
        yield answer(asked, ResponseCode.TOPIC_NOT_EXIST if asked.code in PULLS else ResponseCode.SYSTEM_ERROR)


def test_op_messages_whose_entries_4_5_does_not_tell_are_found_in_the_log() -> None:
    with scripted_broker(of_4_5) as address, BrokerChannel(address) as channel:
        reader = QueueReader(channel, log=LogStretch(100, 1_000))
        assert offsets(reader.read([QueueStretch(TOPIC, 0, 2, 4)])) == [3]
        read = list(reader.read([QueueStretch(TOPIC, 0, 1, 4)]))
        assert offsets(read) == [1, 3]
        assert [place for each in read for place, _ in each.records()] == [206, 1_106]
        with pytest.raises(NoAnswerError, match=r"a pull of Orders, queue 0, at 1 .*: read the store folder instead$"):
            list(QueueReader(channel).read([QueueStretch(TOPIC, 0, 1, 4)]))


# --- what is asked ----------------------------------------------------------------------------------------------------


def test_a_pull_holds_nobody_commits_nothing_and_is_one_of_mqadmins_group() -> None:
    queue = OneQueue(40)
    read_out(queue, QueueStretch(TOPIC, 0, 0, 40))
    assert [(asked.code, asked.fields["queueOffset"], asked.fields["maxMsgNums"]) for asked in queue.asked] == [
        (RequestCode.LITE_PULL_MESSAGE, "0", "32"),
        (RequestCode.LITE_PULL_MESSAGE, "32", "8"),
    ]
    for asked in queue.asked:
        fields = dict(asked.fields)
        assert int(fields.pop("sysFlag")) == 1 << 2 | 1 << 4  # FLAG_SUBSCRIPTION, FLAG_LITE_PULL_MESSAGE of PullSysFlag
        assert (fields["consumerGroup"], fields["suspendTimeoutMillis"]) == ("TOOLS_CONSUMER", "0")


def test_with_a_key_pulls_are_of_the_kind_whose_permission_brokers_look_at() -> None:
    queue = OneQueue(40)
    with (
        scripted_broker(queue) as address,
        BrokerChannel(replace(address, credentials=Credentials("a", "s"))) as channel,
    ):
        assert offsets(QueueReader(channel).read([QueueStretch(TOPIC, 0, 0, 40)])) == list(range(40))
    assert [(asked.code, asked.fields["sysFlag"]) for asked in queue.asked] == [(RequestCode.PULL_MESSAGE, "4")] * 2


def test_a_broker_before_5_gets_no_lite_pull_which_an_old_one_would_leave_without_an_answer() -> None:
    queue = OneQueue(40)
    with scripted_broker(queue) as address, BrokerChannel(address) as channel:
        reader = QueueReader(channel, is_before_5=True)
        assert offsets(reader.read([QueueStretch(TOPIC, 0, 0, 40)])) == list(range(40))
    assert [(asked.code, asked.fields["sysFlag"]) for asked in queue.asked] == [(RequestCode.PULL_MESSAGE, "4")] * 2


def test_as_many_pulls_are_in_flight_as_are_wanted_and_answers_in_another_order_change_nothing() -> None:
    queue, waiting = OneQueue(320), list[bytes]()

    def script(asked: RemotingCommand) -> Iterator[bytes]:
        if asked.code not in PULLS:
            yield from queue(asked)
            return
        waiting.extend(queue(asked))
        if len(waiting) == 4 or asked.fields["queueOffset"] == "288":
            yield from reversed(waiting)
            waiting.clear()

    assert offsets(read_out(script, QueueStretch(TOPIC, 0, 0, 320))) == list(range(320))


def test_a_pull_that_is_answered_twice_is_read_once() -> None:
    queue = OneQueue(100)
    assert offsets(read_out(lambda asked: 2 * list(queue(asked)))) == list(range(100))


def test_a_reader_that_is_left_waits_for_nothing() -> None:
    queue = OneQueue(1_000)
    with scripted_broker(queue) as address, BrokerChannel(address) as channel:
        reading = QueueReader(channel, ByteRate(math.inf), 4).read([QueueStretch(TOPIC, 0, 0, 1_000)])
        assert len(list(islice(reading, 2))) == 2
        reading.close()  # type: ignore[attr-defined]
        assert len(queue.asked) <= 5
        assert channel._waiting == {}
        assert begin_of_queue(channel, TOPIC) == 0


@pytest.mark.parametrize(
    ("code", "remark"),
    [
        (ResponseCode.REQUEST_CODE_NOT_SUPPORTED, " request type 361 not supported"),
        (ResponseCode.NO_PERMISSION, "the broker[10.0.0.5] for lite pull consumer is forbidden"),
    ],
)
def test_where_lite_pulls_are_unknown_or_forbidden_others_are_sent(code: ResponseCode, remark: str) -> None:
    queue = OneQueue(200)
    queue.instead = lambda asked: answer(asked, code, remark=remark) if asked.code == PULLS[1] else None
    slept: list[float] = []
    assert offsets(read_out(queue, QueueStretch(TOPIC, 0, 0, 200), slept=slept)) == list(range(200))
    assert [asked.code for asked in queue.asked].count(RequestCode.PULL_MESSAGE) == 7
    assert {asked.fields["sysFlag"] for asked in queue.asked if asked.code == RequestCode.PULL_MESSAGE} == {"4"}
    assert slept == []


# --- what follows an answer -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("in_flight", [1, 4])
@pytest.mark.parametrize(
    "queue",
    [
        OneQueue(100, most=8),
        OneQueue(100, first=41),
        OneQueue(100, deleted=range(70)),
        OneQueue(100, deleted=[0, 3, 31, 32, 33, 64]),
        OneQueue(100, deleted=range(20, 41)),
        OneQueue(100, most=5, deleted=[*range(28, 45), 99]),
        OneQueue(300, deleted=range(90, 300)),
    ],
    ids=["on disk", "first file gone", "beginning gone", "some gone", "gap", "gap on disk", "end gone"],
)
def test_what_is_left_comes_once_and_in_order(queue: OneQueue, in_flight: int) -> None:
    queue.asked.clear()
    left = [offset for offset in range(queue.first, 100) if offset not in queue.deleted]
    assert offsets(read_out(queue, in_flight=in_flight)) == left
    assert all(int(asked.fields["queueOffset"]) >= queue.first for asked in queue.asked)
    assert len({asked.fields["queueOffset"] for asked in queue.asked}) == len(queue.asked)


def test_files_that_are_deleted_while_a_queue_is_read_are_passed_over() -> None:
    """What is in flight then is told so once each; what is not, is not asked for."""
    queue = OneQueue(3_200)

    def cleaned(_: RemotingCommand) -> bytes | None:
        queue.first = 3_000 if len(queue.asked) > 2 else 0
        return None

    queue.instead = cleaned
    read = read_out(queue, QueueStretch(TOPIC, 0, 0, 3_200))
    assert offsets(read) == [*range(64), *range(3_000, 3_200)]
    assert len(queue.asked) <= 2 + 4 + 7


def test_a_slave_that_does_not_correct_offsets_says_where_its_queue_begins() -> None:
    """``PULL_OFFSET_MOVED:none correction``: it answers PULL_RETRY_IMMEDIATELY with the offset that was asked for."""
    queue = OneQueue(100, first=0)

    def of_slave(asked: RemotingCommand) -> bytes | None:
        at = int(asked.fields["queueOffset"])
        empty = answer(asked, ResponseCode.PULL_RETRY_IMMEDIATELY, nextBeginOffset=at, minOffset=90)
        return empty if at < 90 else None

    queue.instead = of_slave
    assert offsets(read_out(queue, in_flight=1)) == list(range(90, 100))


def test_a_busy_broker_is_asked_again_and_not_for_ever() -> None:
    queue = OneQueue(64)
    queue.instead = lambda asked: answer(asked, ResponseCode.SYSTEM_BUSY) if len(queue.asked) < 4 else None
    slept: list[float] = []
    assert offsets(read_out(queue, QueueStretch(TOPIC, 0, 0, 64), slept=slept)) == list(range(64))
    assert len(slept) == 3
    queue.instead = lambda asked: answer(asked, ResponseCode.SYSTEM_BUSY, remark="[OVERLOAD]")
    with pytest.raises(NoAnswerError, match=r"a pull of Orders, queue 0, at 0 is answered 2: \[OVERLOAD\], 10 times$"):
        read_out(queue, in_flight=1)


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (64, r"at 64 is answered 19: OFFSET_OVERFLOW_ONE, 10 times$"),
        (10, r"at 32 is told that the queue ends at 10: was its topic made anew\? read it again$"),
    ],
)
def test_a_queue_that_ends_before_its_end_is_named(end: int, said: str) -> None:
    with pytest.raises(NoAnswerError, match=rf"127\.0\.0\.1:\d+: a pull of Orders, queue 0, {said}"):
        read_out(OneQueue(end), QueueStretch(TOPIC, 0, 32, 90), in_flight=1)


def test_another_answer_is_named_with_the_queue() -> None:
    queue = OneQueue(64)
    queue.instead = lambda asked: answer(asked, ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST)
    with pytest.raises(NoAnswerError, match=r"a pull of Orders, queue 0, at 0 is answered 26: no remark$"):
        read_out(queue)


def test_a_refusal_is_named_with_the_topic() -> None:
    queue = OneQueue(64)
    remark = "User:a has no permission to access Topic:Orders from 10.0.0.9, no matched policies."
    queue.instead = lambda asked: answer(asked, ResponseCode.NO_PERMISSION, remark=remark)
    with pytest.raises(
        RefusedError, match=rf"request 361 for Orders is refused with no access key: {remark[:-1]}; give"
    ):
        read_out(queue)


def test_a_body_that_is_no_message_is_named() -> None:
    queue = OneQueue(64)
    queue.instead = lambda asked: answer(asked, ResponseCode.SUCCESS, message(0) + b"\0\0\0\7", nextBeginOffset=32)
    size = len(message(0))
    (first,) = read_out(queue, QueueStretch(TOPIC, 0, 0, 32))
    with pytest.raises(MalformedFrameError, match=f"a message of 0 bytes at byte {size} of a body that has 4 left"):
        list(first.records())


def test_nothing_is_asked_of_an_empty_stretch() -> None:
    queue, asked = OneQueue(64), list[RemotingCommand]()

    def script(command: RemotingCommand) -> Iterator[bytes]:
        asked.append(command)
        yield from queue(command)

    assert read_out(script, QueueStretch(TOPIC, 0, 64, 64), QueueStretch(TOPIC, 0, 70, 3)) == []
    assert asked == []


# --- the rate ---------------------------------------------------------------------------------------------------------


class Clock:
    """Stands still but for sleeps."""

    def __init__(self) -> None:
        self.now = 50.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_a_rate_is_kept_but_for_what_is_in_flight_and_a_tenth_of_a_second() -> None:
    clock, size = Clock(), len(message(0))
    rate = ByteRate(1_000 * size, lambda: clock.now, clock.sleep)
    with scripted_broker(OneQueue(3_200)) as address, BrokerChannel(address) as channel:
        reading = QueueReader(channel, rate, 4).read([QueueStretch(TOPIC, 0, 0, 3_200)])
        for number, each in enumerate(reading, 1):
            came = 32 * number * size
            assert came <= (clock.now - 50.0 + 0.1) * 1_000 * size + 4 * 32 * size
            assert each.stretch.end == 32 * number
    assert clock.now == pytest.approx(50.0 + 3.2 - 0.1, abs=4 * 0.032)


def test_a_bucket_does_not_save_what_was_not_read_for_longer_than_a_tenth_of_a_second() -> None:
    clock = Clock()
    rate = ByteRate(1_000, lambda: clock.now, clock.sleep)
    clock.now += 3_600
    rate.charge(100)
    rate.wait()
    assert clock.now == 50.0 + 3_600
    rate.charge(500)
    rate.wait()
    assert clock.now == pytest.approx(50.0 + 3_600 + 0.5)
