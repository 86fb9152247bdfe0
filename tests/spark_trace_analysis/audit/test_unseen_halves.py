"""What a consume queue does not list, no check round sees: it is unknown what becomes of it, and not pending."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from tests.reference.format.store_writer import HALF, OP, StoreWriter
from tests.spark_trace_analysis.audit.both_audits import FEW, assert_both

if TYPE_CHECKING:
    from pathlib import Path

    from spark_trace_analysis.audit.audit import Audit


def states(audit: Audit) -> dict[str, tuple[str, tuple[str, ...], str | None]]:
    return {row.unique_key: (str(row.state), row.also, row.unknown_cause) for row in audit.transactions}


def point_to(store: Path, topic: str, place: int, entry: bytes) -> None:
    """Write the entry of a place of a queue."""
    path = store / "consumequeue" / topic / "0" / f"{0:020d}"
    raw = bytearray(path.read_bytes())
    raw[place * 20 : place * 20 + 20] = entry
    path.write_bytes(raw)


@pytest.mark.parametrize("listed", [0, 1])
def test_of_two_halves_at_one_place_the_one_that_the_queue_lists_is_pending(tmp_path: Path, listed: int) -> None:
    writer = StoreWriter()
    first = writer.half("K0", body=b"0")
    writer.ends[HALF, 0] = first.offset
    second = writer.half("K1", body=b"1")
    writer.half("K2", body=b"2")
    entries = writer.entries[HALF, 0]
    entry = bytes(entries[20 * listed : 20 * listed + 20])
    writer.entries[HALF, 0] = bytearray(entry + entries[40:])
    found = assert_both(writer.write(tmp_path / "s", half=0), **FEW)
    assert first.offset == second.offset
    assert found.corrupt == ()
    wanted = dict.fromkeys(("K0", "K1"), ("unknown", (), "not_in_its_queue"))
    assert states(found) == {**wanted, f"K{listed}": ("pending", (), None), "K2": ("pending", (), None)}


def test_a_half_that_its_queue_does_not_list_while_later_records_are_listed_is_unknown(tmp_path: Path) -> None:
    writer = StoreWriter()
    for number in range(3):
        writer.half(f"K{number}", body=b"%d" % number)
    store = writer.write(tmp_path / "s", half=0)
    point_to(store, HALF, 1, bytes(20))
    found = states(assert_both(store, **FEW))
    assert found["K1"] == ("unknown", (), "not_in_its_queue")
    assert found["K0"] == found["K2"] == ("pending", (), None)


def test_halves_without_any_queue_of_theirs_are_unknown_if_later_records_are_listed(tmp_path: Path) -> None:
    writer = StoreWriter()
    writer.half("K0")
    writer.put("T", b"body", {"WAIT": "true"})
    writer.half("K1", body=b"1")
    del writer.entries[HALF, 0]
    found = states(assert_both(writer.write(tmp_path / "s", half=0), **FEW))
    assert found == {"K0": ("unknown", (), "not_in_its_queue"), "K1": ("pending", (), None)}


def test_what_is_behind_all_that_queues_list_is_listed_at_the_next_start(tmp_path: Path) -> None:
    writer = StoreWriter()
    writer.half("K0")
    half = writer.half("K1", body=b"1")
    writer.entries[HALF, 0] = writer.entries[HALF, 0][: half.offset * 20]
    found = assert_both(writer.write(tmp_path / "s", half=0), **FEW)
    assert set(states(found).values()) == {("pending", (), None)}
    assert found.corrupt == ()


@pytest.mark.parametrize("is_listed", [True, False])
def test_an_op_message_that_its_queue_does_not_list_settles_nothing(tmp_path: Path, *, is_listed: bool) -> None:
    writer = StoreWriter()
    for key in ("K0", "K1"):
        writer.commit(writer.half(key, body=key.encode()))
    store = writer.write(tmp_path / "s", half=0, op=0)
    if not is_listed:
        point_to(store, OP, 0, struct.pack(">qiq", 0, 0, 0))
    found = states(assert_both(store, **FEW))
    assert found["K0"] == (("delivered", (), None) if is_listed else ("unknown", ("delivered",), "not_in_its_queue"))
    assert found["K1"] == ("delivered", (), None)


@pytest.mark.parametrize("is_passed", [False, True])
def test_an_op_message_for_another_half_at_its_place_hides_a_half_from_rounds(
    tmp_path: Path, *, is_passed: bool
) -> None:
    writer = StoreWriter()
    first = writer.half("K0", body=b"0")
    writer.commit(first)
    writer.ends[HALF, 0] = first.offset
    writer.half("K1", body=b"1")
    writer.half("K2", body=b"2")
    writer.entries[HALF, 0] = writer.entries[HALF, 0][20:]
    found = states(assert_both(writer.write(tmp_path / "s", half=0, op=int(is_passed)), **FEW))
    assert found["K0"][0] == ("unknown" if is_passed else "delivered")
    assert found["K1"][0] == ("pending" if is_passed else "lost")
    assert found["K2"][0] == "pending"
