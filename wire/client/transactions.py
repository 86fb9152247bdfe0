"""A transactional producer's requests: heartbeats, halves, END_TRANSACTION (``MQClientAPIImpl``).

What is not answered, or not as it should be, is a `NoAnswerError`.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reference.broker.processor.end_transaction_processor import TRANSACTION_NOT_TYPE, TRANSACTION_ROLLBACK
from reference.format.properties import PRODUCER_GROUP, TRANSACTION_PREPARED, UNIQUE_KEY
from reference.format.record import TRANSACTION_COMMIT
from wire.client.channel import BrokerChannel, NoAnswerError
from wire.remoting.codes import RequestCode, ResponseCode
from wire.remoting.messages import properties_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wire.remoting.command import RemotingCommand

UNKNOWN: Final = TRANSACTION_NOT_TYPE
COMMIT: Final = TRANSACTION_COMMIT
ROLLBACK: Final = TRANSACTION_ROLLBACK
"""The outcomes that END_TRANSACTION carries."""

_PREPARED: Final = 4
_AUTO_CREATED_TOPIC: Final = "TBW102"


@dataclass(frozen=True, slots=True)
class HalfName:
    """The name of a half in END_TRANSACTION: `tranStateTableOffset`, `commitLogOffset`, and the client's ids."""

    queue_offset: int
    commit_log_offset: int
    unique_key: str
    message_id: str


def heartbeat(channel: BrokerChannel, client_id: str, group: str) -> None:
    """Let the broker know a producer's group on this connection (``ClientManageProcessor#heartBeat``)."""
    _require(channel.ask(RequestCode.HEART_BEAT, {}, heartbeat_body(client_id, group)), "the heartbeat", channel)


def heartbeat_body(client_id: str, group: str) -> bytes:
    """The body of a producer's heartbeat (``HeartbeatData``)."""
    heartbeat = {"clientID": client_id, "producerDataSet": [{"groupName": group}], "consumerDataSet": []}
    return json.dumps(heartbeat).encode()


def send_half(
    channel: BrokerChannel,
    group: str,
    topic: str,
    unique_key: str,
    body: bytes,
    properties: Mapping[str, str] | None = None,
    born_ms: int | None = None,
) -> HalfName:
    """Send a transactional message (SEND_MESSAGE_V2) to queue 0 of a topic, which is made if it is not there.

    Its ``bornTimestamp`` is now, if it is not given.
    """
    fields = half_fields(group, topic, unique_key, properties, born_ms)
    return half_in_answer(channel.ask(RequestCode.SEND_MESSAGE_V2, fields, body), channel, topic, unique_key)


def half_fields(
    group: str, topic: str, unique_key: str, properties: Mapping[str, str] | None = None, born_ms: int | None = None
) -> dict[str, str | int | bool]:
    """The fields of SEND_MESSAGE_V2 for a half to queue 0 of a topic; born now, if that is not given."""
    own = {TRANSACTION_PREPARED: "true", PRODUCER_GROUP: group, UNIQUE_KEY: unique_key, "WAIT": "true"}
    born = int(time.time() * 1_000) if born_ms is None else born_ms
    return {
        "a": group, "b": topic, "c": _AUTO_CREATED_TOPIC, "d": 4, "e": 0, "f": _PREPARED, "g": born, "h": 0,
        "i": properties_text({**own, **(properties or {})}), "j": 0, "k": False, "l": 0, "m": False,
    }  # fmt: skip


def half_in_answer(answer: RemotingCommand, channel: BrokerChannel, topic: str, unique_key: str) -> HalfName:
    """Where the broker has stored a half, as its answer says; `NoAnswerError` if it has not."""
    _require(answer, f"a half for {topic}", channel)
    answered = answer.fields
    try:
        return HalfName(int(answered["queueOffset"]), int(answered["msgId"][-16:], 16), unique_key, answered["msgId"])
    except (KeyError, ValueError) as error:
        message = f"{channel.address}: the answer to a send lacks {error}; expected queueOffset and a msgId"
        raise NoAnswerError(message) from error


def end_transaction(
    channel: BrokerChannel, group: str, half: HalfName, outcome: int, *, answers_check: bool = False
) -> int:
    """Send END_TRANSACTION and wait for its answer, whose code is returned; UNKNOWN is sent one-way.

    Nobody answers UNKNOWN (``EndTransactionProcessor#processRequest``).
    """
    fields = end_transaction_fields(group, half, outcome, answers_check=answers_check)
    if outcome == UNKNOWN:
        channel.send_oneway(RequestCode.END_TRANSACTION, fields)
        return int(ResponseCode.SUCCESS)
    return channel.ask(RequestCode.END_TRANSACTION, fields).code


def end_transaction_fields(
    group: str, half: HalfName, outcome: int, *, answers_check: bool = False
) -> dict[str, str | int | bool]:
    """The fields of END_TRANSACTION (``EndTransactionRequestHeader``)."""
    return {
        "producerGroup": group,
        "tranStateTableOffset": half.queue_offset,
        "commitLogOffset": half.commit_log_offset,
        "commitOrRollback": outcome,
        "fromTransactionCheck": answers_check,
        "msgId": half.message_id,
        "transactionId": half.unique_key,
    }


def half_of_check(request: RemotingCommand) -> HalfName:
    """The copy that a CHECK_TRANSACTION_STATE names."""
    fields = request.fields
    try:
        return HalfName(
            int(fields["tranStateTableOffset"]),
            int(fields["commitLogOffset"]),
            fields.get("transactionId", ""),
            fields.get("msgId", ""),
        )
    except (KeyError, ValueError) as error:
        message = f"a check that names no half: {error}"
        raise NoAnswerError(message) from error


def _require(answer: RemotingCommand, what: str, channel: BrokerChannel) -> None:
    if answer.code != ResponseCode.SUCCESS:
        remark = next(iter((answer.remark or "").splitlines()), "no remark")
        message = f"{channel.address}: {what} is answered {answer.code}: {remark}"
        raise NoAnswerError(message)
