"""Ctrl-C in a Spark job: one line that says what is kept, no process left behind, and the same command goes on."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from conformance.golden_stores import golden_store
from halfcheck import app
from halfcheck.errors import ExitCode

LONGEST_SECONDS = 600
PROGRAM = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from halfcheck import app; sys.argv = ['halfcheck', *sys.argv[1:]]; app.main()"
)
"""Ctrl-C reaches it even if the tests run in the background."""

STORE = golden_store("5.3.3", "wide").path
RUNS = ("--of", "broker", "--traces", "600", "--steps", "12", "--instance", "tiny", "--faults", "crash")
"""Two files, each of which takes seconds: the broker is slower than a walk, and its files are small."""


def begun(tmp_path: Path, words: list[str]) -> subprocess.Popen[str]:
    """A command as a terminal starts it: it and Java are one group, which Ctrl-C reaches as a whole."""
    (tmp_path / "scratch").mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words, "--json"],
        env={**os.environ, "TMPDIR": str(tmp_path / "scratch")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )


def session(leader: int) -> list[str]:
    """The names of the processes of a session that still run."""
    names = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = place.read_text().partition("(")[2].rpartition(")")
        except (FileNotFoundError, ProcessLookupError):
            continue
        words = rest.split()
        if int(words[3]) == leader and words[0] != "Z":
            names.append(name)
    return names


def interrupted(tmp_path: Path, words: list[str], kept: Callable[[], int]) -> str:
    """Press Ctrl-C once something is kept; gives what is said, when no process is left."""
    process = begun(tmp_path, words)
    while not kept():
        assert process.poll() is None, process.communicate()
        sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=LONGEST_SECONDS)
    assert (process.returncode, out) == (ExitCode.INTERRUPTED, ""), err
    began = monotonic()
    while session(process.pid):
        assert monotonic() < began + LONGEST_SECONDS, session(process.pid)
        sleep(0.1)
    assert not list((tmp_path / "scratch").glob("halfcheck*"))
    return err


def gone_on(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What the command prints when nothing disturbs it, in this process, whose Java is warm."""
    code = app.run([*words, "--json"])
    out, err = capsys.readouterr()
    assert (code, err) == (ExitCode.OK, "")
    told: dict[str, Any] = json.loads(out)
    return told


def kept_of(err: str, what: str) -> int:
    """How many pieces the one line says."""
    found = re.fullmatch(
        rf"halfcheck: interrupted; (\d+) {what}s? (is|are) finished and kept, the same command goes on from there\n",
        err,
    )
    assert found is not None, err
    return int(found[1])


@pytest.mark.sweep
@pytest.mark.untraced
def test_simulate_and_analyze_go_on_after_ctrl_c(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, partial = tmp_path / "traces", tmp_path / "traces" / ".simulate" / "notes"
    words = ["simulate", *RUNS, "--master", "local[1]", "--out", str(out)]
    kept = kept_of(interrupted(tmp_path, words, lambda: len(list(partial.glob("*.json")))), "file")
    told = gone_on(words, capsys)
    assert (told["files_found"], kept, told["files"], told["reused"]) == (1, 1, 2, False)

    judging = ["analyze", str(out), "--master", "local[1]"]
    results = out / ".analysis"
    kept = kept_of(interrupted(tmp_path, judging, lambda: len(list(results.glob("*.json")))), "result")
    found = gone_on(judging, capsys)
    assert (found["traces"], found["files_found"] >= min(kept, told["files"])) == (told["traces"], True)
    assert not results.exists()
    again = gone_on(judging, capsys)
    assert (again["files_found"], again["violations"]) == (0, found["violations"])


AUDIT = ["audit", str(STORE), "--all", "--master", "local[1]"]


@pytest.mark.sweep
@pytest.mark.untraced
def test_an_audit_goes_on_after_ctrl_c(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, work = tmp_path / "rows", tmp_path / ".rows.audit"
    words = [*AUDIT, "--out", str(out)]
    kept = kept_of(interrupted(tmp_path, words, lambda: len(list(work.glob("scan-*.json")))), "task")
    assert not out.exists()
    told = gone_on(words, capsys)
    assert told["tasks_found"] >= kept
    assert not work.exists()
    assert gone_on(AUDIT, capsys) == told | {"tasks_found": 0}


def pressed(*_arguments: object, **_options: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.untraced
def test_an_audit_without_a_folder_that_has_a_name_keeps_nothing_and_promises_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scanned: list[Path] = []

    def pressed_behind_the_scan(job: object, scan: object, *_others: object) -> None:
        scanned.extend(tmp_path.glob("halfcheck-*/scan-*.json"))
        raise KeyboardInterrupt

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("spark_trace_analysis.audit.staged_audit._Job._check_queues", pressed_behind_the_scan)
    assert app.run(AUDIT) == ExitCode.INTERRUPTED
    assert capsys.readouterr().err == "halfcheck: interrupted\n"
    assert scanned
    assert not list(tmp_path.glob("halfcheck*"))


def test_ctrl_c_before_anything_is_kept_promises_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("spark_trace_analysis.cluster.session.require_java", pressed)
    words = ["simulate", "--traces", "10", "--instance", "tiny", "--out", str(tmp_path / "traces")]
    assert app.run(words) == ExitCode.INTERRUPTED
    assert capsys.readouterr().err == "halfcheck: interrupted\n"
