"""The Java client's transaction producer (``TransactionMQProducer``, ``DefaultMQProducerImpl``).

It sends a half, runs the local transaction, says its outcome one-way, and answers checks out of a small thread pool.
What waits is a generator of :mod:`reference.simulation.scheduler`; the network behind it is given from outside.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

from reference.broker.processor.end_transaction_processor import EndTransactionRequestHeader
from reference.broker.processor.send_message_processor import SendMessageRequest, SendMessageResponse
from reference.broker.response import NO_PERMISSION, SERVICE_NOT_AVAILABLE, SYSTEM_ERROR
from reference.client.producer_messages import (
    LocalTransactionState,
    Message,
    MQClientAPI,
    MQClientError,
    RejectedExecutionError,
    RemotingError,
    SendStatus,
    TransactionListener,
)
from reference.format.properties import PRODUCER_GROUP, SMALL_CAPACITY, TRANSACTION_PREPARED, UNIQUE_KEY
from reference.format.record import TRANSACTION_PREPARED_TYPE
from reference.format.stored_message import decode_message_id
from reference.java import hash_map_order
from reference.store.delay_levels import DELAY_TIME_LEVEL

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.broker.transaction.transactional_message_check_listener import CheckTransactionStateRequest
    from reference.client.message_client_id_setter import MessageClientIDSetter
    from reference.simulation.scheduler import Steps
    from reference.simulation.virtual_clock import VirtualClock

_RETRY_RESPONSE_CODES: Final = {17, SERVICE_NOT_AVAILABLE, SYSTEM_ERROR, NO_PERMISSION, 204, 205}
"""``DefaultMQProducer.retryResponseCodes``"""

_TOPIC_QUEUES: Final = 4
"""``defaultTopicQueueNums``: how many write queues each topic has."""

_ATTEMPTS: Final = 3
"""One more than ``retryTimesWhenSendFailed``: a half that was stored though its answer was lost gets a twin (B17)."""


class TransactionMQProducer:
    """One producer.

    Parameters
    ----------
    first_queue
        At which the round of queues begins; the Java client draws it (``ThreadLocalIndex``).
    check_thread_pool_min_size, check_thread_pool_max_size, check_request_hold_max
        ``checkThreadPoolMinSize``, ``checkThreadPoolMaxSize`` and ``checkRequestHoldMax``.
    """

    def __init__(
        self,
        group: str,
        listener: TransactionListener,
        api: MQClientAPI,
        clock: VirtualClock,
        ids: MessageClientIDSetter,
        *,
        first_queue: int = 0,
        check_thread_pool_min_size: int = 1,
        check_thread_pool_max_size: int = 1,
        check_request_hold_max: int = 2_000,
    ) -> None:
        self.group = group
        self.log: list[dict[str, Any]] = []
        """Its requests and the checks that it got, in the form of ``driver.jsonl`` (conformance/golden/README.md)."""
        self.waiting: deque[CheckTransactionStateRequest] = deque()
        """The checks that no thread of the pool has taken yet."""
        self._listener = listener
        self._api = api
        self._clock = clock
        self._ids = ids
        self._index = first_queue
        self._min_threads = check_thread_pool_min_size
        self._max_threads = check_thread_pool_max_size
        self._hold_max = check_request_hold_max
        self._threads = 0

    # --- sending ------------------------------------------------------------------------------------------------------

    def send_message_in_transaction(self, message: Message) -> Steps[None]:
        """Send a half, run the local transaction, say its outcome (``DefaultMQProducerImpl#sendMessageInTransaction``).

        Raises
        ------
        MQClientError
            The half could not be sent; the local transaction was not run.
        """
        message.properties.pop(DELAY_TIME_LEVEL, None)
        message.properties[TRANSACTION_PREPARED] = "true"
        message.properties[PRODUCER_GROUP] = self.group
        response = yield from self._send(message)
        state = LocalTransactionState.ROLLBACK_MESSAGE
        if SendStatus(response.response.code) is SendStatus.SEND_OK:
            self._note("execLocal", transactionId=message.properties[UNIQUE_KEY])
            try:
                state = yield from self._listener.execute_local_transaction(message, message.properties[UNIQUE_KEY])
            except Exception as error:  # noqa: BLE001 - whatever an application raises
                self._note("localException", error=repr(error))
                state = LocalTransactionState.UNKNOW
        if response.record is None:
            message_text = f"the broker answered {response.response} without an offset"
            raise MQClientError(message_text)
        self._end_transaction(
            EndTransactionRequestHeader(
                producer_group=self.group,
                tran_state_table_offset=response.record.queue_offset,
                commit_log_offset=decode_message_id(response.msg_id),
                commit_or_rollback=state.value,
                msg_id=message.properties[UNIQUE_KEY],
                transaction_id=message.properties[UNIQUE_KEY],
            )
        )

    def _send(self, message: Message) -> Steps[SendMessageResponse]:
        """Try up to three times, each the next queue, one unique key (``DefaultMQProducerImpl#sendDefaultImpl``)."""
        problem = "no route"
        for _ in range(_ATTEMPTS):
            self._index += 1
            if UNIQUE_KEY not in message.properties:
                message.properties[UNIQUE_KEY] = self._ids.create_uniq_id()
            keys = hash_map_order(tuple(message.properties), SMALL_CAPACITY)
            request = SendMessageRequest(
                topic=message.topic,
                queue_id=self._index % _TOPIC_QUEUES,
                body=message.body,
                born_timestamp=self._clock.now,
                properties={key: message.properties[key] for key in keys},
                flag=message.flag,
                sys_flag=TRANSACTION_PREPARED_TYPE,
            )
            try:
                response = yield from self._api.send_message(request)
            except RemotingError as error:
                problem = str(error)
                continue
            code = response.response.code
            if code in {status.value for status in SendStatus}:
                return response
            problem = f"CODE: {code} DESC: {response.response.remark}"
            if code not in _RETRY_RESPONSE_CODES:
                break
        message_text = f"send message Exception: {problem}"
        raise MQClientError(message_text)

    def _end_transaction(self, header: EndTransactionRequestHeader) -> None:
        """``DefaultMQProducerImpl#endTransaction``: nobody waits for an answer."""
        self._note("rpc.req", code=37, oneway=True, header=_header_fields(header))
        self._api.end_transaction_oneway(header)

    # --- being asked --------------------------------------------------------------------------------------------------

    def check_transaction_state(
        self, request: CheckTransactionStateRequest, start_thread: Callable[[str, Steps[None]], object]
    ) -> None:
        """Hand a check to the pool, as its ``execute`` does (``DefaultMQProducerImpl#checkTransactionState``).

        A new thread is started below the pool's minimum, and up to its maximum once as many checks wait as may.

        Raises
        ------
        RejectedExecutionError
            There is no room; the check goes unanswered.
        """
        if self._threads < self._min_threads:
            self._start_thread(request, start_thread)
        elif len(self.waiting) < self._hold_max:
            self.waiting.append(request)
        elif self._threads < self._max_threads:
            self._start_thread(request, start_thread)
        else:
            self._note("check.rejected", msg={"queueOffset": int(request.tran_state_table_offset)})
            message = f"the check of half {request.tran_state_table_offset} is rejected: {self._hold_max} wait"
            raise RejectedExecutionError(message)

    def _start_thread(
        self, request: CheckTransactionStateRequest, start_thread: Callable[[str, Steps[None]], object]
    ) -> None:
        self._threads += 1
        start_thread(f"{self.group} check {self._threads}", self._run_checks(request))

    def _run_checks(self, request: CheckTransactionStateRequest) -> Steps[None]:
        """One thread of the pool; it ends when nothing waits."""
        yield from self._answer(request)
        while self.waiting:
            yield from self._answer(self.waiting.popleft())
        self._threads -= 1

    def _answer(self, request: CheckTransactionStateRequest) -> Steps[None]:
        self._note("check", id=request.msg_id, msg={"queueOffset": int(request.tran_state_table_offset)})
        try:
            state = yield from self._listener.check_local_transaction(request)
        except Exception as error:  # noqa: BLE001 - whatever an application raises
            self._note("checkException", error=repr(error))
            state = LocalTransactionState.UNKNOW
        self._end_transaction(
            EndTransactionRequestHeader(
                producer_group=self.group,
                tran_state_table_offset=request.tran_state_table_offset,
                commit_log_offset=request.commit_log_offset,
                commit_or_rollback=state.value,
                from_transaction_check=True,
                msg_id=request.msg_id or request.offset_msg_id,
                transaction_id=request.transaction_id,
            )
        )
        yield None

    def _note(self, event: str, **what: object) -> None:
        self.log.append({"seq": len(self.log), "t": self._clock.now, "ev": event, "who": self.group, **what})


def _header_fields(header: EndTransactionRequestHeader) -> dict[str, str]:
    return {
        "commitLogOffset": str(header.commit_log_offset),
        "commitOrRollback": str(header.commit_or_rollback),
        "fromTransactionCheck": "true" if header.from_transaction_check else "false",
        "msgId": header.msg_id,
        "producerGroup": header.producer_group,
        "tranStateTableOffset": str(header.tran_state_table_offset),
        "transactionId": header.transaction_id or "",
    }
