"""``halfcheck diff`` of stores whose log lies elsewhere, and what it shows while it reads."""

from __future__ import annotations

import io
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from conformance import compare_stores
from conformance.golden_stores import golden_store
from halfcheck import app
from halfcheck.errors import ExitCode
from halfcheck.printing import progress
from spark_trace_analysis.ingest import store_trace

if TYPE_CHECKING:
    from pathlib import Path

FIVE = golden_store("5.3.3", "five").path


@pytest.fixture
def parted(tmp_path: Path) -> tuple[str, str]:
    """A store, and the folder elsewhere in which its log lies."""
    store = tmp_path / "store"
    shutil.copytree(FIVE, store, ignore=shutil.ignore_patterns("*.gz"))
    conf = store / "broker.conf"
    lines = [line for line in conf.read_text().splitlines() if "storePath" not in line]
    conf.write_text("\n".join(lines) + "\n")
    shutil.move(store / "commitlog", tmp_path / "log")
    return str(store), str(tmp_path / "log")


def test_the_log_of_a_store_is_read_from_the_folder_that_is_named(
    parted: tuple[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    store, log = parted
    assert app.run(["diff", store, "spec:5.3.3"]) == ExitCode.BAD_CONTENT
    assert "has no commitlog/ in it" in capfd.readouterr().err
    assert app.run(["diff", store, "spec:5.3.3", "--commit-log", log]) == ExitCode.OK
    assert app.run(["diff", "spec:5.3.3", store, "--commit-log", log]) == ExitCode.OK
    assert app.run(["diff", store, str(FIVE), "--commit-log", log]) == ExitCode.OK
    assert app.run(["diff", str(FIVE), store, "--other-commit-log", log]) == ExitCode.OK
    assert app.run(["diff", str(FIVE), store, "--commit-log", log]) == ExitCode.BAD_CONTENT


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("reference", "{store}", "--commit-log", "{log}"), "in STORE_DIR/commitlog; make that a link to the folder"),
        (("{store}", "spec:5.3.3", "--other-commit-log", "{log}"), "are not two stores; say --commit-log"),
        (("{log}/{name}", "{log}/{name}", "--commit-log", "{log}"), "is a store; leave it out"),
    ],
)
def test_folders_of_no_store_are_refused_with_what_to_do(
    parted: tuple[str, str], capfd: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    store, log = parted
    arguments = [word.format(store=store, log=log, name=f"{0:020d}") for word in words]
    assert app.run(["diff", *arguments]) == ExitCode.BAD_OPTION
    (line,) = capfd.readouterr().err.splitlines()
    assert message in line


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("sides", "expected"),
    [((FIVE, FIVE), "comparing "), ((FIVE, "spec:5.3.3"), "reading "), (("{trace}", FIVE), "reading ")],
)
def test_whoever_waits_sees_how_many_bytes_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sides: tuple[object, object], expected: str
) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_text("")
    told: list[str] = []

    def fitting(line: str, _width: int) -> str:
        told.append(line)
        return line

    for module in (compare_stores, store_trace):
        monkeypatch.setattr(module, "_PROGRESS_RECORDS", 1)
    monkeypatch.setattr("spark_trace_analysis.audit.audit_store._PROGRESS_RECORDS", 1)
    monkeypatch.setattr(progress, "fitting", fitting)
    monkeypatch.setattr(sys, "stderr", _Terminal())
    app.run(["diff", *(str(side).format(trace=trace) for side in sides)])
    lines = [line for line in told if line.startswith(expected) and line.endswith(" left")]
    assert lines, told
    assert all(" of 0 MB, " in line for line in lines), lines
