"""Requests to a broker and its answers, in words that can be compared.

A stage has one topic and one producer group; its messages are called by letters.
"""

from __future__ import annotations

import json
import secrets
import socket
import struct
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from reference.format.properties import PRODUCER_GROUP, TRANSACTION_PREPARED, UNIQUE_KEY
from reference.format.system_topics import CHECK_GROUP, DISCARD_TOPIC, HALF_TOPIC, OP_TOPIC
from spark_trace_analysis.records.transaction_record import parse_op_body
from wire.client.channel import Address, BrokerChannel, NoAnswerError
from wire.client.queries import check_offset, end_of_queue, pull_all, release_and_settings
from wire.client.transactions import HalfName, end_transaction_fields, half_of_check, heartbeat_body
from wire.probe.producers import PREFIX, now_ms
from wire.remoting.codes import RequestCode, ResponseCode
from wire.remoting.command import RemotingCommand, decode
from wire.remoting.frames import FrameReader
from wire.remoting.messages import decode_records, properties_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reference.format.record import LogRecord
    from wire.probe.player import Operator

_PATIENCE_S: Final = 20.0
"""So long an answer may take."""
_NO_ANSWER_S: Final = 3.0
"""So long one is waited for where none may come."""
_A_LOOK_S: Final = 0.1
NO_ANSWER: Final = "no answer"
CLOSED: Final = "connection closed"
_SETTLING_S: Final = 0.5
_SHOWING_S: Final = 3.0


