"""One request or answer, and its bytes in a frame (``RemotingCommand``, ``RocketMQSerializable``).

A frame is its length (4 bytes, of what follows), the length of the header with the header's encoding in the upper byte,
the header, and a body that is nobody's business here.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from wire.errors import MalformedFrameError
from wire.remoting.codes import LANGUAGES, Serialization

if TYPE_CHECKING:
    from collections.abc import Mapping

RESPONSE_FLAG: Final = 1
ONEWAY_FLAG: Final = 2

_HEAD = struct.Struct(">hbhii")
_INT = struct.Struct(">i")
_SHORT = struct.Struct(">h")
_LENGTHS = struct.Struct(">iI")
_MOST_HEADER = 0xFFFFFF
_NUMBERS: Final = ("code", "flag", "opaque", "version")
_INT_RANGE = 1 << 31
_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_from_json = json.JSONDecoder().decode


def java_text(value: object) -> str:
    """A field's value as Java writes it.

    Examples
    --------
    >>> java_text(True), java_text(7)
    ('true', '7')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class RemotingCommand:
    """A request or an answer."""

    code: int
    """``RequestCode`` or ``ResponseCode``; any number may come."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """``extFields``, all of them texts."""
    body: bytes = b""
    opaque: int = 0
    """By which the sender of a request knows its answer."""
    flag: int = 0
    remark: str | None = None
    language: str = "JAVA"
    version: int = 0
    """Of the sender; `version` is a place in ``MQVersion``."""
    serialization: Serialization = Serialization.JSON
    """How the header was written, or is to be."""

    @property
    def is_response(self) -> bool:
        """Whether it answers a request (``RemotingCommand#isResponseType``)."""
        return bool(self.flag & RESPONSE_FLAG)

    @property
    def is_oneway(self) -> bool:
        """Whether nobody waits for an answer (``#isOnewayRPC``)."""
        return bool(self.flag & ONEWAY_FLAG)


def encode(command: RemotingCommand) -> bytes:
    """The whole frame of a command (``RemotingCommand#encode``); `MalformedFrameError` if its header does not fit."""
    header = _encode_rocketmq(command) if command.serialization is Serialization.ROCKETMQ else _encode_json(command)
    if len(header) > _MOST_HEADER:
        message = f"a header of {len(header)} bytes; a frame has room for {_MOST_HEADER}"
        raise MalformedFrameError(message)
    word = command.serialization << 24 | len(header)
    return _LENGTHS.pack(4 + len(header) + len(command.body), word) + header + command.body


def decode(frame: bytes) -> RemotingCommand:
    """The command of a frame without its first four bytes (``RemotingCommand#decode``), or `MalformedFrameError`."""
    if len(frame) < 4:
        message = f"a frame of {len(frame)} bytes; one has at least 4"
        raise MalformedFrameError(message)
    word = int.from_bytes(frame[:4])
    length, kind = word & _MOST_HEADER, word >> 24
    if 4 + length > len(frame):
        message = f"a header of {length} bytes in a frame that has {len(frame) - 4} left"
        raise MalformedFrameError(message)
    header, body = frame[4 : 4 + length], frame[4 + length :]
    if kind == Serialization.JSON:
        return _decode_json(header, body)
    if kind == Serialization.ROCKETMQ:
        return _decode_rocketmq(header, body)
    message = f"a header of encoding {kind}; there are 0 for JSON and 1 for ROCKETMQ"
    raise MalformedFrameError(message)


# --- JSON -------------------------------------------------------------------------------------------------------------


def _encode_json(command: RemotingCommand) -> bytes:
    content: dict[str, Any] = {"code": command.code}
    if command.fields:
        content["extFields"] = dict(command.fields)
    content |= {"flag": command.flag, "language": command.language, "opaque": command.opaque}
    if command.remark is not None:
        content["remark"] = command.remark
    content |= {"serializeTypeCurrentRPC": "JSON", "version": command.version}
    return _to_json(content).encode("utf-8", "replace")


def _decode_json(header: bytes, body: bytes) -> RemotingCommand:
    try:
        content = _from_json(header.decode())
    except (ValueError, RecursionError) as error:
        message = f"a JSON header that can't be read: {error}"
        raise MalformedFrameError(message) from None
    if not isinstance(content, dict):
        message = f"a JSON header that is a {type(content).__name__}; an object was expected"
        raise MalformedFrameError(message)
    numbers = {name: _number(content, name) for name in _NUMBERS}
    fields = content.get("extFields")
    if fields is None:
        fields = {}
    elif not isinstance(fields, dict):
        message = f"extFields is a {type(fields).__name__}; an object was expected"
        raise MalformedFrameError(message)
    remark, language = content.get("remark"), content.get("language", "JAVA")
    return RemotingCommand(
        fields={
            key: value if type(value) is str else _text(value) for key, value in fields.items() if value is not None
        },
        body=body,
        remark=None if remark is None else _text(remark),
        language=_text(language),
        serialization=Serialization.JSON,
        **numbers,
    )


def _number(content: dict[str, Any], name: str) -> int:
    """A number of a header; one that is missing is 0, as in Java."""
    value = content.get(name, 0)
    if not isinstance(value, int) or not -_INT_RANGE <= value < _INT_RANGE:
        message = f"{name} is {str(value)[:40]!r} in a header; a number of 32 bits was expected"
        raise MalformedFrameError(message)
    return int(value)


def _text(value: object) -> str:
    """A field as the text that Java would make of it; clients of other languages send numbers and booleans bare."""
    return value if isinstance(value, str) else _to_json(value)


# --- ROCKETMQ ---------------------------------------------------------------------------------------------------------


def _encode_rocketmq(command: RemotingCommand) -> bytes:
    """``RocketMQSerializable#rocketMQProtocolEncode``."""
    language = LANGUAGES.index(command.language) if command.language in LANGUAGES else LANGUAGES.index("OTHER")
    remark = (command.remark or "").encode("utf-8", "replace")
    try:
        head = _HEAD.pack(command.code, language, command.version, command.opaque, command.flag)
        fields = b"".join(_encode_pair(key, value) for key, value in command.fields.items())
    except struct.error as error:
        message = f"a header that does not fit into its binary form: {error}"
        raise MalformedFrameError(message) from None
    return b"".join((head, _INT.pack(len(remark)), remark, _INT.pack(len(fields)), fields))


def _encode_pair(key: str, value: str) -> bytes:
    raw_key, raw_value = key.encode("utf-8", "replace"), value.encode("utf-8", "replace")
    return _SHORT.pack(len(raw_key)) + raw_key + _INT.pack(len(raw_value)) + raw_value


def _decode_rocketmq(header: bytes, body: bytes) -> RemotingCommand:
    """``RocketMQSerializable#rocketMQProtocolDecode``; a text of length 0 is null there and empty here."""
    try:
        code, language, version, opaque, flag = _HEAD.unpack_from(header)
        remark, at = _take(header, _HEAD.size, _INT)
        (length,) = _INT.unpack_from(header, at)
        at += _INT.size
        end = at + length
        if length < 0 or end > len(header):
            message = f"extFields of {length} bytes in a header that has {len(header) - at} left"
            raise MalformedFrameError(message)
        fields = {}
        while at < end:
            key, at = _take(header, at, _SHORT)
            fields[key], at = _take(header, at, _INT)
    except struct.error as error:
        message = f"a binary header of {len(header)} bytes that ends too soon: {error}"
        raise MalformedFrameError(message) from None
    return RemotingCommand(
        code=code,
        fields=fields,
        body=body,
        opaque=opaque,
        flag=flag,
        remark=remark or None,
        language=LANGUAGES[language] if 0 <= language < len(LANGUAGES) else "OTHER",
        version=version,
        serialization=Serialization.ROCKETMQ,
    )


def _take(header: bytes, at: int, form: struct.Struct) -> tuple[str, int]:
    (length,) = form.unpack_from(header, at)
    at += form.size
    if length < 0 or at + length > len(header):
        message = f"a text of {length} bytes in a header that has {len(header) - at} left"
        raise MalformedFrameError(message)
    try:
        return header[at : at + length].decode(), at + length
    except UnicodeDecodeError as error:
        message = f"a text that is not UTF-8 in a binary header: {error}"
        raise MalformedFrameError(message) from None
