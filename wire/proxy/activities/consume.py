"""AckMessage, ChangeInvisibleDuration and ForwardMessageToDeadLetterQueue.

``AckMessageActivity``, ``ChangeInvisibleDurationActivity``, ``ForwardMessageToDLQActivity``. A receipt that can't be
read, and one of another group or topic, are INVALID_RECEIPT_HANDLE here; a real proxy answers INTERNAL_SERVER_ERROR to
the one, and OK to the others, of which nothing comes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reference.client.producer_messages import RemotingError
from reference.errors import BrokerIsDownError
from wire.pop.receipt_handle import ReceiptHandleError
from wire.proxy.broker_calls import ask_broker, at_broker
from wire.proxy.protocol.messages import CALLS, AckMessageResultEntry, Code
from wire.proxy.refusal import OK, ProxyRefusal, status_of_all, status_of_broker, thrown
from wire.proxy.validation import require_group, require_invisible, require_topic
from wire.remoting.codes import RequestCode, ResponseCode

if TYPE_CHECKING:
    from wire.pop.popped import Popped
    from wire.proxy.caller import Caller
    from wire.proxy.proxy import Proxy


def ack_message(proxy: Proxy, _: Caller, request: Any) -> Any:
    """Take messages for consumed; each entry has a status of its own."""
    topic, group = require_topic(request.topic), require_group(request.group)
    if not request.entries:
        raise ProxyRefusal(Code.INTERNAL_SERVER_ERROR, "ack message result is empty")
    entries = []
    for entry in request.entries:
        status = _acked(proxy, topic, group, entry.receipt_handle)
        entries.append(
            AckMessageResultEntry(message_id=entry.message_id, receipt_handle=entry.receipt_handle, status=status)
        )
    status = status_of_all({Code(entry.status.code) for entry in entries})
    return CALLS["AckMessage"].response(status=status, entries=entries)


def change_invisible_duration(proxy: Proxy, _: Caller, request: Any) -> Any:
    """Hide a message from now on for so long; the answer has its new receipt."""
    topic, group = require_topic(request.topic), require_group(request.group)
    proxy.mode.require_broker(Code.INVALID_RECEIPT_HANDLE)
    duration = require_invisible(request.invisible_duration.ToMilliseconds())
    try:
        text = at_broker(proxy.node, lambda: proxy.pops.change(group, topic, request.receipt_handle, duration))
    except ReceiptHandleError as error:
        raise thrown(Code.INVALID_RECEIPT_HANDLE, str(error)) from None
    return CALLS["ChangeInvisibleDuration"].response(status=OK, receipt_handle=text)


def forward_to_dead_letter_queue(proxy: Proxy, _: Caller, request: Any) -> Any:
    """Store a message in the group's dead letter topic, and take it for consumed."""
    topic, group = require_topic(request.topic), require_group(request.group)
    proxy.mode.require_broker(Code.INVALID_RECEIPT_HANDLE)
    try:
        popped = at_broker(proxy.node, lambda: proxy.pops.popped_by(group, topic, request.receipt_handle))
    except ReceiptHandleError as error:
        raise thrown(Code.INVALID_RECEIPT_HANDLE, str(error)) from None
    call = CALLS["ForwardMessageToDeadLetterQueue"]
    if popped is None:  # it was settled before, and does not become a dead letter after all
        return call.response(status=status_of_broker(ResponseCode.SUCCESS, None))
    return call.response(status=bury(proxy, topic, group, popped, request.message_id))


def bury(proxy: Proxy, topic: str, group: str, popped: Popped, message_id: str) -> Any:
    """Make a dead letter of a message (``ProducerProcessor#forwardMessageToDeadLetterQueue``); what is answered."""
    fields = {
        "offset": popped.handle.commit_log_offset, "group": group, "delayLevel": -1, "originMsgId": message_id,
        "originTopic": topic, "unitMode": False, "maxReconsumeTimes": 0,
    }  # fmt: skip
    answer = ask_broker(proxy.node, RequestCode.CONSUMER_SEND_MSG_BACK, fields)
    if answer.code == ResponseCode.SUCCESS:
        _acked(proxy, topic, group, popped.text)
    return status_of_broker(answer.code, answer.remark)


def _acked(proxy: Proxy, topic: str, group: str, receipt: str) -> Any:
    try:
        proxy.mode.require_broker(Code.INVALID_RECEIPT_HANDLE)
        at_broker(proxy.node, lambda: proxy.pops.ack(group, topic, receipt))
    except ReceiptHandleError as error:
        return thrown(Code.INVALID_RECEIPT_HANDLE, str(error)).status
    except ProxyRefusal as refusal:
        return refusal.status
    except (RemotingError, BrokerIsDownError) as error:
        if (status := proxy.mode.status_without_broker("AckMessage", error)) is None:
            raise
        return status
    return OK
