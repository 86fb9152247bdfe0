"""TLS to a broker: with and without verification, and one line where one side speaks it and the other does not."""

from __future__ import annotations

import math
import socket
import ssl
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.wire.client.scripted_broker import TOPIC, OneQueue, answer, message
from tests.wire.one_broker import broker
from wire.client.byte_rate import ByteRate
from wire.client.channel import Address, BrokerChannel, NoAnswerError
from wire.client.queries import end_of_queue
from wire.client.queue_reader import QueueReader
from wire.client.stored_messages import QueueStretch
from wire.client.tls import Tls, TlsError
from wire.remoting.codes import RequestCode, ResponseCode
from wire.remoting.command import RemotingCommand, decode
from wire.remoting.frames import FrameReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

CERTIFICATES: Final = Path(__file__).parent / "certificates"
OWN: Final = CERTIFICATES / "broker.pem"
OTHER: Final = CERTIFICATES / "other.pem"


@contextmanager
def tls_broker(
    script: Callable[[RemotingCommand], Iterable[bytes]], version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3
) -> Iterator[Address]:
    """A scripted broker behind the ssl library's own socket, whose one thread reads and writes."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(OWN)
    context.maximum_version = version
    listening = socket.create_server(("127.0.0.1", 0))

    def talk() -> None:
        with listening, suppress(OSError), context.wrap_socket(listening.accept()[0], server_side=True) as connection:
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


def over_tls(address: Address, authorities: Path | None = None) -> Address:
    return Address(address.host, address.port, tls=Tls.of(authorities))


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("authorities", [None, OWN])
def test_requests_and_pulls_go_over_tls(version: ssl.TLSVersion, authorities: Path | None) -> None:
    queue = OneQueue(3_000)
    with tls_broker(queue, version) as address, BrokerChannel(over_tls(address, authorities)) as channel:
        read = list(QueueReader(channel, ByteRate(math.inf)).read([QueueStretch(TOPIC, 0, 0, 3_000)]))
    assert b"".join(each.body for each in read) == b"".join(message(offset) for offset in range(3_000))


def test_the_end_of_a_connection_is_said_as_on_a_plain_one() -> None:
    def script(asked: RemotingCommand) -> Iterator[bytes]:
        if asked.code == RequestCode.HEART_BEAT:
            raise ConnectionError
        yield answer(asked, ResponseCode.SUCCESS, offset=3)

    with tls_broker(script) as address, BrokerChannel(over_tls(address)) as channel:
        assert end_of_queue(channel, TOPIC) == 3
        with pytest.raises(NoAnswerError, match=r"request 34: the broker closed the connection$"):
            channel.ask(RequestCode.HEART_BEAT)


def test_a_certificate_of_another_authority_is_refused() -> None:
    with tls_broker(OneQueue(1)) as address, pytest.raises(NoAnswerError) as caught:
        BrokerChannel(over_tls(address, OTHER)).close()
    assert str(caught.value) == (
        f"{address}: its certificate is not signed by one in {OTHER} (self-signed certificate); "
        "give --tls-ca the right file"
    )


def test_what_4_x_would_garble_over_tls_is_not_asked_for() -> None:
    queue = OneQueue(10)
    queue.instead = lambda asked: answer(asked, ResponseCode.TOPIC_NOT_EXIST)
    with tls_broker(queue) as address, BrokerChannel(over_tls(address)) as channel:
        reading = QueueReader(channel).read([QueueStretch(TOPIC, 0, 0, 10)])
        with pytest.raises(
            NoAnswerError, match=rf"{address}: Orders is not to be pulled, .*: leave out --tls, which tls"
        ):
            list(reading)


@pytest.mark.parametrize("content", [b"", b"no certificate\n", b"-----BEGIN CERTIFICATE-----\nAAAA\n"])
def test_a_file_without_a_certificate_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "ca.pem"
    path.write_bytes(content)
    with pytest.raises(
        TlsError, match=r"ca\.pem: no certificate in PEM form; give that of the authority of the broker's"
    ):
        Tls.of(path)


def test_a_broker_that_is_plain_is_named(tmp_path: Path) -> None:
    with broker(tmp_path) as running, pytest.raises(NoAnswerError) as caught:
        BrokerChannel(over_tls(Address.of(running.address))).close()
    assert str(caught.value) == (
        f"{running.address}: it ends the connection where TLS begins: leave out --tls if it is plain "
        "(tls.server.mode=disabled)"
    )


def test_a_server_that_answers_tls_in_another_protocol_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def talk() -> None:
            with listening.accept()[0] as connection:
                connection.recv(1 << 16)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        threading.Thread(target=talk).start()
        address = Address("127.0.0.1", listening.getsockname()[1])
        with pytest.raises(NoAnswerError, match=f"{address}: no TLS with it .*: leave out --tls if it is plain$"):
            BrokerChannel(over_tls(address)).close()


def test_a_server_that_says_nothing_is_not_waited_for_longer_than_patience_lasts() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = Address("127.0.0.1", listening.getsockname()[1])
        with pytest.raises(NoAnswerError, match=f"{address}: no TLS with it .timed out.: leave out --tls"):
            BrokerChannel(over_tls(address), patience=0.05).close()


def test_a_port_for_tls_alone_is_named_to_a_client_that_is_plain() -> None:
    """RocketMQ's own (``tls.server.mode=enforcing``) closes without a word; the ssl library's sends an alert."""
    with (
        tls_broker(OneQueue(1)) as address,
        BrokerChannel(address) as channel,
        pytest.raises(
            NoAnswerError, match=r"it speaks TLS, .*, or --tls$|closed the connection without a word: .*--tls"
        ),
    ):
        end_of_queue(channel, TOPIC)
