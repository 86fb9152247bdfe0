"""A conversation of a real client with a real broker, as it is kept: without what clients say over and over."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wire.remoting.codes import RequestCode, ResponseCode
from wire.remoting.command import RemotingCommand, decode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.wire.clients.relay import Seen

CONVERSATIONS: Final = Path(__file__).parent / "conversations"
"""One file an encoding of the client's headers: a row a frame, of :class:`Seen`."""

_OVER_AND_OVER: Final = {
    RequestCode.GET_ROUTEINFO_BY_TOPIC,
    RequestCode.GET_CONSUMER_LIST_BY_GROUP,
    RequestCode.UPDATE_CONSUMER_OFFSET,
    RequestCode.LOCK_BATCH_MQ,
    RequestCode.QUERY_CONSUMER_OFFSET,
}
_MOST_OF_THEM: Final = 3


@dataclass(frozen=True, slots=True)
class Turn:
    """A request with its answer, if it has one, or what the broker asks of a client.

    Attributes
    ----------
    connection
        On which of the client's connections.
    is_from_client
        Who asks.
    """

    connection: int
    is_from_client: bool
    request: RemotingCommand
    answer: RemotingCommand | None


def shortened(seen: Iterable[Seen]) -> list[Seen]:
    """The frames up to the crash, without repetitions, and without pulls that found nothing."""
    frames = list(_until_the_crash(seen))
    commands = [decode(each.frame) for each in frames]
    answers = {
        (each.connection, command.opaque): command
        for each, command in zip(frames, commands, strict=True)
        if not each.is_from_client and command.is_response
    }
    said: Counter[tuple[int, int]] = Counter()
    heartbeats: set[tuple[int, bytes]] = set()
    answered: set[tuple[int, int]] = set()
    found = []
    for each, command in zip(frames, commands, strict=True):
        place = each.connection, command.opaque
        if each.is_from_client:
            answer = answers.get(place)
            said[each.connection, command.code] += 1
            is_repeated = command.code in _OVER_AND_OVER and said[each.connection, command.code] > _MOST_OF_THEM
            is_empty = command.code == RequestCode.PULL_MESSAGE and (answer is None or not answer.body)
            is_known = command.code == RequestCode.HEART_BEAT and (each.connection, command.body) in heartbeats
            if is_repeated or is_empty or is_known:
                continue
            heartbeats.add((each.connection, command.body))
            answered.add(place)
        elif command.is_response and place not in answered:
            continue
        found.append(each)
    return found


def _until_the_crash(seen: Iterable[Seen]) -> Iterable[Seen]:
    for each in seen:
        if each.is_from_client and b"after-crash" in each.frame:
            return
        yield each


def write_conversation(path: Path, seen: Iterable[Seen]) -> None:
    """Keep a conversation; the same frames give the same bytes."""
    rows = [json.dumps([each.connection, each.server, each.is_from_client, each.frame.hex()]) for each in seen]
    path.write_bytes(gzip.compress("\n".join(rows).encode(), mtime=0))


def read_turns(path: Path) -> list[Turn]:
    """The turns of a conversation, in the order in which they began."""
    rows = [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    frames = [(connection, is_from_client, decode(bytes.fromhex(text))) for connection, _, is_from_client, text in rows]
    answers = {
        (n, command.opaque): command for n, is_client, command in frames if not is_client and command.is_response
    }
    return [
        Turn(n, is_client, command, answers.get((n, command.opaque)) if is_client else None)
        for n, is_client, command in frames
        if not command.is_response
    ]


def delivered(turns: Iterable[Turn]) -> set[tuple[str, int, str, int]]:
    """What its consumers pulled: topic, queue, key and reconsume times of each message."""
    from wire.remoting.messages import decode_records

    return {
        (record.topic, record.queue_id, record.properties["KEYS"], record.reconsume_times)
        for turn in turns
        if turn.request.code == RequestCode.PULL_MESSAGE and turn.answer is not None
        if turn.answer.code == ResponseCode.SUCCESS
        for record in decode_records(turn.answer.body)
    }


def client_log(seen: Iterable[Seen]) -> str:
    """What the producers of a conversation sent and were asked, in the form of a golden store's ``driver.jsonl``."""
    rows: list[dict[str, object]] = []
    for each in seen:
        command = decode(each.frame)
        if each.is_from_client and command.code == RequestCode.END_TRANSACTION and not command.is_response:
            rows.append({"t": each.at_ms, "ev": "rpc.req", "code": command.code, "header": command.fields})
        elif not each.is_from_client and command.code == RequestCode.CHECK_TRANSACTION_STATE:
            place = int(command.fields["tranStateTableOffset"])
            rows.append({"t": each.at_ms, "ev": "check", "msg": {"queueOffset": place}})
    return "".join(f"{json.dumps(row)}\n" for row in rows)
