"""A store that was upgraded in place is said to be of two releases; each part is judged by its own."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from conformance.golden_stores import golden_store
from reference.broker.processor.send_message_processor import SendMessageRequest
from reference.format.commit_log import CommitLog
from reference.simulation.virtual_clock import VirtualClock
from spark_trace_analysis.audit.audit_store import audit_store
from tests.reference.format.store_writer import StoreWriter
from tests.reference.test_carried_on_stores import open_broker, settle
from tests.spark_trace_analysis.audit.both_audits import FEW, assert_both

if TYPE_CHECKING:
    from pathlib import Path

    from spark_trace_analysis.audit.audit import Audit

TEN = golden_store("4.9.7", "ten")
HEIR = golden_store("5.3.3", "ten")


def written(audit: Audit) -> list[tuple[int, str]]:
    return [(writer.start, writer.version) for writer in audit.writers]


@pytest.mark.parametrize(
    ("releases", "versions"),
    [
        (("4.9.7", "5.3.3"), ["4.9.7", "5.2.0-5.3.3"]),
        (("4.5.1", "5.1.0"), ["4.5.1", "5.1.0"]),
        (("5.3.3", "5.5.1"), ["5.2.0-5.3.3", "5.4.0-5.5.1"]),
        (("5.3.3", "4.9.7"), ["5.2.0-5.3.3", "4.9.7"]),
        (("5.3.3", "5.3.3"), []),
        (("4.9.7", "5.3.3", "4.9.7"), []),
    ],
)
def test_both_audits_part_a_log_where_another_release_begins(
    tmp_path: Path, releases: tuple[str, ...], versions: list[str]
) -> None:
    writer, begins = StoreWriter(releases[0]), []
    for number, release in enumerate(releases):
        writer.version = release
        begins.append(len(writer.log))
        for key in "abc":
            writer.commit(writer.half(f"{number}{key}", body=f"{number}{key}".encode()))
    found = assert_both(writer.write(tmp_path / "s"), **FEW)
    assert [version for _, version in written(found)] == versions
    if versions:
        assert found.version == versions[-1]
        assert begins[1] <= written(found)[1][0] <= begins[1] + 1_200


def test_what_4_5_1_discarded_before_the_upgrade_left_no_record(tmp_path: Path) -> None:
    writer = StoreWriter("4.5.1")
    last = writer.half("old")
    for _ in range(2):
        last = writer.put_back(last)
    writer.version = "5.3.3"
    for key in "ab":
        writer.commit(writer.half(key, body=key.encode()))
    store = writer.write(tmp_path / "s", conf="transactionCheckMax=2\n")
    rows = {row.unique_key: row for row in assert_both(store, **FEW).transactions}
    assert rows["old"].resembles == ("A31",)


@pytest.fixture
def upgraded(tmp_path: Path) -> Path:
    """A store of 4.9.7 that the reference broker of 5.3.3 went on with."""
    store = tmp_path / "s"
    for name in ("commitlog", "consumequeue", "config", "broker.conf"):
        source = TEN.path / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, store / name)
    before = list(CommitLog.open(store).records())
    clock = VirtualClock(before[-1].store_timestamp + 60_000)
    broker = open_broker(HEIR, store, clock)
    properties = {"TRAN_MSG": "true", "UNIQ_KEY": "NEW", "WAIT": "true", "PGROUP": "new-group"}
    broker.send_message(SendMessageRequest("TopicNew", 1, b"new", clock.now, properties))
    clock.advance(60_000)
    settle(broker)
    broker.shutdown()
    return store


@pytest.mark.parametrize("version", [None, "4.9.7", "5.3.3"])
def test_the_earlier_part_is_held_against_its_own_release_whatever_is_named(
    upgraded: Path, version: str | None
) -> None:
    found = audit_store(upgraded, version)
    assert [version for _, version in written(found)] == ["4.9.7", "5.2.0-5.3.3"]
    assert found.trace.accepted is None
    assert found.trace.advice() == []
    assert "The first 45 records are accepted by the specification of 4.9.7 with no fault" in str(found.trace.reason)
    assert any("two releases wrote it" in note for note in found.notes) is (version is not None)
