"""A search whose process is killed, whenever that is, ends as if it had never stopped."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from halfcheck.verdicts.files import VerdictFiles
from model_check.world import World

if TYPE_CHECKING:
    from pathlib import Path

KILLED_AT = (1, 150_000, 400_000, 700_000)
"""States that the last checkpoint has, at least, when the process is killed."""

UNTOLD = ("seconds", "compile_seconds", "states_per_second", "peak_bytes", "disk_bytes", "resumed_from")
WORLD, SMALLER = World.of("5.3.3", ["clock_step"], "small"), World.of("5.3.3", ["crash"], "small")
CHECK = [sys.executable, "-m", "halfcheck", "check", "--json"]


@pytest.fixture(autouse=True, params=["small"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def finished(*options: object) -> dict[str, Any]:
    told = subprocess.run([*CHECK, *map(str, options)], capture_output=True, text=True, check=False)
    assert told.returncode == 12, told.stderr
    answer: dict[str, Any] = json.loads(told.stdout)
    return answer


def without_times(answer: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if key not in UNTOLD}


def states_of(folder: Path) -> int:
    file = folder / "checkpoint.json"
    return int(json.loads(file.read_text())["distinct"]) if file.exists() else 0


def kill_at(states: int, folder: Path, *options: object) -> None:
    """Start the search, and kill it as soon as a checkpoint has so many states."""
    process = subprocess.Popen([*CHECK, *map(str, options)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while states_of(folder) < states:
        assert process.poll() is None, process.communicate()
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    ("mode", "killed_at", "world"),
    [
        pytest.param((), (1, 120_000), SMALLER, id="exact"),
        pytest.param(("--engine", "fingerprints"), (400_000,), WORLD, id="fingerprints", marks=pytest.mark.sweep),
        pytest.param(("--memory", "32M"), (400_000,), WORLD, id="spilled", marks=pytest.mark.sweep),
        pytest.param((), KILLED_AT, WORLD, id="exact, four times", marks=pytest.mark.sweep),
        pytest.param(
            ("--engine", "fingerprints"), KILLED_AT[::3], WORLD, id="fingerprints, twice", marks=pytest.mark.sweep
        ),
        pytest.param(("--memory", "32M"), KILLED_AT[::3], WORLD, id="spilled, twice", marks=pytest.mark.sweep),
    ],
)
def test_a_search_that_is_killed_again_and_again_ends_with_the_same_answer(
    tmp_path: Path, mode: tuple[str, ...], killed_at: tuple[int, ...], world: World
) -> None:
    options = (*world.options.split(), *mode)
    whole = finished(*options)
    entry = VerdictFiles().table().of(world.profile, world.instance)[world.environment]
    assert (whole["distinct"], whole["generated"], whole["depth"]) == (entry.distinct, entry.generated, entry.depth)
    folder = tmp_path / "checkpoint"
    saved = ("--checkpoint", folder, "--checkpoint-every", 0, *options)
    for number, states in enumerate(killed_at):
        kill_at(states, folder, *saved, "--threads", 1 + number % 2, *(["--resume"] if number else []))
    kept = states_of(folder)
    resumed = finished(*saved, "--resume", "--threads", 2)
    assert killed_at[-1] <= kept == resumed["resumed_from"]
    assert without_times(resumed) == without_times(whole)
