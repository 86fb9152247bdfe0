"""Which copies of a half the next rounds visit: the last, or each that a broker with an old half offset puts back."""

from __future__ import annotations

from spark_trace_analysis.audit.rules.open_copies import open_copies
from spark_trace_analysis.audit.rules.rounds import ShownRound
from spark_trace_analysis.audit.rules.transaction_row import HistoryEvent


def history(*times: int) -> list[HistoryEvent]:
    """A half and copies of it, at the queue offsets 0, 1, 2, …"""
    words = ["half", *["put back"] * (len(times) - 1)]
    return [HistoryEvent(word, 100 * at, time, 0, at) for at, (word, time) in enumerate(zip(words, times, strict=True))]


def opened(events: list[HistoryEvent], rounds: list[int], saved: int, booted_at: int = 0, *settled: int) -> list[int]:
    shown = [ShownRound(began, began + 5, 1) for began in rounds]
    found = open_copies(events, shown, saved=saved, settled=settled, booted_at=booted_at)
    return [event.offset for event in found]


def test_behind_a_round_that_has_saved_its_offset_the_last_copy_is_open() -> None:
    assert opened(history(10, 1_000, 2_000), [1_000, 2_000], saved=2) == [2]


def test_while_a_round_is_underway_or_offsets_were_read_before_it_no_copy_is_open_twice() -> None:
    assert opened(history(10, 1_000), [1_000], saved=0) == [1]
    assert opened(history(10, 1_000, 2_003), [1_000, 2_000], saved=0) == [2]


def test_copies_that_another_process_has_put_back_are_all_open_where_the_half_offset_is_older() -> None:
    events = history(10, 1_000, 2_000)
    assert opened(events, [1_000, 2_000], 0, 5_000) == [0, 1, 2]
    again = [*events, *(HistoryEvent("put back", 1_000 + at, 8_001, 0, 3 + at) for at in range(2))]
    assert opened(again, [1_000, 2_000, 8_000], 0, 5_000) == [2, 3, 4]


def test_copies_of_one_round_do_not_take_each_others_place() -> None:
    assert opened(history(10, 1_000, 8_001, 8_002), [1_000, 8_000], 2, 5_000) == [2, 3]


def test_what_an_op_message_names_is_not_open() -> None:
    assert opened(history(10, 1_000, 2_000), [1_000, 2_000], 0, 5_000, 1) == [0, 2]
