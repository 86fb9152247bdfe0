"""Checks that a store counts and nothing answers are said by group; what was answered, or never asked, is not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from spark_trace_analysis.audit.audit import UnansweredChecks, unanswered_checks
from tests.reference.format.store_writer import StoreWriter
from tests.spark_trace_analysis.audit.both_audits import assert_both

if TYPE_CHECKING:
    from pathlib import Path


def test_what_was_checked_and_never_answered_is_counted_by_group(tmp_path: Path) -> None:
    writer = StoreWriter()
    for number, group in enumerate(("g", "stock-group", "stock-group")):
        writer.discard(writer.put_back(writer.put_back(writer.half(f"K{number}", group=group, body=b"%d" % number))))
    writer.commit(writer.put_back(writer.half("K3", body=b"3")))
    writer.op(writer.put_back(writer.half("K4", body=b"4")).offset)
    immune = writer.half("K5", body=b"5", CHECK_IMMUNITY_TIME_IN_SECONDS="100")
    writer.discard(writer.put_back(writer.put_back(immune, immune=True), immune=True))
    writer.half("K6", body=b"6")
    audit = assert_both(writer.write(tmp_path / "s", conf="transactionCheckMax=2\n"))
    assert unanswered_checks(audit.transactions) == [
        UnansweredChecks("g", 2, ("K0",)),
        UnansweredChecks("stock-group", 4, ("K1", "K2")),
    ]
    writer.put_back(writer.half("K7", group="unknown", body=b"7"))
    of_a_copy = assert_both(writer.write(tmp_path / "copy", half=99, conf="transactionCheckMax=2\n"))
    assert [one.group for one in unanswered_checks(of_a_copy.transactions)] == ["g", "stock-group"]
    assert audit.to_json()["unanswered_checks"][1] == {
        "group": "stock-group",
        "checks": 4,
        "keys": ["K1", "K2"],
        "received": None,
    }


def test_what_reached_a_client_is_told_where_its_log_lies_in_the_store(tmp_path: Path) -> None:
    writer = StoreWriter()
    writer.discard(writer.put_back(writer.put_back(writer.half("K0"))))
    writer.commit(writer.put_back(writer.half("K1", body=b"1")))
    store = writer.write(tmp_path / "s", conf="transactionCheckMax=2\n")
    asked = [json.dumps({"ev": "check", "msg": {"queueOffset": offset}}) for offset in (2, 4, 4)]
    (store / "driver.jsonl").write_text("\n".join(asked))
    audit = assert_both(store)
    assert unanswered_checks(audit.transactions, audit.received_checks) == [UnansweredChecks("g", 2, ("K0",), 1)]
    assert audit.to_json()["unanswered_checks"][0]["received"] == 1
    (store / "driver.jsonl").write_text("no log")
    assert assert_both(store).received_checks is None