@dataclass(slots=True)
class Stage:
    """One broker, one topic, one group of producers."""

    address: Address
    longest_s: float
    """How many seconds anything may take that the broker does by itself."""
    operator: Operator | None = None
    """Who can end the broker's process, if somebody can."""
    name: str = field(default_factory=lambda: f"{PREFIX}{secrets.token_hex(4)}")
    _channel: BrokerChannel | None = None
    _keys: dict[str, str] = field(default_factory=dict)
    _halves: dict[str, HalfName] = field(default_factory=dict)
    _checks: list[tuple[RemotingCommand, LogRecord]] = field(default_factory=list)
    _begins: dict[str, int] = field(default_factory=dict)
    _others: list[BrokerChannel] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._begins = {topic: end_of_queue(self.channel, topic) for topic in (HALF_TOPIC, OP_TOPIC, DISCARD_TOPIC)}

    @property
    def channel(self) -> BrokerChannel:
        """The connection, made anew where the broker has ended it."""
        if self._channel is None or not self._channel.is_open:
            self._channel = BrokerChannel(self.address, _PATIENCE_S)
        return self._channel

    def close(self) -> None:
        """End all connections."""
        for channel in (self._channel, *self._others):
            if channel is not None:
                channel.close()

    # --- requests -----------------------------------------------------------------------------------------------------

    def ask(self, code: int, fields: Mapping[str, object], body: bytes = b"", *names: str) -> str:
        """Any request; the answer's code and the fields that are named, or that the connection has ended."""
        return _in_words(_answer(self.channel, code, fields, body), *names)

    def connect(self) -> str:
        """Make the group known by a heartbeat."""
        return self._heartbeat(self.channel, f"probe@{self.name}", self.name)

    def connect_as_another(self) -> str:
        """A heartbeat of another group with a client id of its own on the same connection."""
        return self._heartbeat(self.channel, f"another@{self.name}", f"{self.name}_other")

    def connect_again(self) -> str:
        """A second connection, with a heartbeat of another group and the client id of the first."""
        self._others.append(BrokerChannel(self.address, _PATIENCE_S))
        return self._heartbeat(self._others[-1], f"probe@{self.name}", f"{self.name}_other")

    def state_of_first(self) -> str:
        """Whether the first connection is open still, half a second later."""
        time.sleep(_SETTLING_S)
        return "open" if self._channel is not None and self._channel.is_open else "closed by the broker"

    def restart(self) -> str:
        """Stop the broker as its operator would, and start it again."""
        if self.operator is None:
            return "nobody can stop it"
        self.close()
        self.operator.restart()
        return "started"

    def ask_full_header(self) -> str:
        """A request in a JSON header as Java's client writes it."""
        return self._ask_in_json({"serializeTypeCurrentRPC": "JSON"})

    def ask_bare_header(self) -> str:
        """The same without the name of the encoding, as the Go client writes it."""
        return self._ask_in_json({})

    def pull(self, **changed: object) -> str:
        """A pull of the half topic as every consumer sends it, but for what is changed; None leaves a field out."""
        fields = {
            "consumerGroup": self.name, "topic": HALF_TOPIC, "queueId": 0, "queueOffset": 0, "maxMsgNums": 1,
            "sysFlag": 4, "commitOffset": 0, "suspendTimeoutMillis": 0, "subscription": "*", "subVersion": 0,
        }  # fmt: skip
        return self.ask(RequestCode.PULL_MESSAGE, {**fields, **changed})

    def name_of_timeout(self) -> str:
        """The name of ``transactionTimeOut`` in GET_BROKER_CONFIG."""
        settings = release_and_settings(self.channel)[1] or ()
        keys = {setting.key for setting in settings}
        return next((name for name in ("transactionTimeOut", "transactionTimeout") if name in keys), "not told")

    def release(self) -> str:
        """The release that it names in the header of an answer."""
        return release_and_settings(self.channel)[0] or "none: the number is a snapshot's"

    @staticmethod
    def _heartbeat(channel: BrokerChannel, client_id: str, group: str) -> str:
        return _in_words(_answer(channel, RequestCode.HEART_BEAT, {}, heartbeat_body(client_id, group)))

    def _ask_in_json(self, more: Mapping[str, str]) -> str:
        fields = {"topic": HALF_TOPIC, "queueId": "0"}
        header = {"code": 30, "extFields": fields, "flag": 0, "language": "GO", "opaque": 1, "version": 317, **more}
        text = json.dumps(header).encode()
        try:
            with socket.create_connection((self.address.host, self.address.port), _PATIENCE_S) as connection:
                connection.sendall(struct.pack(">ii", 4 + len(text), len(text)) + text)
                reader = FrameReader()
                while data := connection.recv(1 << 16):
                    for frame in reader.feed(data):
                        return _in_words(decode(frame))
        except TimeoutError:
            return NO_ANSWER
        except OSError:
            return CLOSED
        return CLOSED

    def send(self, letter: str, properties: Mapping[str, str] | None = None, **changed: object) -> str:
        """Send a half; fields of SEND_MESSAGE_V2 may be other ones, None leaves one out."""
        key = self._keys.setdefault(letter, f"{self.name}_{letter}_{secrets.token_hex(4)}")
        own = {TRANSACTION_PREPARED: "true", PRODUCER_GROUP: self.name, UNIQUE_KEY: key, "WAIT": "true"}
        fields = {
            "a": self.name, "b": self.name, "c": "TBW102", "d": 4, "e": 0, "f": 4, "g": now_ms(), "h": 0,
            "i": properties_text({**own, **(properties or {})}), "j": 0, "k": False, "l": 0, "m": False, **changed,
        }  # fmt: skip
        answer = _answer(self.channel, RequestCode.SEND_MESSAGE_V2, fields, b"halfcheck")
        if isinstance(answer, RemotingCommand) and answer.code == ResponseCode.SUCCESS:
            offset, place = int(answer.fields["queueOffset"]), answer.fields["msgId"]
            self._halves[letter] = HalfName(offset, int(place[-16:], 16), key, place)
        return _in_words(answer)

    def end(self, letter: str, outcome: int, *, answers_check: bool = False, **changed: object) -> str:
        """END_TRANSACTION of the half of a message, as it was last known, and its answer."""
        half = self._halves[letter]
        fields = end_transaction_fields(self.name, half, outcome, answers_check=answers_check)
        return self.ask(RequestCode.END_TRANSACTION, {**fields, **changed})

    def end_delivered(self, letter: str, outcome: int) -> str:
        """END_TRANSACTION that names the delivered message in place of its half."""
        message = self.delivered(letter)[-1]
        return self.end(
            letter, outcome, tranStateTableOffset=message.queue_offset, commitLogOffset=message.physical_offset
        )

    def end_and_wait(self, letter: str, outcome: int) -> str:
        """END_TRANSACTION on a connection of its own, where no answer may come."""
        fields = end_transaction_fields(self.name, self._halves[letter], outcome)
        with BrokerChannel(self.address, _NO_ANSWER_S) as channel:
            return _in_words(_answer(channel, RequestCode.END_TRANSACTION, fields))

    # --- what shows ---------------------------------------------------------------------------------------------------

    def await_that(self, has_come: Callable[[], bool], seconds: float | None = None) -> bool:
        """Wait for what the broker does by itself; False if it has not come in time."""
        end = time.monotonic() + (self.longest_s if seconds is None else seconds)
        while not has_come():
            if time.monotonic() > end:
                return False
            time.sleep(_A_LOOK_S)
        return True

    def halves(self, letter: str) -> list[LogRecord]:
        """The copies of a message in the half queue."""
        return self._of(letter, HALF_TOPIC)

    def await_delivery(self, letter: str) -> str:
        """Wait until a message is in its own topic."""
        came = self.await_that(lambda: bool(self.delivered(letter)), _SHOWING_S)
        return "delivered" if came else "not delivered"

    def delivered(self, letter: str) -> list[LogRecord]:
        """The messages in the real topic."""
        key = self._keys[letter]
        with suppress(NoAnswerError):
            return [each for each in pull_all(self.channel, self.name, self.name, 0) if _key(each) == key]
        return []

    def discarded(self, letter: str) -> list[LogRecord]:
        """The messages in the discard topic."""
        return self._of(letter, DISCARD_TOPIC)

    def ops(self) -> list[LogRecord]:
        """The op messages since the stage began."""
        return pull_all(self.channel, self.name, OP_TOPIC, self._begins[OP_TOPIC])

    def op_names(self, letter: str, copy: int = 0) -> bool:
        """Whether an op message names a copy of a message."""
        halves = self.halves(letter)
        named = {half for record in self.ops() for half in parse_op_body(record.body) or ()}
        return len(halves) > copy and halves[copy].queue_offset in named

    def where(self, letter: str) -> str:
        """Where a message is now; a queue may be filled a little later than the log."""
        self.await_that(lambda: bool(self._places(letter)), _SHOWING_S)
        return " and ".join(self._places(letter)) or "nowhere"

    def _places(self, letter: str) -> list[str]:
        found = (
            (self.halves(letter), "in the half topic"),
            (self.delivered(letter), "in its own topic"),
            (self.discarded(letter), "in the discard topic"),
        )
        return [place for records, place in found if records]

    def checks(self, letter: str) -> list[tuple[RemotingCommand, LogRecord]]:
        """The checks of a message that have come; the last one names the half from now on."""
        while (request := self.channel.asked()) is not None:
            if request.code == RequestCode.CHECK_TRANSACTION_STATE and (found := decode_records(request.body)):
                self._checks.append((request, found[0]))
        mine = [each for each in self._checks if _key(each[1]) == self._keys[letter]]
        if mine:
            self._halves[letter] = half_of_check(mine[-1][0])
        return mine

    def await_check(self, letter: str, number: int = 1) -> str:
        """Wait for a check of a message."""
        came = self.await_that(lambda: len(self.checks(letter)) >= number)
        return "a check" if came else "no check"

    def offset_of(self, topic: str) -> int | None:
        """Where the check service stands, counted from where the queue ended when the stage began."""
        offset = check_offset(self.channel, topic)
        return None if offset is None else offset - self._begins[topic]

    def length_of(self, topic: str) -> int:
        """How many messages a queue has, counted from where it ended when the stage began."""
        return end_of_queue(self.channel, topic) - self._begins[topic]

    def move_check_service(self, topic: str, by: int) -> str:
        """UPDATE_CONSUMER_OFFSET for the check service itself: only ever sent to a broker that was started for this."""
        at = check_offset(self.channel, topic) or 0
        fields = {"consumerGroup": CHECK_GROUP, "topic": topic, "queueId": 0, "commitOffset": max(at + by, 0)}
        return self.ask(RequestCode.UPDATE_CONSUMER_OFFSET, fields)

    def _of(self, letter: str, topic: str) -> list[LogRecord]:
        key = self._keys[letter]
        return [each for each in pull_all(self.channel, self.name, topic, self._begins[topic]) if _key(each) == key]


def _answer(
    channel: BrokerChannel, code: int, fields: Mapping[str, object], body: bytes = b""
) -> RemotingCommand | str:
    """The answer to a request, or why there is none."""
    try:
        return channel.ask(code, fields, body)
    except NoAnswerError:
        return NO_ANSWER if channel.is_open else CLOSED


def _in_words(answer: RemotingCommand | str, *names: str) -> str:
    if isinstance(answer, str):
        return answer
    named = [f"{name}={answer.fields.get(name, '')}" for name in names]
    return ", ".join([f"code {answer.code}", *named])


def properties_in_words(records: Sequence[LogRecord], *names: str) -> str:
    """Which of some properties the last of some records has, with their values."""
    if not records:
        return "no record"
    there = [f"{name}={records[-1].properties[name]}" for name in names if name in records[-1].properties]
    return ", ".join(there) or f"without {' and '.join(names)}"


def _key(record: LogRecord) -> str:
    return record.properties.get(UNIQUE_KEY, "")
