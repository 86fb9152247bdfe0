"""``halfcheck audit`` reads the log and the settings from where its options say, and puts no answer there."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from conformance.golden_stores import golden_store
from halfcheck import app
from halfcheck.errors import ExitCode

if TYPE_CHECKING:
    from pathlib import Path

FIVE = golden_store("5.3.3", "five").path
LOG = "commitlog/00000000000000000000"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return shutil.copytree(FIVE, tmp_path / "store")


def told(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[dict[str, Any], list[str]]:
    """The JSON of an audit, and what it says on stderr."""
    assert app.run(["audit", *words, "--json"]) == ExitCode.OK
    out, err = capfd.readouterr()
    content: dict[str, Any] = json.loads(out)
    return content, err.splitlines()


def test_the_log_is_read_where_the_option_says(store: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    whole, _ = told(capfd, str(store))
    (store / "commitlog").rename(tmp_path / "elsewhere")
    content, _ = told(capfd, str(store), "--commit-log", str(tmp_path / "elsewhere"))
    assert content["transactions"] == whole["transactions"]
    assert content["notes"] == [f"its log is read from {tmp_path / 'elsewhere'}"]
    assert app.run(["audit", str(store)]) == ExitCode.BAD_CONTENT
    capfd.readouterr()
    place = tmp_path / "elsewhere" / "rows.csv"
    assert app.run(["audit", str(store), "--commit-log", str(place.parent), "--csv", str(place)]) == ExitCode.BAD_OPTION
    assert "which an audit only reads" in capfd.readouterr().err


def test_the_settings_are_those_of_the_file_that_the_option_names(
    store: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """With 3 checks instead of 15, no broker writes the copies that the store holds."""
    other = tmp_path / "other.conf"
    other.write_text("transactionCheckMax=3\ntransactionCheckIntervall=60s\n")
    content, err = told(capfd, str(store), "--broker-conf", str(other))
    assert content["trace"]["broker_conf"] == str(other)
    assert content["trace"]["accepted"] is False
    assert [line for line in err if f"{other}: line 2: transactionCheckIntervall is no setting of 5.3.3" in line]
    content, err = told(capfd, str(store))
    assert (content["trace"]["broker_conf"], content["trace"]["accepted"]) == (str(store / "broker.conf"), True)
    assert not [line for line in err if str(other) in line]


def test_of_a_guessed_release_keys_that_another_one_reads_are_no_mistakes(
    store: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_bytes((store / "broker.conf").read_bytes() + b"transRocksDBEnable=false\n")
    said = "transRocksDBEnable is no setting of 5.3.3, whose broker ignores it; releases from 5.4.0 on have it"
    for words, is_said in (([], False), (["--version", "5.3.3"], True)):
        _, err = told(capfd, str(store), "--broker-conf", str(conf), *words)
        assert any(said in line for line in err) is is_said


def test_no_answer_goes_where_another_one_or_the_store_is(
    store: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}
    (tmp_path / "link").symlink_to(tmp_path / "what it names")
    os.mkfifo(tmp_path / "pipe")
    rows = str(tmp_path / "rows")
    for words, said in (
        (["--csv", f"{rows}.csv", "--resend", f"{rows}.csv"], f"--resend {rows}.csv lies where --csv {rows}.csv goes"),
        (["--csv", f"{rows}/all.csv", "--out", rows], f"--csv {rows}/all.csv lies where --out {rows} goes"),
        (["--out", rows, "--work", rows], f"--work {rows} lies where --out {rows} goes"),
        (["--csv", str(store / LOG)], "which an audit only reads; name a place outside of it"),
        (["--out", str(store / "rows")], "which an audit only reads"),
        (["--csv", str(tmp_path / "link")], "is a link, which the file would replace; give a file"),
        (["--csv", str(tmp_path / "pipe")], "is a device or a pipe"),
        (["--csv", "-"], "--csv - is no name for a file; give a file"),
    ):
        assert app.run(["audit", str(store), *words]) == ExitCode.BAD_OPTION, words
        out, err = capfd.readouterr()
        assert (out, len(err.splitlines())) == ("", 1)
        assert said in err
    assert {path: path.read_bytes() for path in store.rglob("*") if path.is_file()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "pipe", "store"]
