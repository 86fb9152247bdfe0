"""``halfcheck diff`` says whether the specification explains a store, and where it does not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft202012Validator

from conformance.golden_stores import golden_store
from halfcheck import app
from halfcheck.errors import ExitCode
from spark_trace_analysis.audit import audit
from tests.conformance.decoded_store import decoded_records

if TYPE_CHECKING:
    from collections.abc import Callable

FIVE = golden_store("5.3.3", "five").path
LATE = golden_store("5.3.3", "late").path
SCHEMA = Path(audit.__file__).with_name("diff_schema.json")


def told(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, dict[str, object]]:
    code = app.run(["diff", *map(str, arguments), "--json"])
    content: dict[str, object] = json.loads(capfd.readouterr().out)
    assert not list(Draft202012Validator(json.loads(SCHEMA.read_text())).iter_errors(content))
    return code, content


def test_a_store_is_explained_by_its_own_version_whichever_side_it_stands_on(capfd: pytest.CaptureFixture[str]) -> None:
    for sides in ((FIVE, "spec:5.3.3"), ("spec:5.3.3", FIVE)):
        code, content = told(capfd, *sides)
        assert (code, content["identical"], content["first_difference"]) == (ExitCode.OK, True, None)


def test_the_faults_that_the_path_needs_are_named(capfd: pytest.CaptureFixture[str]) -> None:
    assert app.run(["diff", str(LATE), "spec:5.3.3"]) == ExitCode.OK
    out = capfd.readouterr().out
    assert "accepted by the specification of 5.3.3 with 2 duplicate_end, 2 late_end, 3 wrong_end" in out


def test_another_version_is_refused_with_exit_code_12_and_the_record(capfd: pytest.CaptureFixture[str]) -> None:
    code, content = told(capfd, FIVE, "spec:4.9.7")
    assert (code, content["identical"]) == (ExitCode.SAFETY_VIOLATED, False)
    first = content["first_difference"]
    assert isinstance(first, dict)
    assert first["record"] == "op_stored op=0 names=[0, 1]"
    assert first["field"] == "record: the body of an op message is one half offset in this version"
    assert first["left"]["commit_log_offset"] == 2072


def test_a_switch_of_the_profile_can_be_turned(capfd: pytest.CaptureFixture[str]) -> None:
    immunity = golden_store("4.9.7", "immunity").path
    code, content = told(capfd, immunity, "spec:4.9.7+heeds_settled_originals")
    assert code == ExitCode.SAFETY_VIOLATED
    assert isinstance(content["first_difference"], dict)
    assert content["first_difference"]["field"] == "require: no op message that was pulled names its original"


def test_other_settings_than_the_stores_own_can_be_given(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    conf = (FIVE / "broker.conf").read_text().replace("transactionCheckMax=15", "transactionCheckMax=14")
    (tmp_path / "broker.conf").write_text(conf)
    code, content = told(capfd, FIVE, "spec:5.3.3", "--broker-conf", tmp_path / "broker.conf")
    assert code == ExitCode.SAFETY_VIOLATED
    assert isinstance(content["first_difference"], dict)
    assert content["first_difference"]["field"] == "require: it has checks left"


def test_a_damaged_store_is_not_compared(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "store"
    shutil.copytree(FIVE, store, ignore=shutil.ignore_patterns("*.gz"))
    log = store / "commitlog" / "00000000000000000000"
    raw = bytearray(log.read_bytes())
    raw[120] ^= 1
    log.write_bytes(raw)
    assert app.run(["diff", str(store), "spec:5.3.3"]) == ExitCode.BAD_CONTENT
    assert "a record is damaged" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        (("reference", "reference"), "one side must be a store directory with its logs beside it"),
        (("reference", "spec:5.3.3"), "the other side must be a store directory"),
        (("spec:5.3.3", "spec:4.9.7"), "the other side must be a store directory"),
        ((FIVE, "spec:9"), "no profile '9'; did you mean 5.5.1? There are 4.5.1, 4.9.7, 5.3.3, 5.4.0, 5.5.0, 5.5.1"),
        ((FIVE, "spec:5.3.3+magic"), "no switch 'magic'; halfcheck switches lists the 54 that there are"),
    ],
)
def test_a_bad_side_is_named(sides: tuple[object, object], message: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert app.run(["diff", *map(str, sides)]) == ExitCode.BAD_OPTION
    assert message in capfd.readouterr().err


def test_a_version_stands_for_its_specification_as_it_does_in_audit(capfd: pytest.CaptureFixture[str]) -> None:
    store = golden_store("5.5.1", "immunity").path
    by_version = told(capfd, store, "--version", "5.5.1")
    assert by_version == told(capfd, store, "spec:5.5.1")
    assert by_version[0] == ExitCode.OK
    assert told(capfd, store, "--version", "4.3.0")[0] == ExitCode.SAFETY_VIOLATED
    for words in (["diff", str(store)], ["audit", str(store)]):
        assert app.run([*words, "--version", "newest"]) == ExitCode.BAD_OPTION
        assert capfd.readouterr().err.startswith("halfcheck: no release 'newest'; expected one such as 4.5.1")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "give another side, or --version RELEASE"),
        (("spec:5.3.3", "--version", "5.3.3"), "spec:5.3.3 is the other side already"),
    ],
)
def test_either_another_side_or_a_version_is_given(
    words: tuple[str, ...], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert app.run(["diff", str(FIVE), *words]) == ExitCode.BAD_OPTION
    (line,) = capfd.readouterr().err.splitlines()
    assert message in line


def test_a_missing_store_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    assert app.run(["diff", "nowhere", "spec:5.3.3"]) == ExitCode.BAD_CONTENT
    assert "nowhere" in capfd.readouterr().err


def test_the_version_option_of_audit_wins_over_what_the_records_show(capfd: pytest.CaptureFixture[str]) -> None:
    assert app.run(["audit", str(FIVE), "--version", "5.0.0", "--json"]) == ExitCode.OK
    trace = json.loads(capfd.readouterr().out)["trace"]
    assert (trace["accepted"], trace["profile"], trace["explained"]) == (False, "4.9.7", 6)
    assert trace["divergence"]["event"]["event"] == "op_stored"


def test_without_settings_a_store_that_the_defaults_do_not_explain_is_not_judged(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(FIVE / "commitlog", tmp_path / "store" / "commitlog")
    assert app.run(["audit", str(tmp_path / "store"), "--json"]) == ExitCode.OK
    trace = json.loads(capfd.readouterr().out)["trace"]
    assert (trace["accepted"], trace["divergence"]) == (None, None)
    assert trace["reason"].startswith("its broker.conf is missing, and with the default settings it is refused by ")


@pytest.mark.parametrize("name", ["4.9.7/crash2", "5.3.3/crash2", "5.3.3/crash", "5.4.0/crash"])
def test_a_store_as_it_was_when_its_broker_was_killed_is_explained(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    killed = golden_store(*name.split("/")).at_kill
    assert app.run(["audit", str(killed), "--json"]) == ExitCode.OK
    trace = json.loads(capfd.readouterr().out)["trace"]
    assert (trace["accepted"], trace["faults"]) == (True, {})


@pytest.mark.parametrize(("version", "scenario"), [("4.9.7", "late"), ("5.3.3", "crash2"), ("5.4.0", "ten")])
def test_the_reference_broker_writes_the_store_again_from_the_logs_beside_it(
    version: str, scenario: str, capfd: pytest.CaptureFixture[str]
) -> None:
    golden = golden_store(version, scenario)
    code, content = told(capfd, "reference", golden.path)
    assert (code, content["identical"], content["first_difference"]) == (ExitCode.OK, True, None)
    assert content["records"] == sum(1 for _ in decoded_records(golden))


def test_a_byte_that_the_reference_broker_does_not_write_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "store"
    shutil.copytree(FIVE, store)
    log = store / "commitlog" / f"{0:020d}"
    log.chmod(0o644)
    raw = bytearray(log.read_bytes())
    raw[349 + 19] ^= 1
    log.write_bytes(raw)
    code, content = told(capfd, "reference", store)
    assert (code, content["records"]) == (ExitCode.SAFETY_VIOLATED, 1)
    first = {"record": "record 1 at 349 (RMQ_SYS_TRANS_HALF_TOPIC)", "field": "flag", "left": "0", "right": "1"}
    assert content["first_difference"] == first
    code, content = told(capfd, store, FIVE)
    assert (code, content["first_difference"]) == (
        ExitCode.SAFETY_VIOLATED,
        first | {"left": "1", "right": "0"},
    )
    assert app.run(["diff", str(store), str(FIVE)]) == ExitCode.SAFETY_VIOLATED
    assert "1 records are identical, then record 1 at 349" in capfd.readouterr().out


def with_text(name: str, text: str) -> Callable[[Path], None]:
    """Put a text in the place of a log of the run."""

    def spoil(store: Path) -> None:
        (store / f"{name}.gz").unlink(missing_ok=True)
        (store / name).write_text(text)

    return spoil


def without_port(store: Path) -> None:
    conf = store / "broker.conf"
    conf.write_text("\n".join(line for line in conf.read_text().splitlines() if "listenPort" not in line))


def with_setting(line: str) -> Callable[[Path], None]:
    def spoil(store: Path) -> None:
        conf = store / "broker.conf"
        conf.write_text(f"{line}\n{conf.read_text()}")

    return spoil


SPOILT: dict[str, tuple[Callable[[Path], None], str]] = {
    "a version that there is not": (
        with_text("meta.json", '{"version": "9.9.9", "events": []}'),
        "there is no reference broker of version 9.9.9; there are 4.5.1",
    ),
    "no version": (with_text("meta.json", '{"events": []}'), "does not say version and events"),
    "events without a time": (
        with_text("meta.json", '{"version": "5.3.3", "events": [{"ev": "broker up"}]}'),
        "does not say version and events, each with its name and time",
    ),
    "half a JSON file": (with_text("meta.json", "{"), "meta.json: not JSON: "),
    "half a JSON line": (with_text("driver.jsonl", '{}\n{"ev"'), "driver.jsonl, line 2: not JSON: "),
    "a JSON line that is a list": (with_text("driver.jsonl", "[1]"), "driver.jsonl, line 1: not a JSON object"),
    "no requests": (with_text("driver.jsonl", ""), "was sent by no request of code 310"),
    "no address": (without_port, "does not set listenPort"),
    "a broker.conf that no broker loads": (
        with_setting("storePathRootDir=D:\\users"),
        "broker.conf, line 1: ",
    ),
}


@pytest.mark.parametrize("name", SPOILT)
def test_a_run_that_cannot_be_read_gives_one_clear_line_that_names_the_file(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    spoil, words = SPOILT[name]
    store = tmp_path / "five"
    shutil.copytree(FIVE, store)
    for path in (store, *store.iterdir()):
        path.chmod(0o755 if path.is_dir() else 0o644)
    spoil(store)
    assert app.run(["diff", "reference", str(store)]) == ExitCode.BAD_CONTENT
    out, err = capfd.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert words in err
    assert str(store) in err or "listenPort" in err


def test_a_store_without_logs_is_no_match_for_the_reference_broker(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(FIVE / "commitlog", tmp_path / "a" / "commitlog")
    assert app.run(["diff", "reference", str(tmp_path / "a")]) == ExitCode.BAD_CONTENT
    assert "has no driver.jsonl, transaction.log, meta.json, broker.conf" in capfd.readouterr().err
