"""The raw client: what it says when nobody answers, and what it makes of answers."""

from __future__ import annotations

import socket
import threading

import pytest

from wire.client.channel import Address, BrokerChannel, NoAnswerError
from wire.client.queries import check_offset
from wire.client.transactions import heartbeat, send_half
from wire.remoting.codes import RequestCode, release_of, version_of
from wire.remoting.command import RESPONSE_FLAG, RemotingCommand, decode, encode

MQ_VERSIONS = {
    "4.3.0": 273,
    "4.5.1": 315,
    "4.9.7": 407,
    "5.0.0": 413,
    "5.1.0": 433,
    "5.2.0": 453,
    "5.3.3": 479,
    "5.4.0": 493,
    "5.5.0": 513,
    "5.5.1": 515,
}
"""Places in the enum ``MQVersion.Version`` of 5.5.0."""


def serve(*answers: bytes, seen: list[bytes] | None = None) -> Address:
    """Listen for one connection, read (into `seen`) once for each answer and send it, then close."""
    listening = socket.create_server(("127.0.0.1", 0))

    def talk() -> None:
        with listening, listening.accept()[0] as connection:
            for answer in answers:
                read = connection.recv(1 << 16)
                if seen is not None:
                    seen.append(read)
                connection.sendall(answer)

    threading.Thread(target=talk).start()
    return Address("127.0.0.1", listening.getsockname()[1])


def answered(code: int, opaque: int = 1, **fields: str) -> bytes:
    return encode(RemotingCommand(code, fields, opaque=opaque, flag=RESPONSE_FLAG))


def test_an_answer_belongs_to_the_request_of_its_number() -> None:
    channel = BrokerChannel(serve(answered(0, opaque=7) + answered(22)))
    assert channel.ask(RequestCode.GET_MAX_OFFSET, {}).code == 22
    channel.close()


def test_a_request_of_the_broker_is_no_answer() -> None:
    check = encode(RemotingCommand(RequestCode.CHECK_TRANSACTION_STATE, {"msgId": "m"}, opaque=1, flag=2))
    channel = BrokerChannel(serve(check + answered(0)))
    assert channel.ask(RequestCode.HEART_BEAT, {}).code == 0
    asked = channel.asked()
    assert asked is not None
    assert asked.fields == {"msgId": "m"}
    assert channel.asked() is None
    channel.close()


@pytest.mark.parametrize(
    ("bytes_sent", "said"),
    [
        (b"", "it closed the connection without a word"),
        (b"\xff\xff\xff\xff", "a frame of -1 bytes"),
        (b"\0\0\0\6\0\0\0\2{]", "a JSON header that can't be read"),
    ],
)
def test_a_broker_that_answers_nonsense_or_nothing_is_named(bytes_sent: bytes, said: str) -> None:
    channel = BrokerChannel(serve(bytes_sent))
    with pytest.raises(NoAnswerError, match=f"{channel.address}: request 30: .*{said}"):
        channel.ask(RequestCode.GET_MAX_OFFSET, {})
    assert not channel.is_open


@pytest.mark.parametrize(("remark", "said"), [("no such group\nat x.java:3", "no such group"), (None, "no remark")])
def test_what_is_refused_is_named_with_its_code_and_the_first_line_of_the_remark(remark: str | None, said: str) -> None:
    refusal = encode(RemotingCommand(16, opaque=1, flag=RESPONSE_FLAG, remark=remark))
    channel = BrokerChannel(serve(refusal))
    with pytest.raises(NoAnswerError, match=f"^{channel.address}: the heartbeat is answered 16: {said}$"):
        heartbeat(channel, "client", "group")
    channel.close()


def test_who_is_silent_is_not_waited_for_longer_than_patience_lasts() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        channel = BrokerChannel(Address("127.0.0.1", listening.getsockname()[1]), patience=0.05)
        with pytest.raises(NoAnswerError, match="no answer in 0 s"):
            channel.ask(RequestCode.GET_MAX_OFFSET, {})
        channel.close()


def test_an_offset_that_is_not_there_is_none_and_asked_for_without_a_default() -> None:
    seen: list[bytes] = []
    channel = BrokerChannel(serve(answered(22), seen=seen))
    assert check_offset(channel, "RMQ_SYS_TRANS_HALF_TOPIC") is None
    channel.close()
    assert decode(seen[0][4:]).fields["setZeroIfNotFound"] == "false"


def test_a_half_is_sent_as_a_message_of_its_own_in_no_unit_for_the_first_time() -> None:
    """The fields of ``SendMessageRequestHeaderV2``: unit mode, batch, and how often it was consumed before."""
    seen: list[bytes] = []
    channel = BrokerChannel(serve(answered(0, queueOffset="3", msgId="0" * 31 + "a"), seen=seen))
    assert send_half(channel, "g", "T", "K1", b"x", born_ms=7).commit_log_offset == 10
    channel.close()
    sent = decode(seen[0][4:]).fields
    assert {name: sent[name] for name in "abefghjklm"} == {
        "a": "g", "b": "T", "e": "0", "f": "4", "g": "7", "h": "0", "j": "0", "k": "false", "l": "0", "m": "false",
    }  # fmt: skip


def test_each_release_is_known_by_the_number_in_its_headers() -> None:
    assert {release: version_of(release) for release in MQ_VERSIONS} == MQ_VERSIONS
    assert [release_of(number) for number in MQ_VERSIONS.values()] == list(MQ_VERSIONS)


@pytest.mark.parametrize("text", ["localhost", ":1", "h:0", "h:65536", "h:x"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected HOST:PORT"):
        Address.of(text)
