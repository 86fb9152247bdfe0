"""Messages that no pull gives: 4.x has no config of the op topic.

They are found by the entries of their queue, or, as 4.5 and older ones give none of them
(``AdminBrokerProcessor#queryConsumeQueue``), by a walk through the commit log.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from files.content import parse_json
from wire.client.channel import NoAnswerError
from wire.client.queries import MOST_OF_A_PULL, end_of_queue
from wire.client.stored_messages import QueueStretch, StoredMessages
from wire.remoting.codes import RequestCode, ResponseCode
from wire.remoting.messages import decode_records, encode_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reference.format.record import LogRecord
    from wire.client.channel import BrokerChannel


@dataclass(frozen=True, slots=True)
class LogStretch:
    """The start of a walk through a commit log."""

    begin: int
    """The commit log offset of a message."""
    file_size: int
    """``mappedFileSizeCommitLog``: the rest at the end of a file is passed over."""


def walk_log(channel: BrokerChannel, log: LogStretch) -> Iterator[LogRecord]:
    """All messages of the commit log from one on (VIEW_MESSAGE_BY_ID), up to the first place where none is."""
    at = log.begin
    while True:
        viewed = channel.ask(RequestCode.VIEW_MESSAGE_BY_ID, {"offset": at})
        if viewed.code == ResponseCode.SUCCESS:
            for record in decode_records(viewed.body):
                yield record
                at += record.total_size
            continue
        next_file = (at // log.file_size + 1) * log.file_size
        if channel.ask(RequestCode.VIEW_MESSAGE_BY_ID, {"offset": next_file}).code != ResponseCode.SUCCESS:
            return
        at = next_file


def unpullable(channel: BrokerChannel, topic: str, begin: int, log: LogStretch | None) -> list[LogRecord]:
    """The messages of queue 0 from an offset on where no pull gives them; none of them without entries and a log."""
    stretch = QueueStretch(topic, 0, begin, end_of_queue(channel, topic))
    return [record for found in found_by_entries(channel, stretch, log) for record in decode_records(found.body)]


def found_by_entries(channel: BrokerChannel, stretch: QueueStretch, log: LogStretch | None) -> Iterator[StoredMessages]:
    """The messages of a stretch; one that can't be found is passed over, as by a pull.

    Where a broker gives no entries, its log is walked, and without one nothing more is found. Up to 5.0.0 a broker cuts
    the answers to VIEW_MESSAGE_BY_ID over TLS, if they are small (``FileRegionEncoder#encode``, issue 4265), as those
    with op messages are: that is a `NoAnswerError`.
    """
    at = stretch.begin
    if at < stretch.end and channel.address.tls is not None:
        message = (
            f"{channel.address}: {stretch.topic} is not to be pulled, and brokers of 4.x garble small messages over "
            "TLS (RocketMQ issue 4265): leave out --tls, which tls.server.mode=permissive allows"
        )
        raise NoAnswerError(message)
    while at < stretch.end:
        most = min(MOST_OF_A_PULL, stretch.end - at)
        fields = {"topic": stretch.topic, "queueId": stretch.queue_id, "index": at, "count": most}
        places = _places(channel.ask(RequestCode.QUERY_CONSUME_QUEUE, fields).body)
        if not places:
            yield from () if log is None else _walked(channel, stretch, log, at)
            return
        begun = [channel.begin(RequestCode.VIEW_MESSAGE_BY_ID, {"offset": place}) for place in places]
        viewed = [channel.answer_to(opaque) for opaque in begun]
        body = b"".join(each.body for each in viewed if each.code == ResponseCode.SUCCESS)
        yield StoredMessages(QueueStretch(stretch.topic, stretch.queue_id, at, at + len(places)), body)
        at += len(places)


def _walked(channel: BrokerChannel, stretch: QueueStretch, log: LogStretch, at: int) -> Iterator[StoredMessages]:
    for record in walk_log(channel, log):
        offset = record.queue_offset
        if (record.topic, record.queue_id) == (stretch.topic, stretch.queue_id) and at <= offset < stretch.end:
            one = QueueStretch(stretch.topic, stretch.queue_id, offset, offset + 1)
            yield StoredMessages(one, encode_record(record))


def _places(body: bytes) -> list[int]:
    """The commit log offsets in a consume queue's entries; none where the broker gives no entries."""
    try:
        return [int(entry["physicOffset"]) for entry in parse_json(body)["queueData"]]
    except (ValueError, KeyError, TypeError):
        return []
