"""Under the schedule of a real broker the reference broker writes, answers, asks and commits what that one did."""

from __future__ import annotations

import pytest

from conformance.golden_stores import golden_store
from reference.store.consumer_offsets import read_consumer_offsets
from reference.store.properties import CHECK_TIMES, PREPARED_QUEUE_OFFSET
from reference.system_topics import HALF_TOPIC, OP_TOPIC
from tests.reference.golden_replay import replay
from tests.reference.golden_schedule import check_requests, end_responses, golden_schedule

VERSIONS = ("4.5.1", "4.9.7", "5.3.3", "5.4.0")
STORES = [
    *((version, scenario) for version in VERSIONS for scenario in ("five", "forever", "immunity", "late", "ten")),
    ("5.3.3", "seed394"),
    ("4.9.7", "crash2"),
    ("5.3.3", "crash2"),
]


@pytest.mark.parametrize(("version", "scenario"), STORES)
def test_records_and_committed_offsets_are_those_of_the_real_broker(version: str, scenario: str) -> None:
    golden = golden_store(version, scenario)
    result = replay(golden)
    assert result.differences == []
    assert len(result.broker.message_store.records()) == golden_record_count(version, scenario)
    saved = read_consumer_offsets(golden.path)
    manager = result.broker.consumer_offset_manager
    for topic in (HALF_TOPIC, OP_TOPIC):
        assert manager.query_offset(topic, 0) == (-1 if saved.get(topic, 0) is None else saved.get(topic, 0))


def golden_record_count(version: str, scenario: str) -> int:
    return sum(1 for _ in golden_store(version, scenario).decoded_records())


@pytest.mark.parametrize(("version", "scenario"), [store for store in STORES if store[1] != "crash2"])
def test_every_check_that_a_client_received_was_sent_with_the_same_header(version: str, scenario: str) -> None:
    golden = golden_store(version, scenario)
    sent = {
        (request.tran_state_table_offset, request.commit_log_offset, request.offset_msg_id, request.transaction_id)
        for request in replay(golden).check_requests
    }
    assert sent == check_requests(golden) != set()


@pytest.mark.parametrize("version", VERSIONS)
def test_end_transactions_are_answered_with_the_same_codes_and_remarks(version: str) -> None:
    golden = golden_store(version, "late")
    answers = iter(replay(golden).responses)
    for code, remark in end_responses(golden):
        assert any(answer[0] == code and is_same_remark(answer[1], remark) for answer in answers), (code, remark)


def is_same_remark(remark: str | None, golden: str | None) -> bool:
    """Java's exception for an offset inside a record is not imitated."""
    if golden is not None and golden.startswith("java.lang.IllegalArgumentException"):
        return remark == "Find prepared transaction message failed"
    return remark == golden


def test_a_schedule_in_which_one_end_transaction_is_missing_is_told_apart() -> None:
    golden = golden_store("4.9.7", "five")
    without = [act for act in golden_schedule(golden) if not getattr(act[1], "header", None)]
    assert len(without) < len(golden_schedule(golden))
    assert "nothing instead of" in replay(golden, without).differences[0]


def test_the_copies_of_an_immune_half_name_the_first_of_their_chain() -> None:
    records = replay(golden_store("5.3.3", "immunity")).broker.message_store.records()
    chain = [record.properties for record in records if record.topic == HALF_TOPIC and record.body == b"imm-a"]
    assert [properties.get(PREPARED_QUEUE_OFFSET) for properties in chain] == [None, *["0"] * (len(chain) - 1)]
    assert [properties.get(CHECK_TIMES) for properties in chain[1:]] == [str(n) for n in range(1, len(chain))]
