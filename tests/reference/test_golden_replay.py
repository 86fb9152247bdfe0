"""Under the schedule of a real broker the reference broker answers and asks what that one did."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.broker_schedule import read_schedule
from conformance.golden import schedule_path
from conformance.golden_stores import GoldenStore, golden_store
from conformance.scheduled_run import ScheduledRun
from reference.format.properties import CHECK_TIMES, PREPARED_QUEUE_OFFSET
from reference.format.system_topics import HALF_TOPIC

VERSIONS = ("4.5.1", "4.9.7", "5.3.3", "5.4.0", "5.5.1")
STORES = [
    *((version, scenario) for version in VERSIONS for scenario in ("five", "immunity", "late")),
    *((version, scenario) for version in VERSIONS[:-1] for scenario in ("forever", "ten")),
    ("5.3.3", "seed394"),
    ("4.5.1", "mixed"),
    ("5.3.3", "mixed"),
]


def replay(golden: GoldenStore) -> ScheduledRun:
    return ScheduledRun(read_schedule(schedule_path(golden))).run()


def check_requests(golden: GoldenStore) -> set[tuple[int, int, str, str]]:
    """Queue offset, commit log offset, offset message id and unique key of each check that the client received."""
    headers = [event["ext"] or event["header"] for event in golden.driver_events() if is_check(event)]
    return {
        (int(h["tranStateTableOffset"]), int(h["commitLogOffset"]), h["offsetMsgId"], h["transactionId"])
        for h in headers
    }


def is_check(event: dict[str, Any]) -> bool:
    return bool(event["ev"] == "rpc.req" and event["code"] == 39)


@pytest.mark.parametrize(("version", "scenario"), STORES)
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
    expected = [
        (event["respCode"], event["respRemark"])
        for event in golden.driver_events()
        if event["ev"] == "rawEnd" and not event["oneway"]
    ]
    for code, remark in expected:
        assert any(answer[0] == code and is_same_remark(answer[1], remark) for answer in answers), (code, remark)


def is_same_remark(remark: str | None, golden: str | None) -> bool:
    """Java's exception for an offset inside a record is not imitated."""
    if golden is not None and golden.startswith("java.lang.IllegalArgumentException"):
        return remark == "Find prepared transaction message failed"
    return remark == golden


def test_the_copies_of_an_immune_half_name_the_first_of_their_chain() -> None:
    records = replay(golden_store("5.3.3", "immunity")).broker.message_store.records()
    chain = [record.properties for record in records if record.topic == HALF_TOPIC and record.body == b"imm-a"]
    assert [properties.get(PREPARED_QUEUE_OFFSET) for properties in chain] == [None, *["0"] * (len(chain) - 1)]
    assert [properties.get(CHECK_TIMES) for properties in chain[1:]] == [str(n) for n in range(1, len(chain))]
