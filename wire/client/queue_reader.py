"""Queues read over the network, from an offset to an offset: pulls in flight, and messages as they are stored."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from wire.client.byte_rate import ByteRate
from wire.client.channel import Answers, NoAnswerError
from wire.client.entries import found_by_entries
from wire.client.queries import MOST_OF_A_PULL, NOTHING_FOUND, SUBSCRIPTION_FLAG, begin_of_queue, pull_fields
from wire.client.stored_messages import QueueStretch, StoredMessages
from wire.remoting.codes import RequestCode, ResponseCode
from wire.remoting.messages import stored_records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from wire.client.channel import BrokerChannel
    from wire.client.entries import LogStretch
    from wire.remoting.command import RemotingCommand

GROUP: Final = "TOOLS_CONSUMER"
"""The group of ``mqadmin`` (``MixAll#TOOLS_CONSUMER_GROUP``)."""

_LITE_FLAG: Final = 16
"""``PullSysFlag#FLAG_LITE_PULL_MESSAGE``, by which the Java client chooses LITE_PULL_MESSAGE."""
QUEUE_OFFSET: Final = slice(20, 28)
"""Where a stored message says its place in its queue."""
_NO_LITE_PULL: Final = (ResponseCode.REQUEST_CODE_NOT_SUPPORTED, ResponseCode.NO_PERMISSION)
_TRIES: Final = 10
_PAUSE_S: Final = 0.3


@dataclass(slots=True)
class _Queue:
    """A queue that is read: where the next pull begins, and whether it is to be found by its entries instead."""

    stretch: QueueStretch
    at: int
    is_unpullable: bool = False


@dataclass(slots=True)
class _Pull:
    """Up to 32 offsets of a queue, with what has come of them; a broker may give them in several answers."""

    queue: _Queue
    at: int
    end: int
    code: int = 0
    tries: int = 0
    came: list[StoredMessages] = field(default_factory=list)


class QueueReader:
    """Reads queues over one connection, whose other requests go on beside, and changes nothing.

    Pulls are begun up to `in_flight` ahead of what the caller has taken, of one queue or of several, within `rate`.
    A broker of 5.x gets them as lite pulls, which have threads of their own there (``litePullMessageExecutor``);
    others, and one that forbids them (``litePullMessageEnable``), as the pulls of ``mqadmin``. So does each broker that
    wants credentials: of a lite pull it looks at no permission (``PlainAccessValidator#parse`` of 5.0 to 5.2,
    ``DefaultAuthorizationContextBuilder#build``), and what a key may not read is not to be read.

    What a broker keeps of them (``PullMessageProcessor#processRequest``) changes nothing for anybody: no pull commits
    an offset, and the group of ``mqadmin`` has a config in every broker. 5.x has the last offset of the group and what
    it subscribed to in memory, and 5.5.0 writes that offset as ``pullOffsetTable`` into ``consumerOffset.json``, where
    no broker reads it. 4.x writes a message into OFFSET_MOVED_EVENT for a pull before a queue's first message or behind
    its last one (``#generateOffsetMovedEvent``): the first one is asked for before, so that this needs files that are
    deleted in the same moment.

    Parameters
    ----------
    log
        Where to walk through the commit log for what 4.5 and older ones let nobody pull.
    lets_pull
        Whether it lets messages be pulled; they are found by their queues' entries where it does not.
    is_before_5
        Whether it is known to be older than 5.0.0, so that lite pulls are not even tried: to a request that it does not
        know a broker before 4.9.1 gives no answer at all (``AdminBrokerProcessor#processRequest``).

    Raises
    ------
    NoAnswerError
        By each step: the broker does not answer; or a queue ends before the end of its stretch.
    RefusedError
        The broker's access control refuses a pull.
    """

    def __init__(
        self,
        channel: BrokerChannel,
        rate: ByteRate | None = None,
        in_flight: int = 16,
        log: LogStretch | None = None,
        sleep: Callable[[float], None] = time.sleep,
        *,
        lets_pull: bool = True,
        is_before_5: bool = False,
    ) -> None:
        self._channel = channel
        self._rate = rate or ByteRate()
        self._in_flight = in_flight
        self._log = log
        self._lets_pull = lets_pull
        self._sleep = sleep
        is_plain = is_before_5 or channel.address.credentials is not None
        self._code = RequestCode.PULL_MESSAGE if is_plain else RequestCode.LITE_PULL_MESSAGE
        self._answers = Answers()
        self._flying: dict[int, _Pull] = {}

    def read(self, stretches: Iterable[QueueStretch]) -> Iterator[StoredMessages]:
        """The messages of one stretch after the other; those that were deleted are left out."""
        if not self._lets_pull:
            for stretch in stretches:
                queue = _Queue(
                    stretch, max(stretch.begin, begin_of_queue(self._channel, stretch.topic, stretch.queue_id))
                )
                yield from self._found_by_entries(_Pull(queue, queue.at, stretch.end))
            return
        self._answers = Answers()
        ahead: deque[_Pull] = deque()
        pulls = self._pulls(stretches)
        try:
            while True:
                while len(ahead) < self._in_flight and (pull := next(pulls, None)) is not None:
                    ahead.append(pull)
                    self._begin(pull)
                if not ahead:
                    return
                first = ahead[0]
                while first.at < first.end and not first.queue.is_unpullable:
                    self._take(self._channel.next_answer(self._answers))
                ahead.popleft()
                yield from first.came
                if first.queue.is_unpullable:
                    first.queue.at = first.queue.stretch.end
                    ahead = deque(pull for pull in ahead if pull.queue is not first.queue)
                    yield from self._found_by_entries(first)
        finally:
            self._channel.forget(self._flying)
            self._flying.clear()

    def _pulls(self, stretches: Iterable[QueueStretch]) -> Iterator[_Pull]:
        for stretch in stretches:
            if stretch.begin >= stretch.end:
                continue
            first = begin_of_queue(self._channel, stretch.topic, stretch.queue_id)
            queue = _Queue(stretch, max(stretch.begin, first))
            while (at := queue.at) < stretch.end:
                queue.at = min(at + MOST_OF_A_PULL, stretch.end)
                yield _Pull(queue, at, queue.at)

    def _begin(self, pull: _Pull) -> None:
        self._rate.wait()
        stretch, pull.code = pull.queue.stretch, self._code
        flag = SUBSCRIPTION_FLAG | (_LITE_FLAG if self._code == RequestCode.LITE_PULL_MESSAGE else 0)
        fields = pull_fields(GROUP, stretch.topic, stretch.queue_id, pull.at, pull.end - pull.at, flag)
        self._flying[self._channel.begin(self._code, fields, answers=self._answers)] = pull

    def _take(self, answer: RemotingCommand) -> None:
        """Go by an answer as a consumer does (``MQClientAPIImpl#processPullResponse``), and pull what is left."""
        self._rate.charge(len(answer.body))
        pull = self._flying.pop(answer.opaque)
        queue, at = pull.queue, pull.at
        follows = int(answer.fields.get("nextBeginOffset", at))
        if answer.code == ResponseCode.SUCCESS:
            body = answer.body if follows <= pull.end else _before(answer.body, pull.end)
            stretch = QueueStretch(queue.stretch.topic, queue.stretch.queue_id, at, min(follows, pull.end))
            pull.came.append(StoredMessages(stretch, body))
        elif answer.code in NOTHING_FOUND:
            follows = max(follows, int(answer.fields.get("minOffset", at)))
            queue.at = max(queue.at, follows)
        elif pull.code == RequestCode.LITE_PULL_MESSAGE and answer.code in _NO_LITE_PULL:
            self._code = RequestCode.PULL_MESSAGE
        elif answer.code == ResponseCode.TOPIC_NOT_EXIST or _is_beyond_readable(answer):
            queue.is_unpullable = True
            return
        elif answer.code != ResponseCode.SYSTEM_BUSY:
            raise self._stuck(pull, _said(answer))
        if follows > at:
            pull.at, pull.tries = follows, 0
        elif pull.code == self._code:
            self._pause(pull, answer, follows)
        if pull.at < pull.end:
            self._begin(pull)

    def _pause(self, pull: _Pull, answer: RemotingCommand, follows: int) -> None:
        """Wait a little where there is nothing yet, or the broker is busy."""
        if answer.code == ResponseCode.PULL_OFFSET_MOVED:
            raise self._stuck(pull, f"is told that the queue ends at {follows}: was its topic made anew? read it again")
        pull.tries += 1
        if pull.tries == _TRIES:
            raise self._stuck(pull, f"{_said(answer)}, {_TRIES} times")
        self._sleep(_PAUSE_S)

    def _stuck(self, pull: _Pull, how: str) -> NoAnswerError:
        stretch = pull.queue.stretch
        return NoAnswerError(
            f"{self._channel.address}: a pull of {stretch.topic}, queue {stretch.queue_id}, at {pull.at} {how}"
        )

    def _found_by_entries(self, first: _Pull) -> Iterator[StoredMessages]:
        queue = first.queue.stretch
        stretch = QueueStretch(queue.topic, queue.queue_id, first.at, queue.end)
        for found in found_by_entries(self._channel, stretch, self._log):
            self._rate.charge(len(found.body))
            first.at = found.stretch.end
            yield found
            self._rate.wait()
        if first.at < stretch.end and self._log is None:
            raise self._stuck(
                first, "is not possible, and its queue entries are not told: read the store folder instead"
            )


def _said(answer: RemotingCommand) -> str:
    return f"is answered {answer.code}: {answer.remark or 'no remark'}"


def _is_beyond_readable(answer: RemotingCommand) -> bool:
    """Whether its topic has fewer queues to be read than that (``PullMessageProcessor#processRequest``)."""
    refuses = answer.code in (ResponseCode.INVALID_PARAMETER, ResponseCode.SYSTEM_ERROR)
    return refuses and (answer.remark or "").startswith("queueId[")


def _before(body: bytes, end: int) -> bytes:
    """The messages of a body before a queue offset: a broker that passes over deleted ones may give more."""
    kept = (record for _, record in stored_records(body) if int.from_bytes(record[QUEUE_OFFSET]) < end)
    return b"".join(kept)
