"""Each rule recognises the defect of its id in a store made for it, and is silent on the store beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.rules.resembles import RULES
from tests.reference.format.store_writer import StoreWriter
from tests.spark_trace_analysis.audit.both_audits import NO_TRACE, assert_both

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CONF = "transactionCheckMax=3\ntransactionCheckInterval=1000\ntransactionTimeOut=1000\n"
IMMUNITY = "100"


def op_was_there_before_the_put_back(writer: StoreWriter) -> None:
    half = writer.half()
    writer.commit(half)
    writer.commit(writer.put_back(half))


def op_came_after_the_put_back(writer: StoreWriter) -> None:
    half = writer.half()
    writer.deliver(half)
    copy = writer.put_back(half)
    writer.op(half.offset)
    writer.commit(copy)


def op_was_there_before_the_immunity_put_back(writer: StoreWriter) -> None:
    half = writer.half(CHECK_IMMUNITY_TIME_IN_SECONDS=IMMUNITY)
    writer.commit(half)
    writer.commit(writer.put_back(writer.put_back(half, immune=True)))


def op_never_came(writer: StoreWriter) -> None:
    half = writer.half()
    writer.deliver(half)
    writer.commit(writer.put_back(half))


def only_immunity_put_backs(writer: StoreWriter) -> None:
    copy = writer.half(CHECK_IMMUNITY_TIME_IN_SECONDS=IMMUNITY)
    for _ in range(3):
        copy = writer.put_back(copy, immune=True)
    writer.discard(copy)


def checked_in_vain(writer: StoreWriter) -> None:
    copy = writer.half()
    for _ in range(3):
        copy = writer.put_back(copy)
    writer.discard(copy)


def resolved_then_discarded(writer: StoreWriter) -> None:
    copy = writer.put_back(writer.half())
    writer.commit(copy)
    writer.discard(copy)


def late_commit(writer: StoreWriter) -> None:
    half = writer.half()
    writer.put_back(half)
    writer.commit(half)


def commit_within_immunity(writer: StoreWriter) -> None:
    half = writer.half(CHECK_IMMUNITY_TIME_IN_SECONDS=IMMUNITY)
    writer.put_back(half, immune=True)
    writer.commit(half)


def commit_within_the_immunity_of_the_timeout(writer: StoreWriter) -> None:
    half = writer.half(CHECK_IMMUNITY_TIME_IN_SECONDS="-1")
    writer.put_back(half, immune=True, after_ms=500)
    writer.commit(half)


def commit_after_immunity(writer: StoreWriter) -> None:
    half = writer.half(CHECK_IMMUNITY_TIME_IN_SECONDS=IMMUNITY)
    writer.put_back(half, immune=True)
    writer.now += 200_000
    writer.commit(half)


def rollback_then_commit(writer: StoreWriter) -> None:
    half = writer.half()
    writer.op(half.offset)
    writer.commit(half)


def commit_then_rollback(writer: StoreWriter) -> None:
    half = writer.half()
    writer.commit(half)
    writer.op(half.offset)


def commit_twice(writer: StoreWriter) -> None:
    half = writer.half()
    writer.commit(half)
    writer.commit(half)


def commit_after_discard(writer: StoreWriter) -> None:
    copy = writer.put_back(writer.half())
    writer.discard(copy)
    writer.commit(copy)


def all_checks_used_and_no_record(writer: StoreWriter) -> None:
    copy = writer.half()
    for _ in range(3):
        copy = writer.put_back(copy)


def commit_long_after_all_checks(writer: StoreWriter) -> None:
    copy = writer.half()
    for _ in range(3):
        copy = writer.put_back(copy)
    writer.now += 10_000
    writer.commit(copy)


def twin_halves(writer: StoreWriter) -> None:
    half = writer.half()
    writer.now = half.born
    writer.half()
    writer.commit(half)


def half_put_back_twice(writer: StoreWriter) -> None:
    half = writer.half()
    writer.commit(writer.put_back(half))
    writer.commit(writer.put_back(half))


def put_back_too_soon(writer: StoreWriter) -> None:
    writer.commit(writer.put_back(writer.put_back(writer.half()), after_ms=900))


def put_back_an_interval_later(writer: StoreWriter) -> None:
    writer.commit(writer.put_back(writer.put_back(writer.half(), after_ms=500)))


def discarded_twice(writer: StoreWriter) -> None:
    copy = writer.put_back(writer.half())
    writer.discard(copy)
    writer.discard(copy)


def passed_over(writer: StoreWriter) -> None:
    writer.put_back(writer.half())


def check_count_from_the_producer(writer: StoreWriter) -> None:
    writer.commit(writer.half(TRANSACTION_CHECK_TIMES="2"))


def flag_is_gone(writer: StoreWriter) -> None:
    writer.commit(writer.put_back(writer.half(flag=7)))


def flag_is_there(writer: StoreWriter) -> None:
    writer.commit(writer.half(flag=7))


CASES: list[tuple[str, Callable[[StoreWriter], None], str]] = [
    ("4.5.1", op_was_there_before_the_put_back, "A02"),
    ("4.9.7", op_was_there_before_the_put_back, "B06"),
    ("5.3.3", op_was_there_before_the_put_back, "B06"),
    ("4.5.1", op_was_there_before_the_immunity_put_back, "A02 B47"),
    ("4.9.7", op_was_there_before_the_immunity_put_back, "B47"),
    ("5.3.3", op_was_there_before_the_immunity_put_back, "B47"),
    ("5.3.3", op_came_after_the_put_back, "B05"),
    ("4.9.7", op_came_after_the_put_back, ""),
    ("5.3.3", op_never_came, "B02"),
    ("4.9.7", op_never_came, ""),
    ("5.3.3", only_immunity_put_backs, "A09"),
    ("5.3.3", checked_in_vain, ""),
    ("5.3.3", resolved_then_discarded, "A10"),
    ("4.9.7", late_commit, "A11"),
    ("5.3.3", late_commit, "A11"),
    ("5.3.3", commit_within_immunity, "B01"),
    ("4.5.1", commit_within_immunity, "B01"),
    ("5.3.3", commit_within_the_immunity_of_the_timeout, "B01"),
    ("4.9.7", commit_after_immunity, "A11"),
    ("5.3.3", rollback_then_commit, "A12"),
    ("5.3.3", commit_then_rollback, ""),
    ("5.3.3", commit_twice, "A13"),
    ("5.3.3", commit_after_discard, "A14"),
    ("4.5.1", all_checks_used_and_no_record, "A31"),
    ("4.9.7", all_checks_used_and_no_record, "B31"),
    ("4.5.1", commit_long_after_all_checks, "A14"),
    ("4.9.7", commit_long_after_all_checks, ""),
    ("5.3.3", twin_halves, "A39"),
    ("5.3.3", half_put_back_twice, "B16"),
    ("5.3.3", discarded_twice, "B16"),
    ("5.4.0", put_back_too_soon, "B52"),
    ("5.3.3", put_back_too_soon, ""),
    ("5.4.0", put_back_an_interval_later, ""),
    ("5.3.3", passed_over, "B13"),
    ("5.3.3", check_count_from_the_producer, "B26"),
    ("5.3.3", flag_is_gone, "B32"),
    ("5.3.3", flag_is_there, ""),
]


@pytest.mark.parametrize(("version", "story", "expected"), CASES, ids=lambda value: getattr(value, "__name__", value))
def test_a_history_resembles_exactly_the_defect_it_was_made_of(
    tmp_path: Path, version: str, story: Callable[[StoreWriter], None], expected: str
) -> None:
    writer = StoreWriter(version)
    story(writer)
    store = writer.write(tmp_path / "s", conf=CONF)
    (row,) = assert_both(store, audit_store(store, version, question=NO_TRACE), version=version).transactions
    assert " ".join(row.resembles) == expected


def test_every_rule_has_its_case() -> None:
    assert {name for _, _, expected in CASES for name in expected.split()} | {"B50"} == set(RULES)


def test_the_version_that_is_given_wins_over_the_version_that_is_found(tmp_path: Path) -> None:
    writer = StoreWriter("5.3.3")
    op_was_there_before_the_put_back(writer)
    store = writer.write(tmp_path / "s")
    found = audit_store(store)
    assert (found.version, found.transactions[0].resembles) == ("5.2.0-5.3.3", ("B06",))
    given = audit_store(store, "4.5.1")
    assert (given.version, given.transactions[0].resembles) == ("4.5.1", ("A02",))


def test_the_scan_order_tells_which_copy_a_put_back_was_made_from(tmp_path: Path) -> None:
    """Two halves and a regression over both: each fork has its own parent, so neither looks committed late."""
    writer = StoreWriter("4.9.7")
    first, second = writer.half("K1"), writer.half("K2", body=b"other")
    a1, b1 = writer.put_back(first), writer.put_back(second)
    writer.put_back(first)
    writer.put_back(second)
    a2, b2 = writer.put_back(a1), writer.put_back(b1)
    writer.commit(a2)
    writer.commit(b2)
    rows = assert_both(writer.write(tmp_path / "s")).transactions
    assert [(row.state, row.resembles) for row in rows] == [("delivered", ("B16",)), ("delivered", ("B16",))]


def test_a_late_commit_of_a_forked_copy_is_recognised_by_the_scan_order(tmp_path: Path) -> None:
    writer = StoreWriter("4.9.7")
    half = writer.half()
    copy = writer.put_back(half)
    fork = writer.put_back(half)
    writer.commit(writer.put_back(copy))
    writer.put_back(fork)
    writer.commit(fork)
    (row,) = assert_both(writer.write(tmp_path / "s")).transactions
    assert (row.state, row.resembles) == ("doubled", ("A11", "B16"))
