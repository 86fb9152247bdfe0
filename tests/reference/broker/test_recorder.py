"""A recorded trace speaks the specification's vocabulary and says what happened, in its order."""

from __future__ import annotations

import io
import json
from dataclasses import replace

from spec.events import EVENTS, FIELDS
from tests.reference.one_broker import SETTINGS, OneBroker


def test_a_committed_and_an_unresolved_half_leave_these_rows() -> None:
    one = OneBroker("5.3.3", replace(SETTINGS, sleep_while_no_op_ms=0))
    one.half()
    one.commit(one.half())
    one.flush_ops()
    one.branches()
    one.broker.persist_consumer_offsets()
    one.broker.crash()
    rows = [
        (row["event"], row["transaction"], row["half"], row["copy"], row["op"], row["check_times"], row["outcome"])
        for row in one.broker.recorder.rows
    ]
    assert rows == [
        ("half_stored", 0, 0, -1, -1, -1, 0),
        ("half_stored", 1, 1, -1, -1, -1, 0),
        ("message_delivered", 1, 1, -1, -1, -1, 1),
        ("op_buffered", 1, 1, -1, -1, -1, 0),
        ("op_stored", 1, 1, -1, 0, -1, 0),
        ("round_began", -1, -1, -1, -1, -1, 0),
        ("ops_pulled", 0, 0, -1, -1, 1, 0),
        ("put_back_for_check", 0, 0, 2, -1, 1, 0),
        ("check_sent", 0, 2, -1, -1, 1, 0),
        ("half_passed", 1, 1, -1, 0, -1, 0),
        ("round_ended", 0, 2, -1, -1, 2, 0),
        ("offsets_persisted", -1, -1, -1, -1, -1, 0),
        ("crashed", -1, -1, -1, -1, -1, 0),
    ]


def test_rows_are_written_as_json_lines_with_the_declared_fields_and_events() -> None:
    one = OneBroker("4.9.7", replace(SETTINGS, transaction_check_max=1))
    one.roll_back(one.half())
    one.half(CHECK_IMMUNITY_TIME_IN_SECONDS="40")
    for _ in range(3):
        one.branches()
    stream = io.StringIO()
    one.broker.recorder.write_json_lines(stream)
    rows = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert rows == one.broker.recorder.rows
    assert {tuple(row) for row in rows} == {tuple(field.name for field in FIELDS)}
    assert {row["event"] for row in rows} <= set(EVENTS)
    assert {"half_rolled_back", "half_discarded", "put_back_for_immunity"} <= {row["event"] for row in rows}
    assert [row["step"] for row in rows] == list(range(len(rows)))


def test_copies_and_twin_halves_belong_to_the_transaction_of_their_unique_key() -> None:
    one = OneBroker("4.9.7")
    one.half(UNIQ_KEY="A")
    one.half(UNIQ_KEY="B")
    one.half(UNIQ_KEY="A")
    one.branches()
    of_half = {row["copy"]: row["transaction"] for row in one.broker.recorder.rows if row["copy"] != -1}
    assert of_half == {3: 0, 4: 1, 5: 0}
