"""Under the schedule of each real run the reference broker writes the same store, byte for byte."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.broker_schedule import BrokerSchedule, EndAct, RoundGoesOn, SendAct, read_schedule, write_schedule
from conformance.compare_stores import StoreSide, compare_stores
from conformance.errors import BrokenScheduleError, NoScheduleError
from conformance.extract_schedule import _round
from conformance.fit_schedule import Fit, fit_schedule
from conformance.golden import DIFFERENT, compare_with_reference, main, schedule_path
from conformance.golden_stores import GoldenStore, golden_store, golden_stores
from conformance.recorded_run import RecordedRun
from conformance.scheduled_run import ScheduledRun
from conformance.transaction_log import LoggedRound, OpPull
from reference.format.commit_log import CommitLog
from reference.format.properties import parse_properties
from reference.format.system_topics import HALF_TOPIC
from reference.store.memory_disk import MemoryDisk
from tests.conformance.decoded_store import consume_queue_entries, decoded_records

if TYPE_CHECKING:
    from pathlib import Path

STORES = golden_stores()


def decoded(golden: GoldenStore) -> tuple[int, int]:
    """Records, and bytes of all records and consume queue entries, by the other program's decoding.

    Of an end-of-file record, which has no topic there, eight bytes count.
    """
    sizes = [record["total"] if "topic" in record else None for record in decoded_records(golden)]
    records = [size for size in sizes if size is not None]
    return len(records), sum(size or 8 for size in sizes) + 20 * sum(1 for _ in consume_queue_entries(golden))


@pytest.mark.parametrize("golden", STORES, ids=lambda golden: golden.name)
def test_every_byte_of_log_queues_and_offsets_is_the_real_brokers(golden: GoldenStore) -> None:
    comparison, replay = compare_with_reference(golden.path, read_schedule(schedule_path(golden)))
    assert comparison.difference is None
    assert replay.departure is None
    assert (comparison.records, comparison.bytes) == decoded(golden)


@pytest.mark.parametrize("golden", STORES, ids=lambda golden: golden.name)
def test_the_text_of_the_saved_offsets_is_the_real_one_but_for_its_time_stamp_and_its_consumer(
    golden: GoldenStore,
) -> None:
    disk = MemoryDisk()
    ScheduledRun(read_schedule(schedule_path(golden)), disk).run()
    ours = (disk.read("config/consumerOffset.json") or b"").decode()
    theirs = (golden.path / "config/consumerOffset.json").read_text()
    ours, theirs = (re.sub(r'"timestamp":\d+', "", text) for text in (ours, theirs))
    theirs = re.sub(r'("pullOffsetTable":)\{.*\}(?=\n\}$)', r"\1{}", theirs, flags=re.DOTALL)
    if golden.name == "5.3.3/late":  # its broker found a file of an earlier run, whose order it kept
        ours, theirs = ("".join(sorted(text)) for text in (ours, theirs))
    assert ours == theirs


@pytest.mark.parametrize("golden", STORES, ids=lambda golden: golden.name)
def test_the_other_configuration_files_are_those_of_the_real_broker_but_for_its_consumer(golden: GoldenStore) -> None:
    disk = MemoryDisk()
    ScheduledRun(read_schedule(schedule_path(golden)), disk).run()
    for name, key in (("topics.json", "topicConfigTable"), ("delayOffset.json", "offsetTable")):
        ours = json.loads(disk.read(f"config/{name}") or b"")
        theirs = json.loads((golden.path / "config" / name).read_text())
        consumers = [topic for topic in theirs[key] if topic.startswith("%RETRY%")]
        for topic in consumers:
            del theirs[key][topic]
        assert list(ours[key].items()) == list(theirs[key].items())
        if "dataVersion" in theirs and golden.version not in ("5.0.0", "5.1.0"):  # one change more there
            assert ours["dataVersion"]["counter"] == theirs["dataVersion"]["counter"] - len(consumers)
    for name in ("consumerFilter.json", "consumerOrderInfo.json"):
        path = golden.path / "config" / name
        if path.exists() and golden.version != "5.0.0":
            assert (disk.read(f"config/{name}") or b"").decode() == path.read_text()


def test_golden_prints_records_and_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["5.3.3/five", "4.9.7/crash2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["5.3.3/five", "27", "10002", "identical"]
    assert lines[-1].split() == ["total", "137", "44525", "2", "of", "2", "stores", "identical"]


# --- what a schedule file may hold ------------------------------------------------------------------------------------

ALLOWED = {
    "start": {"at", "chosen_at"},
    "kill": {"at"},
    "stop": {"chosen_at"},
    "send": {"request", "stored_at"},
    "end": {"request", "at", "stored_at"},
    "end_goes_on": {"end", "at", "stored_at", "chosen_at"},
    "drain": {"chosen_at", "at", "stored_at"},
    "round_begins": {"at", "woken"},
    "round_goes_on": {"stored_at", "at", "paused"},
}
CLIENTS_MESSAGE = {
    "topic", "queue_id", "body", "body_base64", "born_timestamp", "born_host", "properties", "flag", "sys_flag",
    "reconsume_times",
}  # fmt: skip
CLIENTS_END = {
    "producer_group", "tran_state_table_offset", "commit_log_offset", "commit_or_rollback", "from_transaction_check",
    "msg_id", "transaction_id",
}  # fmt: skip


def lines_of(golden: GoldenStore) -> list[dict[str, Any]]:
    text = gzip.decompress(schedule_path(golden).read_bytes()).decode()
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("golden", STORES, ids=lambda golden: golden.name)
def test_a_schedule_holds_requests_turns_and_clock_readings_only(golden: GoldenStore) -> None:
    first, *acts = lines_of(golden)
    assert set(first) == {"schedule", "version", "settings"}
    requests = {
        tuple(parse_properties(event["header"]["i"])): event["header"]
        for event in golden.driver_events()
        if is_send(event)
    }
    for act in acts:
        name = act.pop("act")
        assert set(act) <= ALLOWED[name]
        request = act.pop("request", {})
        assert set(request) <= (CLIENTS_MESSAGE if name == "send" else CLIENTS_END)
        if name == "send":
            header = requests[tuple((key, value) for key, value in request["properties"])]
            assert (request["topic"], request["queue_id"], request["flag"], request["born_timestamp"]) == (
                header["b"],
                int(header["e"]),
                int(header["h"]),
                int(header["g"]),
            )
        for key, value in act.items():
            if key not in ("end", "paused", "woken"):
                assert all(is_a_time(reading) for reading in (value if isinstance(value, list) else [value]))


@pytest.mark.parametrize(
    "golden",
    [pytest.param(one, id=one.name, marks=pytest.mark.sweep if one.scenario == "wide" else ()) for one in STORES],
)
def test_no_schedule_holds_what_the_broker_makes(golden: GoldenStore) -> None:
    """No record's bytes, and nothing that only a broker writes, but in the answers that quote its offsets."""
    text = "\n".join(json.dumps(act) for act in lines_of(golden)[1:])
    for made in (
        "CHECK_TIMES",
        "REAL_TOPIC",
        "REAL_QID",
        "PREPARED_QUEUE_OFFSET",
        "MSG_REGION",
        "CLUSTER",
        "TRANS_HALF",
    ):
        assert made not in text
    raw = gzip.decompress(schedule_path(golden).read_bytes())
    for record in CommitLog.open(golden.path).records():
        assert record.properties_text.encode() not in raw
        assert str(record.body_crc) not in text or record.body_crc < 1 << 16


