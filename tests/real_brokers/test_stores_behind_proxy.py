"""Our proxy and broker write what a real proxy 5.5.0 in local mode has written, and answer as it has."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from conformance.compare_stores import StoreSide, compare_stores
from real_brokers.proxy.said_again import say_again
from real_brokers.proxy.stores import MAY_DIFFER, SCENARIOS, STORES, compare, read_said
from reference.format.commit_log import CommitLog
from reference.format.record import LogRecord

if TYPE_CHECKING:
    from pathlib import Path


def records_of(folder: Path) -> list[LogRecord]:
    return [entry for entry in CommitLog.open(folder).read() if isinstance(entry, LogRecord)]


@pytest.mark.parametrize(("name", "records"), [("committed", 3), ("rolled-back", 2), ("checked", 5)])
def test_a_real_proxy_and_ours_leave_the_same_store(name: str, records: int) -> None:
    found = compare(STORES / name)
    assert (found.stores.difference, found.stores.records, found.answers) == (None, records, [])
    assert len(records_of(STORES / name)) == records


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_may_differ_stands_among_the_properties_too_where_a_client_has_said_it(name: str) -> None:
    """So that no field that a client decides goes without a comparison."""
    halves = [record for record in records_of(STORES / name) if "BORN_TIMESTAMP" in record.properties]
    assert halves
    assert all(record.born_timestamp == int(record.properties["BORN_TIMESTAMP"]) for record in halves)


def test_one_byte_that_may_not_differ_is_found_and_one_that_may_is_not(tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(STORES / "committed", other)
    path = other / "commitlog" / f"{0:020d}"
    content = bytearray(path.read_bytes())
    store_timestamp, attempts = 63, content.index(b"RECONSUME_TIME\x010") + len(b"RECONSUME_TIME\x01")
    content[store_timestamp] ^= 1
    path.write_bytes(content)
    assert compare_stores(*map(StoreSide.of_directory, (STORES / "committed", other))).difference is not None
    sides = StoreSide.of_directory(STORES / "committed"), StoreSide.of_directory(other)
    assert compare_stores(*sides, may_differ=MAY_DIFFER).difference is None
    content[attempts] ^= 1
    path.write_bytes(content)
    sides = StoreSide.of_directory(STORES / "committed"), StoreSide.of_directory(other)
    found = compare_stores(*sides, may_differ=MAY_DIFFER).difference
    assert found is not None
    assert found.field == "properties"


def test_an_answer_that_differs_is_said(tmp_path: Path) -> None:
    said = read_said(STORES / "committed")
    number = next(number for number, one in enumerate(said) if one.call == "EndTransaction" and not one.is_from_client)
    said[number] = type(said[number])("EndTransaction", False, b"", said[number].headers)
    (line,) = say_again(said, STORES / "committed" / "broker.conf", tmp_path / "store")
    assert line == 'EndTransaction: status { code: OK message: "OK" }, and from the real proxy '
