"""Queries that any client may make: queues, the offsets of the check service, a broker's version and settings.

Pulls never carry the bit that commits an offset (``PullSysFlag#FLAG_COMMIT_OFFSET``). What a broker does not answer, or
not with success, is a `NoAnswerError`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from files.content import parse_json
from reference.format.java_properties import Setting
from reference.format.system_topics import CHECK_GROUP
from wire.client.channel import BrokerChannel, NoAnswerError
from wire.errors import WireError
from wire.remoting.codes import CLOCK_FIELD, RequestCode, ResponseCode, release_of
from wire.remoting.messages import decode_records

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reference.format.record import LogRecord

_MOST_BROKERS: Final = 8
MOST_OF_A_PULL: Final = 32
"""``maxTransferCountOnMessageInMemory``: a broker gives no more messages at once, and of old ones fewer."""
SUBSCRIPTION_FLAG: Final = 4
"""``PullSysFlag#FLAG_SUBSCRIPTION``: the pull says itself which messages it wants."""
NOTHING_FOUND: Final = (
    ResponseCode.PULL_NOT_FOUND, ResponseCode.PULL_OFFSET_MOVED, ResponseCode.PULL_RETRY_IMMEDIATELY,
)  # fmt: skip
"""Answers to a pull that has no message; each says where the next one may begin."""
_NO_QUEUE: Final = (ResponseCode.TOPIC_NOT_EXIST, ResponseCode.SYSTEM_ERROR, ResponseCode.INVALID_PARAMETER)


def pull_fields(group: str, topic: str, queue_id: int, begin: int, most: int, flags: int) -> dict[str, object]:
    """The fields of a pull of all messages, whatever their tags, which nobody holds (``PullMessageRequestHeader``)."""
    return {
        "consumerGroup": group, "topic": topic, "queueId": queue_id, "queueOffset": begin, "maxMsgNums": most,
        "sysFlag": flags, "commitOffset": 0, "suspendTimeoutMillis": 0, "subscription": "*", "subVersion": 0,
        "expressionType": "TAG",
    }  # fmt: skip


def pull_all(channel: BrokerChannel, group: str, topic: str, begin: int, queue_id: int = 0) -> list[LogRecord]:
    """All messages of a queue from an offset on, as they are stored; none of a topic that is not there."""
    found: list[LogRecord] = []
    at = begin
    while True:
        fields = pull_fields(group, topic, queue_id, at, MOST_OF_A_PULL, SUBSCRIPTION_FLAG)
        answer = channel.ask(RequestCode.PULL_MESSAGE, fields)
        follows = int(answer.fields.get("nextBeginOffset", at))
        if answer.code == ResponseCode.SUCCESS:
            found += decode_records(answer.body)
        elif answer.code not in NOTHING_FOUND:
            if answer.code == ResponseCode.TOPIC_NOT_EXIST:
                return found
            message = f"{channel.address}: a pull of {topic} is answered {answer.code}: {answer.remark}"
            raise NoAnswerError(message)
        if follows <= at:
            return found
        at = follows


class NameServerError(WireError):
    """A name server answers where a broker was meant."""


def end_of_queue(channel: BrokerChannel, topic: str, queue_id: int = 0) -> int:
    """GET_MAX_OFFSET: how many messages the queue has had; 0 where there is none."""
    return _offset(channel, RequestCode.GET_MAX_OFFSET, {"topic": topic, "queueId": queue_id})


def begin_of_queue(channel: BrokerChannel, topic: str, queue_id: int = 0) -> int:
    """GET_MIN_OFFSET: the first message that is left; 0 where there never was one."""
    return max(_offset(channel, RequestCode.GET_MIN_OFFSET, {"topic": topic, "queueId": queue_id}), 0)


def offset_at(channel: BrokerChannel, topic: str, queue_id: int, since_ms: int) -> int:
    """SEARCH_OFFSET_BY_TIMESTAMP: the first message that was stored then or later; 0 where there is no queue."""
    fields = {"topic": topic, "queueId": queue_id, "timestamp": max(since_ms, 0)}
    return max(_offset(channel, RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, fields), 0)


