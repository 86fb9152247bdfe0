"""Whatever stands where a file was expected: one line, the exit code 150 or 151, and neither work nor memory for it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from halfcheck.app import run
from model_check.cache_folder import VARIABLE
from tests.halfcheck.bad_inputs import PLACES, SPOILS, make

SMALL = (0, 5, 28, 47, 67, 89, 104, 128, 134, 149, 171, 190)
KILOBYTES, READ_BYTES = 500_000, 200_000_000
HANGS_SECONDS = 120
"""A process that waits for ever, as for the other end of a pipe, is killed."""


def assert_is_said(number: int, code: int, told: str) -> None:
    bad = make_name(number)
    assert "unexpected" not in told, (number, bad, told)
    assert "Traceback" not in told, (number, bad, told)
    if code in (150, 151):
        assert told.count("\n") == 1, (number, bad, told)
        assert len(told) < 1_000, (number, bad, told)
    else:
        assert code in (0, 12), (number, bad, code, told)


def make_name(number: int) -> tuple[str, str]:
    names, places = list(SPOILS), list(PLACES)
    return names[number % len(names)], places[(number // len(names) + number) % len(places)]


@pytest.mark.parametrize("number", SMALL)
def test_a_bad_input_is_said_in_one_line(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = make(number, tmp_path)
    monkeypatch.chdir(tmp_path)
    code = run(bad.command)
    assert_is_said(number, code, capsys.readouterr().err)
    assert code in (150, 151) or not bad.is_needed


@pytest.mark.sweep
@pytest.mark.parametrize("part", range(10))
def test_for_three_hundred_bad_inputs_little_is_read_or_held_and_nothing_compiled(part: int, tmp_path: Path) -> None:
    for number in range(30 * part, 30 * (part + 1)):
        folder = tmp_path / str(number)
        folder.mkdir()
        bad = make(number, folder)
        kernels = folder / "kernels"
        code, told, read, kilobytes = taken(bad.command, folder, {VARIABLE: str(kernels)} if bad.is_needed else {})
        assert_is_said(number, code, told)
        assert code in (150, 151) or not bad.is_needed, (number, bad, code)
        assert not kernels.exists(), (number, bad)
        if code in (150, 151):  # else it is no bad input, and was judged
            assert read < READ_BYTES, (number, bad, read)
            assert kilobytes < KILOBYTES, (number, bad, kilobytes)


def taken(command: tuple[str, ...], folder: Path, variables: dict[str, str]) -> tuple[int, str, int, int]:
    """The exit code, what was said on stderr, bytes read of files and pipes, and the most memory in kilobytes."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])} | variables
    with (folder / "stderr").open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "halfcheck", *command],
            cwd=folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=said,
        )
        timer = threading.Timer(HANGS_SECONDS, process.kill)
        timer.start()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        counted = dict(line.split(": ") for line in Path(f"/proc/{process.pid}/io").read_text().splitlines())
        _, status, used = os.wait4(process.pid, 0)
        timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    told = (folder / "stderr").read_text(encoding="utf-8", errors="replace")
    return process.returncode, told, int(counted["rchar"]), used.ru_maxrss
