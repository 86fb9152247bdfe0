"""The Java client of the broker's release as Python sees it: one process of ``Driver.java``, a call a command."""

from __future__ import annotations

import queue
import threading
import time
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Final, cast
from urllib.parse import parse_qsl, urlencode

from real_brokers.errors import RealBrokerError
from reference.client.producer_messages import LocalTransactionState

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping

COMMIT: Final = LocalTransactionState.COMMIT_MESSAGE
ROLLBACK: Final = LocalTransactionState.ROLLBACK_MESSAGE
UNKNOWN: Final = LocalTransactionState.UNKNOW

_ANSWER: Final = "= "


class SendRefusedError(RealBrokerError):
    """A half was not sent: by the client, or because the broker refused it."""


@dataclass(frozen=True, slots=True)
class ClientPlan:
    """A producer's decisions on one message."""

    local: LocalTransactionState
    answers: tuple[LocalTransactionState, ...] = ()
    """To its checks, in their order; the last one repeats. None: the outcome of the local transaction."""

    @classmethod
    def of(cls, local: LocalTransactionState, *answers: LocalTransactionState) -> ClientPlan:
        """A plan, its answers one after the other."""
        return cls(local, answers)


@dataclass(frozen=True, slots=True)
class ClientMessage:
    """A message to send in a transaction."""

    topic: str
    body: str | bytes
    """The part before its first ``|`` is the key by which checks find its plan again, up to 40 characters."""
    tags: str = ""
    keys: str = ""
    identifier: str = ""
    """Its name in ``driver.jsonl``; the body's key if it is empty."""
    flag: int = 0
    waits_for_store: bool = True
    properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def raw_body(self) -> bytes:
        """The body's bytes."""
        return self.body.encode() if isinstance(self.body, str) else self.body

    @property
    def key(self) -> str:
        """The key of its plan."""
        return self.raw_body.decode(errors="replace")[:40].split("|")[0]


@dataclass(frozen=True, slots=True)
class ClientHalf:
    """Where the broker has put a half, as its answer says."""

    queue_offset: int
    commit_log_offset: int
    transaction_id: str


@dataclass(frozen=True, slots=True)
class Checks:
    """How often a message was checked, and the half that the last check named."""

    count: int
    last: ClientHalf | None