def check_offset(channel: BrokerChannel, topic: str, queue_id: int = 0) -> int | None:
    """The check service's offset in the half or the op topic, as the broker has it; None before its first round."""
    fields = {"consumerGroup": CHECK_GROUP, "topic": topic, "queueId": queue_id, "setZeroIfNotFound": False}
    answer = channel.ask(RequestCode.QUERY_CONSUMER_OFFSET, fields)
    if answer.code == ResponseCode.QUERY_NOT_FOUND:
        return None
    if answer.code != ResponseCode.SUCCESS:
        message = f"{channel.address}: the offset of {CHECK_GROUP} is answered {answer.code}: {answer.remark}"
        raise NoAnswerError(message)
    return int(answer.fields["offset"])


class OtherClockError(WireError):
    """The broker's clock does not go as the probe's does."""


def connected_producers(channel: BrokerChannel, group: str) -> tuple[str, ...]:
    """The ids of the clients that the broker can ask for transactions of a group (GET_PRODUCER_CONNECTION_LIST)."""
    answer = channel.ask(RequestCode.GET_PRODUCER_CONNECTION_LIST, {"producerGroup": group})
    if answer.code != ResponseCode.SUCCESS:  # it knows no such group
        return ()
    return tuple(sorted(str(each["clientId"]) for each in parse_json(answer.body)["connectionSet"]))


@dataclass(frozen=True, slots=True)
class BrokerAnswers:
    """What a broker says that it is.

    Attributes
    ----------
    release
        None if its answers name none that is known.
    settings
        GET_BROKER_CONFIG; None if it does not tell them.
    speed
        How fast its clock goes beside the world's, or ``virtual``: 1 but for a broker of halfcheck's.
    """

    release: str | None
    settings: tuple[Setting, ...] | None
    speed: str


def broker_answers(channel: BrokerChannel) -> BrokerAnswers:
    """Ask a broker what it is.

    Raises
    ------
    NameServerError
        It is a name server.
    NoAnswerError
        It does not answer at all.
    """
    try:
        answer = channel.ask(RequestCode.GET_BROKER_CONFIG, {})
    except NoAnswerError:
        if channel.is_open:  # name servers of 4.x do not answer what they do not know
            _require_broker(channel)
        raise
    release, speed = release_of(answer.version), answer.fields.get(CLOCK_FIELD, "1")
    if answer.code != ResponseCode.SUCCESS:
        _require_broker(channel)
        return BrokerAnswers(release, None, speed)
    pairs = (line.partition("=") for line in answer.body.decode("utf-8", "replace").split("\n"))
    settings = tuple(Setting(number, key, value) for number, (key, eq, value) in enumerate(pairs, 1) if eq)
    return BrokerAnswers(release, settings, speed)


def release_and_settings(channel: BrokerChannel) -> tuple[str | None, tuple[Setting, ...] | None]:
    """The release that a broker calls itself, and its settings; None for either that it does not give.

    Raises
    ------
    NameServerError, NoAnswerError
        As :func:`broker_answers`.
    OtherClockError
        It says that its time is not that of the world, as only a broker of halfcheck's does.
    """
    found = broker_answers(channel)
    if found.speed != "1":
        clock = "stands still until it is pushed" if found.speed == "virtual" else f"goes {found.speed} times as fast"
        message = (
            f"{channel.address}: its clock {clock}, and who waits for it goes by the world's; start it in real time"
        )
        raise OtherClockError(message)
    return found.release, found.settings


def _require_broker(channel: BrokerChannel) -> None:
    """Raise `NameServerError` if the other side lists the brokers of a cluster, as name servers only do."""
    try:
        answer = channel.ask(RequestCode.GET_BROKER_CLUSTER_INFO)
    except NoAnswerError:
        return
    if answer.code == ResponseCode.SUCCESS:
        known = sorted(set(re.findall(rb'"([^"\s]+:\d+)"', answer.body)))
        brokers = b", ".join(known[:_MOST_BROKERS]).decode(errors="replace") or "none"
        message = f"{channel.address} is a name server: give the address of a broker; it knows {brokers}"
        raise NameServerError(message)


def _offset(channel: BrokerChannel, code: RequestCode, fields: Mapping[str, object]) -> int:
    answer = channel.ask(code, fields)
    if answer.code in _NO_QUEUE:
        return 0
    if answer.code != ResponseCode.SUCCESS:
        message = f"{channel.address}: request {int(code)} for {fields['topic']} is answered {answer.code}"
        raise NoAnswerError(message)
    return int(answer.fields["offset"])
