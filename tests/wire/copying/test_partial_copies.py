"""A partial copy of a store is audited as the store is, whatever else stands in the log."""

from __future__ import annotations

import json
import random
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from conformance.golden_stores import golden_store, golden_stores
from reference.format.commit_log import CommitLog
from reference.format.partial_copy import NAME, PartialCopy
from reference.format.properties import REAL_TOPIC
from reference.format.store_paths import store_paths
from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC, OP_TOPIC
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.records.store_splits import splits_of
from tests.spark_trace_analysis.audit.both_audits import NO_TRACE, in_stages
from tests.wire.copying.traffic import OTHER, traffic
from tests.wire.one_broker import broker
from tests.wire.one_producer import TOPIC, OneProducer
from wire.copying import copy_writer
from wire.copying.copy_writer import CopyWriter
from wire.remoting.messages import encode_record

if TYPE_CHECKING:
    from pathlib import Path

    from spark_trace_analysis.audit.audit import Audit

CHOSEN = ["4.5.1/mixed", "4.9.7/gone", "5.3.3/crash", "5.4.0/five", "5.5.1/immunity"]
NOT_OF_THE_RECORDS = ("store", "trace", "unanswered_checks", "records")
"""The last two are of a file beside the store, and of all topics."""


def judged(audit: Audit) -> dict[str, Any]:
    values = audit.to_json(everything=True)
    return {name: values[name] for name in values if name not in NOT_OF_THE_RECORDS}


def copy_of(store: Path, folder: Path, left_out: int = -1) -> Path:
    """A copy of the topics of transactions, each message put where it stands, in any order, but for one of them."""
    log, paths = CommitLog.open(store), store_paths(store)
    records = list(log.records())
    topics = {HALF_TOPIC, OP_TOPIC, DISCARD_TOPIC}
    topics |= {record.properties[REAL_TOPIC] for record in records if record.topic == HALF_TOPIC}
    chosen = [record for record in records if record.topic in topics and record.physical_offset != left_out]
    random.Random(7).shuffle(chosen)
    with CopyWriter(folder, log.start, paths.file_bytes or 1 << 30) as writer:
        for record in chosen:
            writer.put(record.physical_offset, encode_record(record))
        end, starts = writer.end, writer.finish(writer.end)
    copied = PartialCopy(
        broker="127.0.0.1:1",
        release=None,
        begin=log.start,
        end=end,
        booted_at_ms=None,
        read_at_ms=0,
        topics=tuple(sorted(topics)),
        starts=starts,
    )
    (folder / NAME).write_text(json.dumps(copied.to_json()), encoding="utf-8")
    shutil.copytree(store / "config", folder / "config")
    if paths.conf is not None:
        shutil.copy(paths.conf, folder / "broker.conf")
    return folder


@pytest.mark.parametrize(
    "name",
    [pytest.param(one.name, marks=[] if one.name in CHOSEN else pytest.mark.sweep) for one in golden_stores()],
)
def test_a_copy_of_a_golden_store_is_judged_as_the_store(tmp_path: Path, name: str) -> None:
    store = golden_store(*name.split("/")).path
    assert judged(audit_store(copy_of(store, tmp_path / "copy"))) == judged(audit_store(store))


def test_a_copy_that_its_queue_does_not_list_is_no_damage_of_the_copy(tmp_path: Path) -> None:
    store = audit_store(golden_store("5.3.3", "five").path, question=NO_TRACE)
    delivered = [row for row in store.transactions if row.deliveries][-1]
    source = next(event.at for event in delivered.history if event.event == "put back")
    copy = copy_of(golden_store("5.3.3", "five").path, tmp_path / "copy", left_out=source)
    found = audit_store(copy, question=NO_TRACE)
    assert (found.damage, found.total, found.records) == (0, store.total, store.records - 1)
    assert in_stages(copy, bucket_bytes=1_000).damage == 0


def test_the_stages_of_an_audit_pass_over_gaps_and_begin_splits_where_the_copy_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other messages stand between all records, and more than the last split of a file begins within it."""
    monkeypatch.setattr(copy_writer, "START_BYTES", 30_000)
    with broker(tmp_path, "5.5.1", mappedFileSizeCommitLog=1 << 16) as running, OneProducer(running.address) as one:
        running.controller.topic(TOPIC)
        running.controller.topic(OTHER)
        traffic(one, 150)
        running.controller.push_clock(61_000)
    copy = copy_of(tmp_path / "store", tmp_path / "copy")
    log = CommitLog.open(copy)
    splits = splits_of(log, 1)
    assert log.partial is not None
    assert len(splits) > len(log.files) > 1
    assert [log.files[split.file].start + split.start for split in splits if split.start] == [
        at for at in log.partial.starts if at not in [file.start for file in log.files]
    ]
    whole, staged = audit_store(copy, question=NO_TRACE), in_stages(copy, bucket_bytes=60_000)
    assert judged(staged) == judged(whole) == judged(audit_store(tmp_path / "store"))
    assert staged.records == whole.records
