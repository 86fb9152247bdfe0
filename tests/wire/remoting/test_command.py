"""Commands and frames: what real clients sent is read, what is written is read back, and what is broken is refused."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from tests.wire.remoting.golden_frames import GoldenFrame, golden_frames
from wire.errors import MalformedFrameError
from wire.remoting.codes import LANGUAGES, RequestCode, Serialization
from wire.remoting.command import RemotingCommand, decode, encode
from wire.remoting.frames import MOST_FRAME, FrameReader

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A machine that has other things to do is no failure."""

TEXT = some.text(some.characters(codec="utf-8"), max_size=20)
COMMANDS = some.builds(
    RemotingCommand,
    code=some.integers(0, 32_767),
    fields=some.dictionaries(TEXT, TEXT, max_size=4),
    body=some.binary(max_size=30),
    opaque=some.integers(-(1 << 31), (1 << 31) - 1),
    flag=some.integers(0, 3),
    remark=some.none() | TEXT.filter(bool),
    language=some.sampled_from(LANGUAGES),
    version=some.integers(0, 600),
    serialization=some.sampled_from(Serialization),
)


@UNHURRIED
@given(COMMANDS)
def test_a_command_is_read_as_it_was_written(command: RemotingCommand) -> None:
    (frame,) = FrameReader().feed(encode(command))
    assert decode(frame) == command


@pytest.mark.parametrize("golden", golden_frames(), ids=lambda golden: golden.name)
def test_a_frame_of_a_real_client_or_broker_is_read_and_written_with_the_same_meaning(golden: GoldenFrame) -> None:
    command = decode(golden.frame)
    assert command.serialization.name == golden.client if golden.sender == "client" else "JSON"
    assert command.code == (golden.request if golden.answer is None else golden.answer)
    assert command.is_response == (golden.answer is not None)
    assert command.version == 513
    (again,) = FrameReader().feed(encode(command))
    if command.serialization is Serialization.ROCKETMQ:
        assert again == golden.frame
    else:
        assert header_and_body(again) == header_and_body(golden.frame)


def header_and_body(frame: bytes) -> tuple[dict[str, object], bytes]:
    """A JSON header, where a table without entries says as much as none."""
    length = int.from_bytes(frame[1:4])
    header: dict[str, object] = json.loads(frame[4 : 4 + length])
    return {name: value for name, value in header.items() if value != {}}, frame[4 + length :]


def test_the_fields_of_a_real_half_and_its_commit_are_those_that_were_sent() -> None:
    sent = {(each.client, each.request): decode(each.frame) for each in golden_frames() if each.sender == "client"}
    for client in ("JSON", "ROCKETMQ"):
        half = sent[client, RequestCode.SEND_MESSAGE_V2]
        assert (half.fields["a"], half.fields["b"], half.body) == ("order-service", "Orders", b"committed|an order")
        assert "TRAN_MSG\x01true\x02" in half.fields["i"]
        end = sent[client, RequestCode.END_TRANSACTION]
        assert end.is_oneway
        assert (end.fields["commitLogOffset"], end.fields["commitOrRollback"]) == ("0", "8")


@UNHURRIED
@given(some.lists(COMMANDS, min_size=1, max_size=4), some.data())
def test_frames_are_the_same_however_the_stream_is_cut(commands: list[RemotingCommand], data: some.DataObject) -> None:
    stream = b"".join(map(encode, commands))
    reader, at = FrameReader(), 0
    found: list[RemotingCommand] = []
    while at < len(stream):
        size = data.draw(some.integers(1, len(stream) - at))
        found += map(decode, reader.feed(stream[at : at + size]))
        at += size
    assert found == commands


@UNHURRIED
@given(some.binary(max_size=60))
def test_whatever_bytes_come_they_are_a_command_or_a_malformed_frame(frame: bytes) -> None:
    complaint = ""
    try:
        decode(frame)
    except MalformedFrameError as error:
        complaint = str(error)
    assert "\n" not in complaint


@UNHURRIED
@given(COMMANDS, some.data())
def test_a_frame_whose_bytes_were_damaged_is_a_command_or_malformed(
    command: RemotingCommand, data: some.DataObject
) -> None:
    frame = bytearray(encode(command)[4:])
    at = data.draw(some.integers(0, len(frame) - 1))
    frame[at] = data.draw(some.integers(0, 255))
    with suppress(MalformedFrameError):
        read = decode(bytes(frame))
        assert decode(encode(read)[4:]) == read


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"\0\0\0\1x", "a frame of 1 bytes"),
        (b"\6\0\0\0", "a frame of 100663296 bytes"),
        (b"\xff\xff\xff\xff", "a frame of -1 bytes"),
        ((MOST_FRAME + 1).to_bytes(4), f"a frame of {MOST_FRAME + 1} bytes"),
    ],
)
def test_a_length_that_no_frame_has_is_refused_before_anything_else_is_read(data: bytes, complaint: str) -> None:
    with pytest.raises(MalformedFrameError, match=complaint):
        list(FrameReader().feed(data))


@pytest.mark.parametrize(
    ("frame", "complaint"),
    [
        (b"\0\0\0", "a frame of 3 bytes"),
        (b"\0\0\0\5{}", "a header of 5 bytes in a frame that has 2 left"),
        (b"\2\0\0\2{}", "encoding 2"),
        (b"\0\0\0\2[]", "a list; an object was expected"),
        (b"\0\0\0\x0c" + b'{"code":1e9}', "a number of 32 bits"),
        (b"\0\0\0\x10" + b'{"extFields":[]}', "extFields is a list"),
        (b"\1\0\0\2ab", "ends too soon"),
    ],
)
def test_a_header_that_is_none_is_refused_in_words(frame: bytes, complaint: str) -> None:
    with pytest.raises(MalformedFrameError, match=complaint):
        decode(frame)


def test_numbers_and_booleans_that_other_clients_send_bare_are_texts() -> None:
    header = json.dumps({"code": 11, "extFields": {"queueId": 3, "unitMode": False, "none": None}}).encode()
    assert decode(len(header).to_bytes(4) + header).fields == {"queueId": "3", "unitMode": "false"}
