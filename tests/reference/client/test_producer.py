"""The producer asks what the real Java client asked, and answers checks within the limits of its pool."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from conformance.golden_stores import GoldenStore, golden_stores
from reference.broker.broker_settings import BrokerSettings
from reference.broker.processor.send_message_processor import SendMessageRequest, SendMessageResponse
from reference.broker.response import ILLEGAL_OPERATION, NO_PERMISSION, RemotingResponse
from reference.broker.transaction.transactional_message_check_listener import CheckTransactionStateRequest
from reference.client.message_client_id_setter import MessageClientIDSetter
from reference.client.producer import TransactionMQProducer
from reference.client.producer_messages import (
    LocalTransactionState,
    Message,
    MQClientError,
    RejectedExecutionError,
    RemotingError,
)
from reference.cluster.cluster import Cluster
from reference.format.properties import parse_properties
from reference.format.record import CommitLogOffset, QueueOffset
from reference.format.system_topics import HALF_TOPIC
from reference.scenarios.scripted_application import COMMIT, ROLLBACK, UNKNOWN, ScriptedListener, send_all
from reference.simulation.scheduler import Scheduler, Sleep, Steps
from reference.simulation.virtual_clock import VirtualClock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reference.broker.processor.end_transaction_processor import EndTransactionRequestHeader

OWN = ("TAGS", "KEYS", "WAIT", "TRAN_MSG", "PGROUP", "UNIQ_KEY")
STORES = [golden for golden in golden_stores() if golden.scenario != "wide"]


def acts(golden: GoldenStore) -> Iterator[dict[str, Any]]:
    for path in golden.path.glob("driver.jsonl*"):
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        yield from (json.loads(line) for line in text.decode().splitlines())


def sends(golden: GoldenStore) -> Iterator[dict[str, Any]]:
    """The headers of its client's SEND_MESSAGE_V2 requests that make halves."""
    for act in acts(golden):
        if act["ev"] == "rpc.req" and act["code"] == 310 and act["header"]:
            yield act["header"]


class Recording:
    """A network that notes requests and answers as told."""

    def __init__(self, *answers: RemotingResponse | None) -> None:
        self.requests: list[SendMessageRequest] = []
        self.ends: list[EndTransactionRequestHeader] = []
        self._answers = list(answers)

    def send_message(self, request: SendMessageRequest) -> Steps[SendMessageResponse]:
        yield None
        self.requests.append(request)
        answer = self._answers.pop(0) if self._answers else None
        if answer is None:
            message = "no answer"
            raise RemotingError(message)
        return SendMessageResponse(answer)

    def end_transaction_oneway(self, header: EndTransactionRequestHeader) -> None:
        self.ends.append(header)


class Listener:
    """Answers at once, or by an exception."""

    def __init__(self, state: LocalTransactionState | None, check_ms: int = 0) -> None:
        self.executed = 0
        self._state = state
        self._check_ms = check_ms

    def execute_local_transaction(self, message: Message, transaction_id: str) -> Steps[LocalTransactionState]:
        yield None
        self.executed += 1
        return self._answer()

    def check_local_transaction(self, request: CheckTransactionStateRequest) -> Steps[LocalTransactionState]:
        yield Sleep(self._check_ms)
        return self._answer()

    def _answer(self) -> LocalTransactionState:
        if self._state is None:
            raise ValueError
        return self._state


def producer(api: Recording, listener: Listener, **options: int) -> TransactionMQProducer:
    clock = VirtualClock(1_000_000)
    return TransactionMQProducer("g", listener, api, clock, MessageClientIDSetter(clock), **options)


def run(steps: Steps[object]) -> None:
    scheduler = Scheduler(1, VirtualClock())
    scheduler.start("client", steps)
    scheduler.run(lambda: not scheduler.threads)


def check(half: int) -> CheckTransactionStateRequest:
    at = CommitLogOffset(half * 400)
    return CheckTransactionStateRequest("g", QueueOffset(half), at, "", f"K{half}", f"K{half}", "T", 0, 0, 0, {}, b"")


@pytest.mark.parametrize("golden", STORES, ids=lambda golden: golden.name)
def test_a_request_has_the_properties_of_the_real_clients_in_their_order(golden: GoldenStore) -> None:
    headers = list(sends(golden))
    assert headers
    for header in headers:
        real = dict(parse_properties(header["i"]))
        users = {key: value for key, value in real.items() if key not in OWN}
        api = Recording()
        mine = producer(api, Listener(UNKNOWN))
        mine.group = real["PGROUP"]
        message = Message(header["b"], b"", real.get("TAGS", ""), real.get("KEYS", ""), int(header["h"]), users)
        with pytest.raises(MQClientError):
            run(mine.send_message_in_transaction(message))
        request = api.requests[0]
        assert list(request.properties) == list(real)
        assert {**request.properties, "UNIQ_KEY": real["UNIQ_KEY"]} == real
        assert request.sys_flag == int(header["f"])
        assert len(request.properties["UNIQ_KEY"]) == len(real["UNIQ_KEY"]) == 32


