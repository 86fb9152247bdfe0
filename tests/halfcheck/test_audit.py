"""``halfcheck audit`` prints a table or JSON, and says in one line what is wrong with a store and where."""

from __future__ import annotations

import json
import re
import shutil
import time
from datetime import datetime
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from jsonschema import Draft202012Validator

from conformance.golden_stores import golden_store, golden_stores
from halfcheck import app
from halfcheck.errors import ExitCode
from spark_trace_analysis.audit import audit_folders
from spark_trace_analysis.audit.audit import SCHEMA
from spark_trace_analysis.audit.audit_folders import sole_writer
from tests.reference.format.store_writer import HALF, StoreWriter
from tests.sampled import sampled

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FIVE = golden_store("5.3.3", "five").path
LOG = "commitlog/00000000000000000000"
MIDDLING = {"4.5.1/mixed", "4.9.7/mixed", "5.3.3/mixed", "5.3.3/crash"}
"""Seconds each when they are traced; the shorter ones take the same lines."""
SHORT = [  # the wide ones are audited once, in test_golden_audit
    pytest.param(store, marks=pytest.mark.untraced if store.name in MIDDLING else ())
    for store in golden_stores()
    if store.scenario != "wide"
]


@pytest.fixture(autouse=True)
def _the_command_is_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(app.COMMANDS, "audit", "halfcheck.commands.audit")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A copy of a golden store that a test may damage."""
    shutil.copytree(FIVE, tmp_path / "store", ignore=shutil.ignore_patterns("*.gz"))
    return tmp_path / "store"


def flip(path: Path, at: int, mask: int = 0x01) -> None:
    raw = bytearray(path.read_bytes())
    raw[at] ^= mask
    path.write_bytes(raw)


def cut(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:size])


def test_the_table_names_every_transaction_and_what_it_resembles(capfd: pytest.CaptureFixture[str]) -> None:
    assert app.run(["audit", str(golden_store("4.9.7", "late").path)]) == ExitCode.OK
    out, err = capfd.readouterr()
    assert err == ""
    assert re.search(
        r"^C0\w{30} +late-group +TopicLate +doubled +parked +2 +3 +3 +4 +2 +A11 A14 +k6 +20\d\d-\d\d-\d\dT\S+ *$",
        out,
        re.MULTILINE,
    )
    assert "7 transactions: 4 doubled, 3 delivered" in out
    assert "46 records, written by 4.9.7" in out


@pytest.mark.untraced
def test_a_long_table_leaves_out_what_is_plain_and_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    path = str(golden_store("4.9.7", "mixed").path)
    assert app.run(["audit", path]) == ExitCode.OK
    short = capfd.readouterr().out
    assert len(re.findall(r"^C0", short, re.MULTILINE)) == 6
    assert re.match(r"6 parked: (C0\w{30}, ){2}C0\w{30} and 3 more\n    Read it in TRANS_CHECK_MAX_TIME_TOPIC", short)
    assert "194 transactions are not shown, 194 of them plainly delivered or rolled back" in short
    assert app.run(["audit", path, "--limit", "2"]) == ExitCode.OK
    assert "198 transactions are not shown, 194 of them plainly" in capfd.readouterr().out
    assert app.run(["audit", path, "--all"]) == ExitCode.OK
    assert len(re.findall(r"^C0", capfd.readouterr().out, re.MULTILINE)) == 200


@pytest.mark.parametrize("golden", sampled(SHORT, 3), ids=lambda golden: golden.name)
def test_the_json_of_a_golden_store_holds_to_its_schema(golden: object, capfd: pytest.CaptureFixture[str]) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    path = str(getattr(golden, "path", ""))
    assert app.run(["audit", path, "--json", "--all"]) == ExitCode.OK
    content = json.loads(capfd.readouterr().out)
    assert not list(Draft202012Validator(schema).iter_errors(content))
    assert content["store"] == path
    assert sum(content["counts"].values()) == len(content["transactions"])
    trace = content["trace"]
    assert (trace["events"], trace["explained"]) == (content["records"], content["records"])
    assert (trace["accepted"], trace["divergence"], trace["reason"]) == (True, None, None)
    assert (trace["faults"] != {}) == ("/late" in path or "/crash" in path)


def test_the_keys_that_others_build_on_are_all_required_by_the_schema() -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    promised = ["store", "version", "records", "corrupt", "transactions", "counts", "trace"]
    assert set(promised) <= set(schema["required"])
    row = [
        "unique_key",
        "group",
        "topic",
        "state",
        "also",
        "deliveries",
        "checks",
        "put_backs",
        "half_offsets",
        "op_offsets",
        "resembles",
    ]
    assert set(row) == set(schema["properties"]["transactions"]["items"]["required"])
    assert not Draft202012Validator(schema).is_valid({})


@pytest.mark.untraced
def test_json_without_all_lists_what_is_not_plain_up_to_the_limit(capfd: pytest.CaptureFixture[str]) -> None:
    path = str(golden_store("5.3.3", "late").path)
    assert app.run(["audit", path, "--json"]) == ExitCode.OK
    content = json.loads(capfd.readouterr().out)
    assert [row["state"] for row in content["transactions"]] == ["doubled"] * 3 + ["parked"] + ["delivered"] * 2
    assert content["omitted"] == 0
    assert app.run(["audit", path, "--json", "--limit", "2"]) == ExitCode.OK
    content = json.loads(capfd.readouterr().out)
    assert (len(content["transactions"]), content["omitted"], content["counts"]["doubled"]) == (2, 4, 3)


def test_a_delivered_transaction_that_was_also_rolled_back_is_not_plain(capfd: pytest.CaptureFixture[str]) -> None:
    assert app.run(["audit", str(golden_store("5.3.3", "late").path), "--json"]) == ExitCode.OK
    rows = json.loads(capfd.readouterr().out)["transactions"]
    assert [(row["state"], row["also"]) for row in rows] == [
        ("doubled", []),
        ("doubled", ["parked"]),
        ("doubled", ["parked"]),
        ("parked", ["delivered"]),
        ("delivered", ["rolled_back"]),
        ("delivered", ["rolled_back"]),
    ]


def test_the_given_version_is_the_one_in_the_output(capfd: pytest.CaptureFixture[str]) -> None:
    assert app.run(["audit", str(FIVE), "--version", "5.3.1", "--json"]) == ExitCode.OK
    assert json.loads(capfd.readouterr().out)["version"] == "5.3.1"


DAMAGE: dict[str, tuple[Callable[[Path], None], str]] = {
    "a byte of the body": (lambda store: flip(store / LOG, 88), "does not match its checksum"),
    "a byte of the checksum": (lambda store: flip(store / LOG, 9), "does not match its checksum"),
    "a byte of the length": (lambda store: flip(store / LOG, 3), "its length says"),
    "a byte of the magic code": (lambda store: flip(store / LOG, 4), "the magic code is"),
    "a byte of the queue offset": (lambda store: flip(store / LOG, 349 + 27), "its consume queue says"),
    "a byte of the topic": (lambda store: flip(store / LOG, 100), "consume queue says"),
    "a byte of the physical offset": (lambda store: flip(store / LOG, 349 + 35), "says that it stands at"),
    "a byte of the stored time": (lambda store: flip(store / LOG, 349 + 60), "the records around it"),
    "a byte of the store's host": (lambda store: flip(store / LOG, 349 + 66), "no other record was"),
    "a key of the properties": (lambda store: flip(store / LOG, 349 + 118), ""),
    "a value of the properties": (lambda store: flip(store / LOG, 349 + 150), ""),
    "a cut inside the last record": (
        lambda store: cut(store / LOG, (store / LOG).stat().st_size - 5),
        "inside a record",
    ),
    "a cut in the middle": (lambda store: cut(store / LOG, 4_000), "inside a record"),
    "a cut between two records": (lambda store: cut(store / LOG, 349), "behind the commit log's end"),
    "an empty commit log file": (lambda store: cut(store / LOG, 0), "the file is empty"),
    "a record of zeros": (lambda store: zero(store / LOG, 349, 349), "passed over"),
    "a byte of a consume queue": (
        lambda store: flip(store / "consumequeue" / HALF / "0" / f"{0:020d}", 7),
        "the entry points to",
    ),
    "a byte of a size in a consume queue": (
        lambda store: flip(store / "consumequeue" / HALF / "0" / f"{0:020d}", 20 + 10),
        "the entry points to",
    ),
    "a byte of a tags code in a consume queue": (
        lambda store: flip(store / "consumequeue" / HALF / "0" / f"{0:020d}", 20 + 18),
        "the entry's tags code is",
    ),
    "a cut consume queue": (
        lambda store: cut(store / "consumequeue" / HALF / "0" / f"{0:020d}", 27),
        "it has no entry for the record",
    ),
    "a byte of the saved offsets": (
        lambda store: flip(store / "config" / "consumerOffset.json", 0),
        "can't be understood, config/consumerOffset.json.bak was read instead",
    ),
}


def zero(path: Path, at: int, size: int) -> None:
    raw = bytearray(path.read_bytes())
    raw[at : at + size] = bytes(size)
    path.write_bytes(raw)


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_gives_the_table_one_clear_line_and_exit_150(
    store: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    damage, words = DAMAGE[name]
    damage(store)
    assert app.run(["audit", str(store), "--json"]) == ExitCode.BAD_CONTENT
    out, err = capfd.readouterr()
    assert len(err.splitlines()) == 1
    assert err.startswith(f"halfcheck: {store}")
    assert words in err
    if out:
        content = json.loads(out)
        region = content["corrupt"][0]
        assert f"{region['file']}, byte {region['offset']}: {region['reason']}" in err
        assert app.run(["audit", str(store)]) == ExitCode.BAD_CONTENT
        assert f"corrupt: {region['file']}" in capfd.readouterr().out


def test_rows_and_a_page_are_written_and_never_over_something(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["audit", str(golden_store("4.9.7", "late").path), "--json", "--all"]
    words += ["--out", str(tmp_path / "rows"), "--report", str(tmp_path / "page.html")]
    assert app.run(words) == ExitCode.OK
    told = json.loads(capfd.readouterr().out)["transactions"]
    rows = pq.read_table(tmp_path / "rows").to_pylist()
    assert [row["unique_key"] for row in rows] == [row["unique_key"] for row in told]
    assert [row["history"] for row in rows] == [row["history"] for row in told]
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert all(row["unique_key"] in page for row in told if row["state"] == "doubled")
    assert "://" not in page.replace("http-equiv", "")
    assert app.run(words) == ExitCode.BAD_OPTION
    assert "it exists already" in capfd.readouterr().err


def test_a_master_that_is_none_is_refused_in_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    assert app.run(["audit", str(FIVE), "--master", "nonsense"]) == ExitCode.BAD_OPTION
    out, err = capfd.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert "--master nonsense: expected" in err


def without_log(store: Path) -> None:
    shutil.rmtree(store / "commitlog")


def emptied(store: Path) -> None:
    shutil.rmtree(store)
    store.mkdir()


def log_without_files(store: Path) -> None:
    without_log(store)
    (store / "commitlog").mkdir()


def foreign_log(store: Path) -> None:
    (store / LOG).write_bytes(b"%PDF-1.7 " * 100)


def misnamed_log(store: Path) -> None:
    (store / LOG).rename(store / "commitlog" / "log.bin")


def file_for_folder(store: Path) -> None:
    shutil.rmtree(store)
    store.write_text("not a store")


def missing(store: Path) -> None:
    shutil.rmtree(store)


def broken_conf(store: Path) -> None:
    (store / "broker.conf").write_text("storePathRootDir=D:\\users\n")


def misnamed_queue(store: Path) -> None:
    (store / "consumequeue" / HALF / "first").mkdir()


NOT_A_STORE: dict[Callable[[Path], None], str] = {
    missing: "does not exist",
    file_for_folder: "is a file",
    emptied: "has no commitlog/",
    without_log: "has no commitlog/",
    log_without_files: "holds no files",
    foreign_log: "is not a commit log",
    misnamed_log: "not a 20-digit offset",
    broken_conf: "the broker does not start",
    misnamed_queue: "its name is not a number",
}


@pytest.mark.parametrize("spoil", NOT_A_STORE, ids=lambda spoil: spoil.__name__)
def test_what_is_not_a_store_gives_one_clear_line_nothing_else_and_exit_150(
    store: Path, spoil: Callable[[Path], None], capfd: pytest.CaptureFixture[str]
) -> None:
    spoil(store)
    assert app.run(["audit", str(store), "--json"]) == ExitCode.BAD_CONTENT
    out, err = capfd.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert NOT_A_STORE[spoil] in err


@pytest.mark.parametrize(
    "arguments",
    [[], [str(FIVE), "extra"], [str(FIVE), "--nope"], [str(FIVE), "--limit", "-1"], [str(FIVE), "--version", "new"]],
)
def test_a_bad_option_gives_one_clear_line_and_exit_151(
    arguments: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert app.run(["audit", *arguments]) == ExitCode.BAD_OPTION
    out, err = capfd.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1


def test_what_is_lost_or_doubled_does_not_change_the_exit_code(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    writer = StoreWriter()
    writer.half()
    assert app.run(["audit", str(writer.write(tmp_path / "s"))]) == ExitCode.OK
    assert "1 transaction: 1 lost" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], 0),
        (["--fail-on", "doubled"], 12),
        (["--fail-on", "lost,damage"], 0),
        (["--fail-on", "lost,Doubled,damage"], 12),
        (["--fail-on", "doubled", "--transaction", "k4"], 0),
        (["--fail-on", "doubled", "--transaction", "k5", "--state", "parked"], 12),
        (["--fail-on", "doubled", "--since", "1h"], 0),
        (["--fail-on", "rolled back", "--topic", "TopicLate"], 12),
        (["--fail-on", "doubled", "--topic", "Other"], 0),
    ],
)
def test_what_is_to_fail_makes_the_exit_code(words: list[str], code: int, capfd: pytest.CaptureFixture[str]) -> None:
    assert app.run(["audit", str(golden_store("4.9.7", "late").path), "--json", *words]) == code
    content = json.loads(capfd.readouterr().out)
    assert not list(Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).iter_errors(content))


def test_damage_fails_unless_something_else_is_to_fail(store: Path, capfd: pytest.CaptureFixture[str]) -> None:
    flip(store / LOG, 88)
    for words, code in (([], 150), (["--fail-on", "lost"], 0), (["--fail-on", "damage"], 150)):
        assert app.run(["audit", str(store), *words]) == code
        assert "does not match its checksum" in capfd.readouterr().err


def test_one_transaction_is_found_by_its_key_with_where_and_when(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        assert app.run(["audit", str(golden_store("4.9.7", "late").path), "--key", "k4", "--json"]) == ExitCode.OK
    finally:
        monkeypatch.undo()
        time.tzset()
    content = json.loads(capfd.readouterr().out)
    (row,) = content["transactions"]
    assert (row["keys"], row["tags"], row["state"]) == ("k4", "TagL", "delivered")
    assert content["selected"]["delivered"] == 1
    assert row["born_at"].endswith("+08:00")
    assert datetime.fromisoformat(row["born_at"]).timestamp() * 1000 == pytest.approx(row["born"])
    kinds = [(event["event"], event["queue"]) for event in row["history"]]
    assert kinds[0] == ("half", 0)
    assert row["history"][0]["offset"] == row["half_offsets"][0]
    assert [event["offset"] for event in row["history"] if event["event"] == "op"] == row["op_offsets"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--state", "gone"], "--state: no state 'gone'; there are lost"),
        (["--state", ","], "--state: no state ''; there are lost"),
        (["--transaction", ""], "--transaction '': expected a UNIQ_KEY or one of the KEYS"),
        (["--since", "soon"], "--since 'soon': expected a time such as"),
        (["--since", "2999-01-01"], "--since '2999-01-01': it is to come"),
        (["--fail-on", "everything"], "--fail-on: no state 'everything'"),
        (["--fail-on", "damages"], "rolled_back, damage"),
        (["--fail-on", ""], "--fail-on: no state ''; there are lost"),
        (["--fail-on", " ,"], "--fail-on: no state ''; there are lost"),
        (["--csv", "/"], "--csv / is a directory; give a file"),
    ],
)
def test_a_filter_that_is_none_is_refused_in_one_line(
    words: list[str], said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert app.run(["audit", str(FIVE), *words]) == ExitCode.BAD_OPTION
    out, err = capfd.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert said in err


def test_where_nothing_fits_the_filter_it_is_said_and_nothing_is_called_right(
    capfd: pytest.CaptureFixture[str],
) -> None:
    for words, said in (
        (["--topic", "TopikLate"], "None of the 7 transactions fits --topic."),
        (["--group", "late-group", "--since", "1h"], "None of the 7 transactions fits --group and --since."),
        (["--transaction", "k4"], "Nothing that is asked for is lost, doubled, parked or pending."),
    ):
        assert app.run(["audit", str(golden_store("5.3.3", "late").path), *words]) == ExitCode.OK
        out = capfd.readouterr().out
        assert said in out
        assert ("Nothing" in out) == ("Nothing" in said)


def test_two_audits_do_not_write_to_one_place(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for option in ("--out", "--work"):
        with sole_writer(option, tmp_path / "rows"):
            assert app.run(["audit", str(FIVE), option, str(tmp_path / "rows")]) == ExitCode.BAD_OPTION
        _, err = capfd.readouterr()
        assert err == (
            f"halfcheck: {option} {tmp_path / 'rows'}: another audit is writing there; "
            "wait for it, or name another directory\n"
        )
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(audit_folders, "require_new", lambda _: (tmp_path / "rows" / "there").mkdir(parents=True))
    assert app.run(["audit", str(FIVE), "--out", str(tmp_path / "rows")]) == ExitCode.BAD_OPTION
    assert "another audit is writing there" in capfd.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["rows"]