def is_send(event: dict[str, Any]) -> bool:
    return bool(event["ev"] == "rpc.req" and event["code"] == 310)


def is_a_time(reading: object) -> bool:
    return isinstance(reading, int) and 1_790_000_000_000 < reading < 1_800_000_000_000


# --- the comparison sees differences ----------------------------------------------------------------------------------


def changed(golden: GoldenStore, index: int, act: object) -> BrokerSchedule:
    schedule = read_schedule(schedule_path(golden))
    acts = list(schedule.acts)
    acts[index] = act  # type: ignore[call-overload]
    return replace(schedule, acts=acts)


def index_of(golden: GoldenStore, kind: type, number: int = 0) -> int:
    acts = read_schedule(schedule_path(golden)).acts
    return [i for i, act in enumerate(acts) if isinstance(act, kind)][number]


def test_a_clock_reading_that_is_one_millisecond_off_shows_in_its_field() -> None:
    golden = golden_store("5.3.3", "five")
    index = index_of(golden, SendAct, 1)
    act = read_schedule(schedule_path(golden)).acts[index]
    assert isinstance(act, SendAct)
    comparison, _ = compare_with_reference(
        golden.path, changed(golden, index, replace(act, stored_at=act.stored_at + 1))
    )
    assert comparison.difference is not None
    assert (comparison.difference.field, comparison.difference.record) == (
        "store_timestamp",
        f"record 1 at 349 ({HALF_TOPIC})",
    )
    assert int(comparison.difference.right or 0) == int(comparison.difference.left or 0) + 1


