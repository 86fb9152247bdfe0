"""A real store whose first file retention has deleted: what the audit says of it, and what the whole log would show."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import conformance
from model_check.trace_validation.observed import EventKind
from spark_trace_analysis.audit.audit_store import audit_store
from tests.spark_trace_analysis.audit.both_audits import assert_both

TRIMMED = Path(conformance.__file__).parent / "trimmed" / "5.3.3" / "gone_half"


def test_a_half_that_was_read_for_two_others_is_told_from_one_over_which_the_offset_went_back() -> None:
    """B50: one committed half, checked once for each half of the deleted file."""
    found = assert_both(TRIMMED, audit_store(TRIMMED))
    (row,) = found.transactions
    assert (row.state, row.resembles, row.deliveries, row.put_backs) == ("doubled", ("B50",), 3, 2)
    with gzip.open(TRIMMED / "driver.jsonl.gz", "rt", encoding="utf-8") as lines:
        events = [json.loads(line) for line in lines]
    delivered = [event["msg"]["msgId"] for event in events if event["ev"] == "delivered"]
    assert delivered == [row.unique_key] * 3
    with gzip.open(TRIMMED / "transaction.log.gz", "rt", encoding="utf-8") as log:
        checked = [line for line in log if f"realMsgId={row.unique_key}" in line]
    assert ["the offset=1 " in line or "the offset=2 " in line for line in checked] == [True, True]


def test_the_halves_of_the_deleted_file_are_lost(tmp_path: Path) -> None:
    """B55; and nothing but deletion explains what the broker did with the half behind them."""
    whole = tmp_path / "whole"
    shutil.copytree(TRIMMED, whole)
    (first, *_) = sorted((whole / "before_deletion" / "commitlog").iterdir())
    first.rename(whole / "commitlog" / first.name)
    found = audit_store(whole)
    assert [row.state for row in found.transactions] == ["delivered", "lost", "lost", "doubled"]
    assert found.trace.accepted is False
    divergence = found.trace.verdict and found.trace.verdict.divergence
    assert divergence
    assert (divergence.event.kind, divergence.event.half) == (EventKind.PUT_BACK, 4)
