"""ReceiveMessage (``ReceiveMessageActivity``, ``ReceiveMessageResponseStreamWriter``)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reference.client.producer_messages import RemotingError
from reference.errors import BrokerIsDownError
from reference.format.properties import UNIQUE_KEY
from wire.pop.popped import Popped
from wire.pop.receipt_handle import ReceiptHandleError
from wire.proxy.activities.consume import bury
from wire.proxy.broker_calls import at_broker
from wire.proxy.converted_message import converted
from wire.proxy.limits import (
    LEAST_INVISIBLE_MS,
    LEAST_POLLING_MS,
    MOST_POLLING_MS,
    POLLING_RESERVE_MS,
    RENEWED_INVISIBLE_MS,
)
from wire.proxy.protocol.messages import CALLS, Code, FilterType, Status
from wire.proxy.refusal import OK, ProxyRefusal
from wire.proxy.validation import require_group, require_invisible, require_topic
from wire.requests.tag_expression import tags_in

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from wire.proxy.caller import Caller
    from wire.proxy.proxy import Proxy

_GIVEN_BACK_MS: Final = 1_000
"""``NACK_INVISIBLE_TIME``: what could not be sent to the client comes again so much later."""

_KNOWS_POLLING_CODE: Final = "5.0.3"


@dataclass(frozen=True, slots=True)
class _Pop:
    """What a client asks for."""

    topic: str
    group: str
    most: int
    invisible_ms: int
    tags: frozenset[str] | None
    is_ordered: bool
    owner: str
    polling_ms: float
    most_attempts: int


async def receive_message(proxy: Proxy, caller: Caller, request: Any) -> AsyncGenerator[Any, None]:
    """Messages for a consumer, with a status before and a time behind them; it waits where none is there.

    How long that is, is in real time, as the client's patience is; how long the messages are hidden is in the broker's.
    """
    response, handed = CALLS["ReceiveMessage"].response, list[Popped]()
    try:
        pop = _asked(proxy, caller, request)
        found, is_found = await _polled(proxy, pop)
        handed = list(found)
        if found:
            yield response(status=OK)
        else:
            text = "no match message" if is_found else "no new message"
            yield response(status=Status(code=Code.MESSAGE_NOT_FOUND, message=text))
        for popped in found:
            message = converted(popped.record, pop.topic, receipt=popped.text, attempt=popped.attempt)
            yield response(message=message)
            handed.remove(popped)
    except ProxyRefusal as refusal:
        yield response(status=refusal.status)
    except (RemotingError, BrokerIsDownError) as error:
        if (status := proxy.mode.status_without_broker("ReceiveMessage", error)) is None:
            raise
        yield response(status=status)
    finally:
        for popped in handed if proxy.node.is_up else ():
            _give_back(proxy, pop.topic, popped)
    end = response()
    end.delivery_timestamp.FromMilliseconds(proxy.node.clock.now)
    yield end


def _asked(proxy: Proxy, caller: Caller, request: Any) -> _Pop:
    """What is asked for, or why it is refused."""
    settings = proxy.complete_settings(caller.client_id)
    if settings is None:
        raise ProxyRefusal(Code.INTERNAL_SERVER_ERROR, "cannot find client settings for this client")
    asked_ms = request.long_polling_timeout.ToMilliseconds() if request.HasField("long_polling_timeout") else None
    polling_ms = _polling_ms(caller, settings, asked_ms)
    topic, group = require_topic(request.message_queue.topic), require_group(request.group)
    invisible_ms = RENEWED_INVISIBLE_MS
    if not request.auto_renew:
        invisible_ms = require_invisible(request.invisible_duration.ToMilliseconds(), LEAST_INVISIBLE_MS)
    if request.filter_expression.type == FilterType.SQL:
        raise ProxyRefusal(Code.NOT_IMPLEMENTED, "filters by SQL are not implemented here; filter by tags")
    if proxy.mode.topic_config(topic) is None:
        raise proxy.mode.no_topic_to_pop(topic)
    if request.auto_renew and proxy.channel(caller.client_id) is None:
        raise ProxyRefusal(Code.MESSAGE_NOT_FOUND, f"The client [{caller.client_id}] is disconnected.")
    return _Pop(
        topic,
        group,
        request.batch_size,
        invisible_ms,
        tags_in(request.filter_expression.expression),
        settings.subscription.fifo,
        proxy.receipt_owner(caller.client_id) if request.auto_renew else "",
        polling_ms,
        settings.backoff_policy.max_attempts,
    )


def _polling_ms(caller: Caller, settings: Any, asked_ms: int | None) -> float:
    """For how long it may wait; a refusal if the client is too impatient for the shortest time."""
    remaining = caller.remaining_ms
    if asked_ms is None:
        half = settings.request_timeout.ToMilliseconds() / 2
        asked_ms = MOST_POLLING_MS if remaining is None else int(remaining - half)
    polling_ms = float(min(max(asked_ms, LEAST_POLLING_MS), MOST_POLLING_MS))
    if remaining is None or polling_ms <= remaining:
        return polling_ms
    if remaining < LEAST_POLLING_MS:
        code = Code.ILLEGAL_POLLING_TIME if caller.version >= _KNOWS_POLLING_CODE else Code.BAD_REQUEST
        message = "The deadline time remaining is not enough for polling, please check network condition"
        raise ProxyRefusal(code, message)
    return remaining - POLLING_RESERVE_MS


async def _polled(proxy: Proxy, pop: _Pop) -> tuple[list[Popped], bool]:
    """The messages, and whether some were found; it waits for the first one."""
    end = time.monotonic() + pop.polling_ms / 1_000
    while True:
        found = at_broker(
            proxy.node,
            lambda: proxy.pops.pop(
                pop.group,
                pop.topic,
                pop.most,
                pop.invisible_ms,
                pop.tags,
                is_ordered=pop.is_ordered,
                owner=pop.owner,
            ),
        )
        if found:
            return [each for each in found if not _is_buried(proxy, pop, each)], True
        left = end - time.monotonic()
        if left <= 0:
            return [], False
        await proxy.pops.wait(left)
        if not proxy.node.is_up:
            message = "the broker's process died while a pop waited"
            raise RemotingError(message)


def _is_buried(proxy: Proxy, pop: _Pop, popped: Popped) -> bool:
    """Make a dead letter of what was delivered too often, instead of delivering it (``PopMessageResultFilterImpl``)."""
    if popped.attempt <= pop.most_attempts:
        return False
    bury(proxy, pop.topic, pop.group, popped, popped.record.properties.get(UNIQUE_KEY, ""))
    return True


def _give_back(proxy: Proxy, topic: str, popped: Popped) -> None:
    try:
        at_broker(proxy.node, lambda: proxy.pops.change(popped.queue.group, topic, popped.text, _GIVEN_BACK_MS))
    except ReceiptHandleError:
        return
