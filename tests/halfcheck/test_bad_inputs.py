"""Whatever stands where a file was expected: one line, the exit code 150 or 151, and neither time nor memory for it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from halfcheck.app import run
from tests.halfcheck.bad_inputs import PLACES, SPOILS, make

SMALL = (0, 5, 28, 47, 67, 89, 104, 128, 134, 149, 171, 190)
SECONDS, MOST_SECONDS, KILOBYTES = 5.0, 120, 500_000


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
def test_three_hundred_bad_inputs_take_neither_time_nor_memory(part: int, tmp_path: Path) -> None:
    for number in range(30 * part, 30 * (part + 1)):
        folder = tmp_path / str(number)
        folder.mkdir()
        bad = make(number, folder)
        code, told, seconds, kilobytes = taken(bad.command, folder)
        assert_is_said(number, code, told)
        assert code in (150, 151) or not bad.is_needed, (number, bad, code)
        if code in (150, 151):  # else it is no bad input, and was judged
            assert seconds < SECONDS, (number, bad, seconds)
            assert kilobytes < KILOBYTES, (number, bad, kilobytes)


def taken(command: tuple[str, ...], folder: Path) -> tuple[int, str, float, int]:
    """The exit code, what was said on stderr, processor seconds, and the most memory in kilobytes."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    with (folder / "stderr").open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "halfcheck", *command],
            cwd=folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=said,
        )
        timer = threading.Timer(MOST_SECONDS, process.kill)
        timer.start()
        _, status, used = os.wait4(process.pid, 0)
        timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    told = (folder / "stderr").read_text(encoding="utf-8", errors="replace")
    return process.returncode, told, used.ru_utime + used.ru_stime, used.ru_maxrss
