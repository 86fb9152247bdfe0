"""EndTransaction (``EndTransactionActivity``, ``TransactionProcessor``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from wire.client.transactions import COMMIT, ROLLBACK, UNKNOWN, HalfName, end_transaction_fields
from wire.proxy.protocol.messages import CALLS, Code, TransactionResolution, TransactionSource
from wire.proxy.refusal import OK, ProxyRefusal, thrown
from wire.proxy.validation import require_topic
from wire.remoting.codes import RequestCode

if TYPE_CHECKING:
    from wire.proxy.caller import Caller
    from wire.proxy.proxy import Proxy

_OUTCOMES: Final = {TransactionResolution.COMMIT: COMMIT, TransactionResolution.ROLLBACK: ROLLBACK}


def end_transaction(proxy: Proxy, caller: Caller, request: Any) -> Any:
    """Send the broker an outcome one-way; OK says that it was sent, and nothing of what the broker did.

    The entry is taken out by whichever END comes first. Without one that lives, the answer is INTERNAL_SERVER_ERROR,
    and nothing is sent.
    """
    topic, transaction_id = require_topic(request.topic), request.transaction_id
    if not transaction_id.strip():
        raise ProxyRefusal(Code.INVALID_TRANSACTION_ID, "transaction id cannot be empty")
    data = proxy.transactions.take(topic, transaction_id)
    if data is None:
        raise thrown(Code.INTERNAL_SERVER_ERROR, "cannot found transaction data")
    half = HalfName(data.queue_offset, data.commit_log_offset, transaction_id, request.message_id)
    fields = end_transaction_fields(
        topic,
        half,
        _OUTCOMES.get(request.resolution, UNKNOWN),
        answers_check=request.source == TransactionSource.SOURCE_SERVER_CHECK,
    )
    proxy.mode.tell(RequestCode.END_TRANSACTION, fields, caller.address)
    return CALLS["EndTransaction"].response(status=OK)