class Client:
    """One process of the Java client.

    Parameters
    ----------
    process
        ``Driver.java``, led over its standard input and output.
    seconds
        How long it may take to answer what does not wait for a broker.
    """

    def __init__(self, process: subprocess.Popen[bytes], seconds: float = 60) -> None:
        self._process = process
        self._to, self._from = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        self._seconds = seconds
        self._answers: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    # --- commands -----------------------------------------------------------------------------------------------------

    def producer(self, name: str, group: str) -> None:
        """Start a transaction producer; `name` stands for it from then on."""
        self._ask("producer", name=name, group=group)

    def expect(self, message: ClientMessage, plan: ClientPlan, *, is_answered: bool = False) -> None:
        """Set what checks of a message are answered from now on, also of one that another process has sent."""
        self._ask("expect", key=message.key, answered=is_answered, **_fields(message, plan))

    def send(self, producer: str, message: ClientMessage, plan: ClientPlan) -> ClientHalf:
        """Send a half, run its local transaction, say the outcome; `SendRefusedError` if the half was not stored."""
        given = _message_fields(producer, message)
        try:
            answer = self._ask("send", **_fields(message, plan), **given)
        except _CommandError as error:
            raise SendRefusedError(str(error)) from error
        return _half(answer, answer["transaction_id"])

    def send_plain(self, producer: str, message: ClientMessage) -> None:
        """Send a message without a transaction; `SendRefusedError` if it was not stored."""
        try:
            self._ask("send_plain", **_message_fields(producer, message))
        except _CommandError as error:
            raise SendRefusedError(str(error)) from error

    def end(
        self,
        producer: str,
        label: str,
        half: ClientHalf,
        outcome: LocalTransactionState | int,
        *,
        group: str,
        from_check: bool = False,
        oneway: bool = False,
    ) -> tuple[int, str] | None:
        """Send END_TRANSACTION by hand; gives code and remark of the answer, None for a one-way request."""
        answer = self._ask(
            "end",
            producer=producer,
            label=label,
            oneway=oneway,
            producerGroup=group,
            tranStateTableOffset=half.queue_offset,
            commitLogOffset=half.commit_log_offset,
            commitOrRollback=outcome if isinstance(outcome, int) else outcome.value,
            fromTransactionCheck=from_check,
            msgId=half.transaction_id,
            transactionId=half.transaction_id,
        )
        return (int(answer["code"]), answer["remark"]) if answer else None

    def request(self, producer: str, code: int, body: str, header: Mapping[str, str] | None = None) -> tuple[int, str]:
        """Send another request to the broker; gives code and remark of the answer."""
        given = {f"h.{name}": value for name, value in (header or {}).items()}
        answer = self._ask("request", producer=producer, code=code, body=body.encode().hex(), **given)
        return int(answer["code"]), answer["remark"]

    def checks(self, message: ClientMessage) -> Checks:
        """How often a message was checked so far."""
        answer = self._ask("checks", key=message.key)
        return Checks(int(answer["count"]), _half(answer, "") if "queue_offset" in answer else None)

    def wait_for_checks(self, message: ClientMessage, count: int, seconds: float = 120) -> None:
        """Wait until a message was checked so often; `RealBrokerError` if it was not in that time."""
        end = time.monotonic() + seconds
        while self.checks(message).count < count:
            if time.monotonic() > end:
                text = f"{message.key} was not checked {count} times in {seconds:.0f} s"
                raise RealBrokerError(text)
            time.sleep(0.02)

    def settle(self, seconds: float, check_interval_ms: int, check_max: int) -> None:
        """Wait until every plan is answered, or is checked for the last time, and then until nothing happens."""
        most_ms = round(seconds * 1_000)
        self._ask(
            "settle", seconds + 2 * self._seconds, most_ms=most_ms, interval_ms=check_interval_ms, check_max=check_max
        )

    def drain(self, *topics: str) -> int:
        """Pull all that a consumer gets of some topics; gives how many messages that were."""
        return int(self._ask("drain", topics=",".join(topics))["delivered"])

    def note(self, event: str, **what: object) -> None:
        """Write an event of the scenario's own to ``driver.jsonl``."""
        self._ask("note", event=event, **what)

    def shut_down(self, producer: str) -> None:
        """Stop a producer in an orderly way."""
        self._ask("shutdown", name=producer)

    def leave(self, producer: str, *topics: str) -> None:
        """Stop a producer, pull all that a consumer gets of some topics, and end the process."""
        self.shut_down(producer)
        self.drain(*topics)
        self.note("end")
        self.halt()

    def halt(self) -> None:
        """End the process at once: no producer says good-bye."""
        self._write("halt")
        self._process.wait(self._seconds)

    # --- the pipe -----------------------------------------------------------------------------------------------------

    def _ask(self, verb: str, patience: float | None = None, /, **fields: object) -> dict[str, str]:
        seconds = self._seconds if patience is None else patience
        self._write(f"{verb} {urlencode({name: _text(value) for name, value in fields.items()})}")
        try:
            line = self._answers.get(timeout=seconds)
        except queue.Empty:
            message = f"the client did not answer {verb!r} in {seconds:.0f} s"
            raise RealBrokerError(message) from None
        if line is None:
            message = f"the client ended at {verb!r}; its last words are in client.err and driver.jsonl"
            raise RealBrokerError(message)
        word, _, rest = line.partition(" ")
        answer = dict(parse_qsl(rest, keep_blank_values=True))
        if word != "ok":
            message = f"{verb}: {answer.get('error')} {answer.get('cause')}"
            raise _CommandError(message)
        return answer

    def _write(self, line: str) -> None:
        try:
            self._to.write(f"{line}\n".encode())
            self._to.flush()
        except BrokenPipeError:
            message = f"the client is gone and does not take {line.split(' ', maxsplit=1)[0]!r}"
            raise RealBrokerError(message) from None

    def _read(self) -> None:
        for raw in self._from:
            line = raw.decode(errors="replace").rstrip("\n")
            if line.startswith(_ANSWER):
                self._answers.put(line.removeprefix(_ANSWER))
        self._answers.put(None)


class _CommandError(RealBrokerError):
    """The client threw at a command."""


def _fields(message: ClientMessage, plan: ClientPlan) -> dict[str, object]:
    return {
        "id": message.identifier or message.key,
        "local": plan.local.name,
        "answers": ",".join(state.name for state in plan.answers),
    }


def _message_fields(producer: str, message: ClientMessage) -> dict[str, object]:
    given: dict[str, object] = {f"p.{name}": value for name, value in message.properties.items()}
    given |= {"tags": message.tags} if message.tags else {}
    given |= {"keys": message.keys} if message.keys else {}
    given |= {"topic": message.topic, "body": message.raw_body.hex(), "flag": message.flag}
    return given | {"wait": message.waits_for_store, "producer": producer}


def _half(answer: Mapping[str, str], transaction_id: str) -> ClientHalf:
    return ClientHalf(int(answer["queue_offset"]), int(answer["commit_log_offset"]), transaction_id)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
