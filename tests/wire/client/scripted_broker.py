"""A broker whose answers a test writes itself, and pulls of a queue as a broker of RocketMQ answers them."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from reference.format.stored_message import encode_message, topic_field
from wire.client.channel import Address
from wire.remoting.codes import RequestCode, ResponseCode
from wire.remoting.command import RESPONSE_FLAG, RemotingCommand, decode, encode
from wire.remoting.frames import FrameReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

TOPIC: Final = "Orders"
PULLS: Final = (RequestCode.PULL_MESSAGE, RequestCode.LITE_PULL_MESSAGE)


def answer(asked: RemotingCommand, code: int, body: bytes = b"", remark: str | None = None, **fields: object) -> bytes:
    """The frame of an answer."""
    texts = {name: str(value) for name, value in fields.items()}
    return encode(RemotingCommand(code, texts, body, asked.opaque, RESPONSE_FLAG, remark))


@contextmanager
def scripted_broker(script: Callable[[RemotingCommand], Iterable[bytes]]) -> Iterator[Address]:
    """Listen for one connection; what the script gives for a request is sent, be it for this one or others."""
    listening = socket.create_server(("127.0.0.1", 0))

    def talk() -> None:
        with listening, suppress(OSError), listening.accept()[0] as connection:
            frames = FrameReader()
            while data := connection.recv(1 << 16):
                for frame in frames.feed(data):
                    for sent in script(decode(frame)):
                        connection.sendall(sent)

    thread = threading.Thread(target=talk)
    thread.start()
    try:
        yield Address("127.0.0.1", listening.getsockname()[1])
    finally:
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        thread.join()


def message(queue_offset: int, physical_offset: int | None = None, topic: str = TOPIC) -> bytes:
    """A stored message; it stands in the commit log at a hundred times its queue offset."""
    physical = 100 * queue_offset if physical_offset is None else physical_offset
    host = bytes(8)
    body = f"message {queue_offset}".encode()
    return encode_message(topic_field(topic), 0, 0, queue_offset, physical, 0, 1, host, 2, host, 0, 0, body, b"")


class OneQueue:
    """A queue of the form of ``DefaultMessageStore#getMessage``, each of whose answers a test may replace."""

    def __init__(self, end: int, *, first: int = 0, most: int = 32, deleted: Iterable[int] = ()) -> None:
        self.first = first
        self.end = end
        self.most = most
        self.deleted = frozenset(deleted)
        self.asked: list[RemotingCommand] = []
        """All pulls."""
        self.instead: Callable[[RemotingCommand], bytes | None] = lambda _: None

    def __call__(self, asked: RemotingCommand) -> Iterator[bytes]:
        """Answer a request."""
        if asked.code == RequestCode.GET_MIN_OFFSET:
            yield answer(asked, ResponseCode.SUCCESS, offset=self.first)
            return
        assert asked.code in PULLS
        self.asked.append(asked)
        yield self.instead(asked) or self.pulled(asked)

    def pulled(self, asked: RemotingCommand) -> bytes:
        """The answer to a pull: deleted messages are passed over, and others taken for them."""
        at, most = int(asked.fields["queueOffset"]), min(int(asked.fields["maxMsgNums"]), self.most)
        if at < self.first:
            return self._empty(asked, ResponseCode.PULL_OFFSET_MOVED, "OFFSET_TOO_SMALL", self.first)
        if at == self.end:
            return self._empty(asked, ResponseCode.PULL_NOT_FOUND, "OFFSET_OVERFLOW_ONE", at)
        if at > self.end:
            return self._empty(asked, ResponseCode.PULL_OFFSET_MOVED, "OFFSET_OVERFLOW_BADLY", self.end)
        found: list[bytes] = []
        while at < self.end and len(found) < most:
            found += [] if at in self.deleted else [message(at)]
            at += 1
        if not found:
            return self._empty(asked, ResponseCode.PULL_RETRY_IMMEDIATELY, "MESSAGE_WAS_REMOVING", at)
        return answer(asked, ResponseCode.SUCCESS, b"".join(found), "FOUND", nextBeginOffset=at, minOffset=self.first)

    def _empty(self, asked: RemotingCommand, code: ResponseCode, remark: str, follows: int) -> bytes:
        return answer(asked, code, b"", remark, nextBeginOffset=follows, minOffset=self.first, maxOffset=self.end)