@pytest.mark.parametrize("golden", STORES, ids=lambda golden: golden.name)
def test_a_unique_key_of_the_real_client_is_made_again_from_its_parts(golden: GoldenStore) -> None:
    keys = [(dict(parse_properties(header["i"]))["UNIQ_KEY"], int(header["g"])) for header in sends(golden)]
    for key, born in keys:
        raw = bytes.fromhex(key)
        month = datetime.fromtimestamp(born // 1000, UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        made_at = int(month.timestamp()) * 1000 + int.from_bytes(raw[10:14])
        assert born - 60_000 < made_at <= born
        address = ".".join(str(byte) for byte in raw[:4])
        ids = MessageClientIDSetter(VirtualClock(made_at), address, int.from_bytes(raw[4:6]), int.from_bytes(raw[6:10]))
        made = [ids.create_uniq_id() for _ in range(int.from_bytes(raw[14:]) + 1)]
        assert made[-1] == key


def test_queues_are_taken_in_turn() -> None:
    api = Recording(*[RemotingResponse(NO_PERMISSION)] * 6)
    mine = producer(api, Listener(COMMIT), first_queue=2)
    for _ in range(2):
        with pytest.raises(MQClientError):
            run(mine.send_message_in_transaction(Message("T", b"")))
    assert [request.queue_id for request in api.requests] == [3, 0, 1, 2, 3, 0]


def test_what_can_not_be_sent_is_tried_three_times_with_one_key_and_runs_nothing() -> None:
    api, listener = Recording(None, RemotingResponse(NO_PERMISSION), None), Listener(COMMIT)
    with pytest.raises(MQClientError, match="send message Exception"):
        run(producer(api, listener).send_message_in_transaction(Message("T", b"")))
    assert len({request.properties["UNIQ_KEY"] for request in api.requests}) == 1
    assert (len(api.requests), listener.executed, api.ends) == (3, 0, [])


def test_an_answer_that_no_retry_can_change_is_the_last() -> None:
    api = Recording(RemotingResponse(ILLEGAL_OPERATION))
    with pytest.raises(MQClientError, match="604"):
        run(producer(api, Listener(COMMIT)).send_message_in_transaction(Message("T", b"")))
    assert len(api.requests) == 1


def test_an_exception_of_the_application_is_unknown() -> None:
    cluster = Cluster(1, "5.3.3", BrokerSettings())
    listener = Listener(None)
    mine = cluster.producer("g", listener)
    cluster.run_program("one", send_all(cluster, mine, [Message("T", b"body")]))
    cluster.scheduler.run(lambda: len(mine.log) >= 8)
    ends = [act["header"] for act in mine.log if act["ev"] == "rpc.req"]
    assert [end["commitOrRollback"] for end in ends][:2] == ["0", "0"]
    assert [act["ev"] for act in mine.log][:3] == ["execLocal", "localException", "rpc.req"]
    assert "checkException" in [act["ev"] for act in mine.log]


@pytest.mark.parametrize(("most_threads", "taken"), [(1, [0, 1, 2]), (2, [0, 3, 1, 2])])
def test_a_check_too_many_starts_a_thread_or_is_rejected(most_threads: int, taken: list[int]) -> None:
    api = Recording()
    mine = producer(
        api,
        Listener(COMMIT, check_ms=100),
        check_thread_pool_min_size=1,
        check_thread_pool_max_size=most_threads,
        check_request_hold_max=2,
    )
    scheduler = Scheduler(1, VirtualClock())
    rejected = []
    for half in range(5):
        try:
            mine.check_transaction_state(check(half), scheduler.start)
        except RejectedExecutionError:
            rejected.append(half)
    assert [request.tran_state_table_offset for request in mine.waiting] == [1, 2]
    scheduler.run(lambda: not scheduler.threads)
    answered = [end.tran_state_table_offset for end in api.ends]
    assert sorted(answered) == sorted(taken)
    assert set(range(5)) - set(answered) == set(rejected)
    assert all(end.from_transaction_check for end in api.ends)
    mine.check_transaction_state(check(9), scheduler.start)
    assert len(scheduler.threads) == 1


def test_an_answer_that_was_lost_leaves_twin_halves() -> None:
    cluster = Cluster(1, "5.3.3", BrokerSettings())
    listener = ScriptedListener(lambda _body: ROLLBACK, lambda _body, _asked: ROLLBACK)
    mine = cluster.producer("g", listener)
    real, calls = cluster.send_message, 0

    def lose_the_first_answer(request: SendMessageRequest) -> Steps[SendMessageResponse]:
        nonlocal calls
        calls += 1
        response = yield from real(request)
        if calls == 1:
            message = "the answer is lost"
            raise RemotingError(message)
        return response

    mine._api.send_message = lose_the_first_answer  # type: ignore[method-assign]
    cluster.run_program("one", send_all(cluster, mine, [Message("T", b"body")]))
    cluster.scheduler.run(lambda: cluster.is_idle and calls == 2)
    assert cluster.broker is not None
    halves = [record for record in cluster.broker.message_store.records() if record.topic == HALF_TOPIC]
    assert len(halves) == 2
    assert len({half.properties["UNIQ_KEY"] for half in halves}) == 1
    assert len(listener.executed) == 1
