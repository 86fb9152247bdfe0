"""The schedule of a golden store: what the real broker was asked, when its rounds ran, and what it wrote when."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from reference.end_transaction_request import EndTransactionRequestHeader
from reference.send_message_processor import SendMessageRequest
from reference.store.commit_log import CommitLog
from reference.store.consumer_offsets import ConsumerOffsets, read_consumer_offsets
from reference.store.offsets import CommitLogOffset, QueueOffset
from reference.store.properties import CHECK_TIMES, UNIQUE_KEY, parse_properties
from reference.system_topics import DISCARD_TOPIC, HALF_TOPIC, OP_TOPIC

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.golden_stores import GoldenStore
    from reference.store.record import Record

_LINE = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}) \w+ \S+ - (.*)")
_END = re.compile(
    r"Transaction request:.*producerGroup='?([^,']*)'?, tranStateTableOffset=(\d+), commitLogOffset=(\d+), "
    r"commitOrRollback=(\d+), fromTransactionCheck=(true|false), msgId='?([^,']*)'?, transactionId='?([^,'}]*)"
)
_BEGINS = "Begin to check prepare message, begin time:"
_STORE_IS_CLOSED = "Get message from store return null"
_STOPS = "End transaction check service thread!"
"""A stopping broker begins a last round at once, mostly on a store that is closed; the schedule ends before it."""
_BEFORE = re.compile(r"Before check, .* msgOffset=(\d+) opOffset=(\d+)")


@dataclass(frozen=True)
class Send:
    """A half is stored for the first time."""

    request: SendMessageRequest
    record: Record


@dataclass(frozen=True)
class End:
    """An END_TRANSACTION arrives."""

    header: EndTransactionRequestHeader


@dataclass(frozen=True)
class Starts:
    """The broker starts, and with it the wait for the first round."""


@dataclass(frozen=True)
class IsKilled:
    """The broker is killed; these offsets were saved last."""

    saved: ConsumerOffsets


@dataclass(frozen=True)
class RoundBegins:
    """A check round begins, from these committed offsets."""

    half_offset: int
    op_offset: int


@dataclass(frozen=True)
class RoundEnds:
    """A check round has ended."""


@dataclass(frozen=True)
class BatchServiceRuns:
    """The op batch service looked, and found nothing that is due."""


@dataclass(frozen=True)
class Stored:
    """The broker stored a record that is no first half: ``kind`` is copy, discard, op or real."""

    kind: str
    record: Record


Act = Starts | IsKilled | Send | End | RoundBegins | RoundEnds | BatchServiceRuns | Stored

_RANK: dict[type, int] = {
    IsKilled: 0,
    Starts: 0,
    RoundBegins: 0,
    End: 1,
    Send: 2,
    Stored: 2,
    BatchServiceRuns: 3,
    RoundEnds: 4,
}
"""Within one millisecond: who asks comes before what is written for it, and a round ends after its writes."""


def golden_schedule(golden: GoldenStore) -> list[tuple[int, Act]]:
    """Every act with its time in milliseconds, in the order of the broker's clock."""
    acts = [*_logged(golden), *_stored(golden), *_killed(golden)]
    return sorted(acts, key=lambda timed: (timed[0], _RANK[type(timed[1])]))


def check_requests(golden: GoldenStore) -> set[tuple[int, int, str, str]]:
    """Queue offset, commit log offset, offset message id and unique key of each check that the client received."""
    headers = [event["ext"] or event["header"] for event in golden.driver_events() if _is_request(event, 39)]
    return {
        (int(h["tranStateTableOffset"]), int(h["commitLogOffset"]), h["offsetMsgId"], h["transactionId"])
        for h in headers
    }


def _is_request(event: dict[str, Any], code: int) -> bool:
    return bool(event["ev"] == "rpc.req" and event["code"] == code)


def _logged(golden: GoldenStore) -> Iterator[tuple[int, Act]]:
    log = golden.transaction_log()
    stop = min(log.index(text) for text in (_STORE_IS_CLOSED, _STOPS) if text in log)
    log = log[: log.rindex(_BEGINS, 0, stop)]
    first_thread = "Start transaction op batch thread!"
    if first_thread not in log:
        first_thread = "Start transaction check service thread!"
    began = 0
    for line in log.splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        time, text = _milliseconds(match[1]), match[2]
        if end := _END.match(text):
            yield time, End(_header(end))
        elif text.startswith(_BEGINS):
            began = int(text.rpartition(":")[2])
        elif before := _BEFORE.match(text):
            yield began, RoundBegins(int(before[1]), int(before[2]))
        elif text.startswith("End to check"):
            yield time, RoundEnds()
        elif text == "Send op message queueIds=null":
            yield time, BatchServiceRuns()
        elif text == first_thread:
            yield time, Starts()


def _milliseconds(text: str) -> int:
    return round(datetime.fromisoformat(f"{text}+00:00").timestamp() * 1000)


def _header(match: re.Match[str]) -> EndTransactionRequestHeader:
    return EndTransactionRequestHeader(
        producer_group=match[1],
        tran_state_table_offset=QueueOffset(int(match[2])),
        commit_log_offset=CommitLogOffset(int(match[3])),
        commit_or_rollback=int(match[4]),
        from_transaction_check=match[5] == "true",
        msg_id=match[6],
        transaction_id=match[7],
    )


def _stored(golden: GoldenStore) -> Iterator[tuple[int, Act]]:
    """The writes; a batch is taken when its op message is born, perhaps a millisecond before it is stored."""
    sends = {
        dict(parse_properties(event["header"]["i"]))[UNIQUE_KEY]: event["header"]
        for event in golden.driver_events()
        if _is_request(event, 310)
    }
    for record in CommitLog.open(golden.path).records():
        if record.topic == HALF_TOPIC and CHECK_TIMES not in record.properties:
            yield record.store_timestamp, Send(_send(sends[record.properties[UNIQUE_KEY]], record), record)
        else:
            kind = {HALF_TOPIC: "copy", DISCARD_TOPIC: "discard", OP_TOPIC: "op"}.get(record.topic, "real")
            is_batch = kind == "op" and record.body.endswith(b",")
            yield record.born_timestamp if is_batch else record.store_timestamp, Stored(kind, record)


def _killed(golden: GoldenStore) -> Iterator[tuple[int, Act]]:
    for event in golden.meta()["events"]:
        if event["ev"] == "broker kill -9" and golden.at_kill is not None:
            yield event["t"], IsKilled(read_consumer_offsets(golden.at_kill))


def _send(header: dict[str, str], record: Record) -> SendMessageRequest:
    """Body and born host are not in the recorded header, only in the half."""
    return SendMessageRequest(
        topic=header["b"],
        queue_id=int(header["e"]),
        body=record.body,
        born_timestamp=int(header["g"]),
        properties=dict(parse_properties(header["i"])),
        flag=int(header["h"]),
        sys_flag=int(header["f"]),
        born_host=record.born_host,
    )


def end_responses(golden: GoldenStore) -> list[tuple[int, str | None]]:
    """Code and remark of each answer to an END_TRANSACTION that the driver waited for."""
    return [
        (event["respCode"], event["respRemark"])
        for event in golden.driver_events()
        if event["ev"] == "rawEnd" and not event["oneway"]
    ]
