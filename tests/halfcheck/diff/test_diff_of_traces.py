"""``halfcheck diff`` with a recorded trace on one side, and a store, a trace, a run or a specification on the other."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from conformance.golden_stores import golden_store
from halfcheck import app
from halfcheck.diff.specification import _write_reference_store
from halfcheck.errors import ExitCode
from model_check.world import World
from spark_trace_analysis.audit import audit
from spark_trace_analysis.traces.manifest import Parameters, make_manifest, write_manifest
from tests.halfcheck.recorded_traces import Rows, recorded, walked, write_json_lines, write_parquet

FIVE = "5.3.3/five"
SCHEMA = Draft202012Validator(json.loads(Path(audit.__file__).with_name("diff_schema.json").read_text()))
STORES = [
    "4.5.1/late",
    "4.9.7/crash2",
    "4.9.7/forever",
    "5.3.3/immunity",
    "5.3.3/seed394",
    "5.4.0/crash",
    "5.5.1/late",
]
FAULTS_OF_STORES = {
    "4.5.1/late": {"duplicate_end": 2, "late_end": 3, "wrong_end": 4},
    "4.9.7/crash2": {"crash": 1},
    "5.4.0/crash": {"crash": 1},
    "5.5.1/late": {"duplicate_end": 2, "late_end": 2, "wrong_end": 3},
}


def store(name: str) -> Path:
    return golden_store(*name.split("/")).path


def told(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, dict[str, Any]]:
    code = app.run(["diff", *map(str, arguments), "--json"])
    content: dict[str, Any] = json.loads(capfd.readouterr().out)
    assert not list(SCHEMA.iter_errors(content))
    return code, content


def place_of(rows: Rows, event: str, nth: int = 0) -> int:
    return [index for index, row in enumerate(rows) if row["event"] == event][nth]


# --- against a store --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STORES)
def test_what_the_reference_broker_recorded_is_what_the_real_store_shows(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    trace = write_json_lines(tmp_path / "trace.jsonl", recorded(name))
    for sides in ((trace, store(name)), (store(name), trace)):
        code, content = told(capfd, *sides)
        assert (code, content["identical"], content["first_difference"]) == (ExitCode.OK, True, None)
        assert content["records"] >= 15


@pytest.mark.parametrize(
    ("event", "field", "value"),
    [
        ("message_delivered", "half", 99),
        ("put_back_for_check", "check_times", 7),
        ("put_back_for_check", "copy", 99),
        ("half_discarded", "check_times", 14),
        ("op_stored", "op", 99),
        ("half_stored", "time", 1),
    ],
)
def test_the_field_that_a_store_shows_otherwise_is_named(
    event: str, field: str, value: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = recorded(FIVE)
    row = rows[place_of(rows, event)]
    before, row[field] = row[field], value
    code, content = told(capfd, write_json_lines(tmp_path / "trace.jsonl", rows), store(FIVE))
    assert code == ExitCode.SAFETY_VIOLATED
    first = content["first_difference"]
    assert (first["field"], first["left"], first["right"]) == (field, str(value), str(before))
    assert f"of transaction {row['transaction']} in trace 0" in first["record"]


def test_an_event_that_the_store_does_not_have_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rows = recorded(FIVE)
    at = place_of(rows, "message_delivered")
    again = write_json_lines(tmp_path / "trace.jsonl", [*rows, rows[at]])
    code, content = told(capfd, store(FIVE), again)
    assert code == ExitCode.SAFETY_VIOLATED
    first = content["first_difference"]
    assert (first["field"], first["left"], first["right"]) == ("event", None, "message_delivered")
    assert first["right_event"]["half"] == rows[at]["half"]


# --- against a trace --------------------------------------------------------------------------------------------------


def test_json_lines_compressed_lines_and_parquet_are_the_same_trace(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = recorded(FIVE)
    lines = write_json_lines(tmp_path / "a.jsonl", rows)
    packed = tmp_path / "b.jsonl.gz"
    packed.write_bytes(gzip.compress(lines.read_bytes()))
    for other in (packed, write_parquet(tmp_path / "c.parquet", rows)):
        code, content = told(capfd, lines, other)
        assert (code, content["records"], content["identical"]) == (ExitCode.OK, len(rows), True)


@pytest.mark.parametrize("field", ["half", "copy", "op", "check_times", "outcome", "transaction"])
def test_of_two_traces_the_first_event_that_differs_and_its_field_are_named(
    field: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rows, changed = recorded("5.3.3/immunity"), recorded("5.3.3/immunity")
    at = place_of(rows, "put_back_for_immunity", 2)
    changed[at][field] = 3
    changed[-1]["event"] = "stopped"  # later, and of no matter
    sides = write_json_lines(tmp_path / "a.jsonl", rows), write_json_lines(tmp_path / "b.jsonl", changed)
    code, content = told(capfd, *sides)
    first = content["first_difference"]
    assert code == ExitCode.SAFETY_VIOLATED
    assert first["left_event"]["step"] == rows[at]["step"]
    if field != "transaction":  # the row is missing among the events of its transaction
        assert (first["field"], first["left"], first["right"]) == (field, str(rows[at][field]), "3")
    assert app.run(["diff", *map(str, sides)]) == ExitCode.SAFETY_VIOLATED
    assert f"{rows[at]['event']} transaction={rows[at]['transaction']}" in capfd.readouterr().out


def test_times_count_last_and_need_not_count(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rows = recorded(FIVE)
    later = [row | {"time": row["time"] + 1} for row in rows]
    sides = write_json_lines(tmp_path / "a.jsonl", rows), write_json_lines(tmp_path / "b.jsonl", later)
    code, content = told(capfd, *sides)
    assert (code, content["first_difference"]["field"]) == (ExitCode.SAFETY_VIOLATED, "time")
    assert content["first_difference"]["left"] == str(rows[0]["time"])
    assert told(capfd, *sides, "--any-time")[0] == ExitCode.OK
    later[-2]["half"] = 77
    write_json_lines(sides[1], later)
    code, content = told(capfd, *sides)
    assert (code, content["first_difference"]["field"]) == (ExitCode.SAFETY_VIOLATED, "half")


def test_the_run_of_the_reference_broker_under_a_stores_schedule_is_a_side(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = recorded(FIVE)
    trace = write_json_lines(tmp_path / "trace.jsonl", rows)
    run = f"reference:{store(FIVE)}"
    code, content = told(capfd, run, trace)
    assert (code, content["records"], content["identical"]) == (ExitCode.OK, len(rows), True)
    code, content = told(capfd, run, store(FIVE))
    assert (code, content["identical"], content["bytes"] > 0) == (ExitCode.OK, True, True)
    code, content = told(capfd, run, "spec:5.3.3")
    assert (code, content["identical"], content["records"]) == (ExitCode.OK, True, 27)
    del rows[place_of(rows, "round_began")]
    code, content = told(capfd, run, write_json_lines(trace, rows))
    assert code == ExitCode.SAFETY_VIOLATED
    assert content["first_difference"]["record"] == "event 0 of no transaction in trace 0"


def test_the_store_of_the_reference_broker_has_the_settings_and_the_producers_log_of_the_one_it_follows(
    tmp_path: Path,
) -> None:
    _write_reference_store(store(FIVE), None, tmp_path)
    for name in ("broker.conf", "driver.jsonl.gz"):
        assert (tmp_path / name).read_bytes() == (store(FIVE) / name).read_bytes()


# --- against a specification ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STORES)
def test_a_recorded_trace_is_explained_as_the_store_is(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    profile = name.partition("/")[0]
    trace = write_json_lines(tmp_path / "trace.jsonl", recorded(name))
    code, content = told(capfd, trace, f"spec:{profile}", "--broker-conf", store(name) / "broker.conf")
    assert (code, content["identical"]) == (ExitCode.OK, True)
    assert content["trace"]["faults"] == FAULTS_OF_STORES.get(name, {})
    assert content["trace"]["explained"] == content["records"] >= 15


def test_the_settings_beside_a_trace_are_those_of_its_broker(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    trace = write_json_lines(tmp_path / "trace.jsonl", recorded(FIVE))
    code, content = told(capfd, trace, "spec:5.3.3")
    assert code == ExitCode.SAFETY_VIOLATED  # by default op messages wait for 3 seconds
    assert content["first_difference"]["field"].startswith("require: the batch interval is over")
    (tmp_path / "broker.conf").write_bytes((store(FIVE) / "broker.conf").read_bytes())
    assert told(capfd, trace, "spec:5.3.3")[0] == ExitCode.OK


@pytest.mark.parametrize(
    ("event", "nth", "change", "guard"),
    [
        ("put_back_for_check", 0, {"check_times": 2}, "record: a half of the transaction with that check count"),
        ("message_delivered", 1, {"half": 99}, "record: the half is stored: 99 of "),
        ("half_discarded", 0, {"check_times": 14}, "require: it has no checks left"),
        ("op_stored", 0, {"half": 1}, "record: the op message holds what waits in the batch, which "),
    ],
)
def test_the_first_event_that_no_path_explains_and_its_guard_are_named(
    event: str, nth: int, change: dict[str, int], guard: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = recorded(FIVE)
    at = place_of(rows, event, nth)
    rows[at] |= change
    trace = write_json_lines(tmp_path / "trace.jsonl", rows)
    code, content = told(capfd, trace, "spec:5.3.3", "--broker-conf", store(FIVE) / "broker.conf")
    assert code == ExitCode.SAFETY_VIOLATED
    first = content["first_difference"]
    assert first["field"].startswith(guard)
    assert first["left"]["event"] == event
    assert content["trace"]["divergence"]["guard"] == first["field"]


def test_another_version_does_not_explain_the_trace(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    trace = write_parquet(tmp_path / "trace.parquet", recorded(FIVE))
    code, content = told(capfd, "spec:4.9.7", trace, "--broker-conf", store(FIVE) / "broker.conf")
    assert code == ExitCode.SAFETY_VIOLATED
    assert (
        content["first_difference"]["field"] == "record: the body of an op message is one half offset in this version"
    )


def test_a_walk_is_followed_in_the_instance_that_its_manifest_names(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = walked("5.3.3", ("crash", "slow_round"), "tiny")
    trace = write_parquet(tmp_path / "traces.parquet", rows)
    assert app.run(["diff", str(trace), "spec:5.3.3"]) == ExitCode.BAD_OPTION
    assert "give --instance NAME" in capfd.readouterr().err
    parameters = Parameters(World.of("5.3.3", ("crash", "slow_round"), "tiny"), seed=7, traces=2, steps=60)
    write_manifest(tmp_path, make_manifest(parameters, ()))
    for options in ((), ("--instance", "tiny")):
        code, content = told(capfd, trace, "spec:5.3.3", *options)
        assert (code, content["records"], content["trace"]["explained"]) == (ExitCode.OK, len(rows), len(rows))
        assert set(content["trace"]["faults"]) == {"crash", "slow_round"}
    code, content = told(capfd, trace, "spec:4.9.7")
    assert code == ExitCode.SAFETY_VIOLATED
    assert content["first_difference"]["left"]["action"] in {"buffer_op", "write_op_batch"}


# --- what is no trace, and what is no pair ----------------------------------------------------------------------------

ROW = (
    '{"trace": 0, "step": 0, "time": 5, "event": "half_stored", "action": "", "transaction": 0, "half": 0, '
    '"copy": -1, "op": -1, "check_times": -1, "outcome": 0}\n'
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no events in it"),
        ("half_stored\n", "line 1: b'half_stored\\n' is not JSON"),
        (f"{ROW}[]\n", "line 2: not an event with the fields trace, step, time, "),
        (ROW.replace('"half": 0, ', ""), "half missing or too much"),
        (ROW.replace("-1}", "-1}").replace('"time": 5', '"time": "5"'), "line 1: time is '5', expected a whole number"),
        (ROW.replace("half_stored", "half_sold"), "line 1: unknown event 'half_sold': known are half_stored, "),
        (ROW.replace('"outcome": 0', '"outcome": 4'), "line 1: outcome is 4, expected 0 to 3"),
        ("PAR1 and no more", "not readable as Parquet"),
    ],
)
def test_a_file_that_is_no_trace_is_named(
    text: str, message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(text)
    good = write_json_lines(tmp_path / "good.jsonl", recorded(FIVE))
    for other in (good, "spec:5.3.3", store(FIVE)):
        assert app.run(["diff", str(path), str(other)]) == ExitCode.BAD_CONTENT
        err = capfd.readouterr().err
        assert str(path) in err
        assert message in err


def test_a_trace_with_a_number_below_zero_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(ROW.replace('"trace": 0', '"trace": -1'))
    assert app.run(["diff", str(path), "spec:5.3.3"]) == ExitCode.BAD_CONTENT
    assert f"{path}, line 1: trace is -1, expected 0 or more" in capfd.readouterr().err


def test_a_trace_that_stands_in_two_pieces_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(ROW.replace('"trace": 0', '"trace": 1') + ROW)
    for other in ("spec:5.3.3", str(store(FIVE))):
        assert app.run(["diff", str(path), other]) == ExitCode.BAD_CONTENT
        assert "trace 0 stands behind trace 1" in capfd.readouterr().err


def test_a_parquet_file_of_other_columns_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    assert app.run(["diff", str(tmp_path / "other.parquet"), "spec:5.3.3"]) == ExitCode.BAD_CONTENT
    assert "other.parquet: has no column 'trace'" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("TRACE", "reference"), "a trace does not say what was asked of the broker; say reference:STORE_DIR"),
        (("reference", "spec:5.3.3"), "a store directory, a trace, or reference:STORE_DIR"),
        (("TRACE", "TRACE", "--instance", "tiny"), "only a trace that is held against spec:PROFILE"),
        (("TRACE", "TRACE", "--broker-conf", "x"), "two stores or traces are compared as they are"),
        (("TRACE", "spec:5.3.3", "--any-time"), "only traces are compared without their times"),
        (("FOLDER", "spec:5.3.3"), "a folder of simulated traces; give one of its .parquet files"),
    ],
)
def test_a_pair_that_cannot_be_compared_is_named(
    arguments: tuple[str, ...], message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    trace = write_json_lines(tmp_path / "trace.jsonl", recorded(FIVE)[:1])
    places = {"TRACE": str(trace), "FOLDER": str(tmp_path)}
    assert app.run(["diff", *(places.get(word, word) for word in arguments)]) == ExitCode.BAD_OPTION
    assert message in capfd.readouterr().err


def test_several_traces_are_no_match_for_a_store(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rows = recorded(FIVE)
    two = write_json_lines(tmp_path / "two.jsonl", [*rows, *(row | {"trace": 1} for row in rows)])
    assert app.run(["diff", str(two), str(store(FIVE))]) == ExitCode.BAD_CONTENT
    assert "holds 2 traces; expected one" in capfd.readouterr().err