def test_a_missing_end_transaction_and_a_missing_reading_are_departures() -> None:
    golden = golden_store("4.9.7", "ten")
    index = index_of(golden, EndAct)
    act = read_schedule(schedule_path(golden)).acts[index]
    assert isinstance(act, EndAct)
    other = replace(act, request=replace(act.request, producer_group="another"))
    _, replay = compare_with_reference(golden.path, changed(golden, index, other))
    assert replay.departure is not None
    assert (replay.departure.act, replay.departure.used) == (index, 0)
    round_act = next(
        i
        for i, a in enumerate(read_schedule(schedule_path(golden)).acts)
        if isinstance(a, RoundGoesOn) and len(a.stored_at) > 1
    )
    schedule = read_schedule(schedule_path(golden))
    short = schedule.acts[round_act]
    assert isinstance(short, RoundGoesOn)
    comparison, _ = compare_with_reference(
        golden.path, changed(golden, round_act, replace(short, stored_at=[*short.stored_at, short.stored_at[-1]]))
    )
    assert comparison.difference is not None


def test_a_fit_is_whole_where_the_log_is_the_same_and_every_act_was_carried_out() -> None:
    golden = golden_store("4.9.7", "ten")
    schedule = read_schedule(schedule_path(golden))
    log = {int(path.name): path.read_bytes().rstrip(b"\0") for path in (golden.path / "commitlog").iterdir()}
    assert Fit(schedule, golden, log).is_whole
    end, send = index_of(golden, EndAct), index_of(golden, SendAct)
    unknown = schedule.acts[end]
    assert isinstance(unknown, EndAct)
    unknown = replace(unknown, request=replace(unknown.request, producer_group="another"))
    late = schedule.acts[send]
    assert isinstance(late, SendAct)
    for acts, goes_another_way in (
        ([*schedule.acts, unknown], True),
        ([*schedule.acts[:send], replace(late, stored_at=late.stored_at + 1), *schedule.acts[send + 1 :]], False),
    ):
        fit = Fit(replace(schedule, acts=acts), golden, log)
        assert (fit.replay.departure is not None, fit.reached is None) == (goes_another_way, goes_another_way)
        assert not fit.is_whole


def test_a_round_goes_on_behind_the_last_op_that_it_saw() -> None:
    pulls = [OpPull(10, 0, None), OpPull(20, 0, 2, found=1)]
    began, paused = _round(LoggedRound(10, 10, pulls=pulls), [], [4, 7, 9], 1_000)
    assert (began.low, began.high) == (0, 1 << 60)
    assert (paused.low, paused.high) == (8, 9), "behind record 7, the second op, and before record 9, the third"


def test_a_store_compared_with_another_names_the_first_field() -> None:
    left, right = golden_store("5.3.3", "ten").path, golden_store("5.4.0", "ten").path
    comparison = compare_stores(StoreSide.of_directory(left), StoreSide.of_directory(right))
    assert comparison.difference is not None
    assert comparison.records == 0
    same = compare_stores(StoreSide.of_directory(left), StoreSide.of_directory(left))
    assert (same.difference, same.records) == (None, 39)


# --- extraction -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["4.5.1/five", "4.9.7/crash2", "5.1.0/forever_short", "5.3.3/crash", "5.4.0/late"])
def test_the_committed_schedules_are_those_that_the_logs_give(name: str, tmp_path: Path) -> None:
    golden = golden_store(*name.split("/"))
    write_schedule(fit_schedule(RecordedRun(golden.path)).schedule, tmp_path / "s.jsonl.gz")
    assert (tmp_path / "s.jsonl.gz").read_bytes() == schedule_path(golden).read_bytes()


def test_a_store_without_its_logs_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(NoScheduleError, match=r"has no driver\.jsonl, transaction\.log, meta\.json, broker\.conf"):
        fit_schedule(RecordedRun(tmp_path))


def test_what_is_no_schedule_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(BrokenScheduleError, match="there is no schedule"):
        read_schedule(tmp_path / "none")
    path = tmp_path / "broken"
    path.write_bytes(b"no gzip")
    with pytest.raises(BrokenScheduleError, match="broken is not a schedule file"):
        read_schedule(path)


def test_an_unknown_store_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["5.3.3/none"]) == 151
    assert "there is no golden store 5.3.3/none" in capsys.readouterr().err


def test_a_store_that_differs_is_reported(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.golden.schedule_path", lambda golden: schedule_path(golden_store("5.3.3", "ten")))
    assert main(["5.4.0/ten"]) == DIFFERENT
    assert "DIFFERENT: record 0 at 0" in capsys.readouterr().out
