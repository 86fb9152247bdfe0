"""A driver that dies by SIGKILL in the middle of a simulation: the same command completes it, without doubles."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from model_check.world import World
from spark_trace_analysis.traces.manifest import Parameters
from spark_trace_analysis.traces.simulate import simulate
from spark_trace_analysis.traces.unfinished_run import WORK

PARAMETERS = Parameters(World.of("5.3.3", ("crash",), "tiny"), seed=11, traces=60_000, steps=60, choice="weighted")
FILES = 6


@pytest.mark.sweep
@pytest.mark.untraced
def test_a_simulation_whose_driver_was_killed_is_completed_to_the_same_bytes(
    spark: SparkSession, tmp_path: Path
) -> None:
    command = [
        sys.executable,
        "-m",
        *PARAMETERS.command.split(),
        "--master",
        "local[1]",
        "--out",
        str(tmp_path / "run"),
    ]
    driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    notes = tmp_path / "run" / WORK / "notes"
    while driver.poll() is None and not list(notes.glob("*.json")):
        time.sleep(0.005)
    driver.send_signal(signal.SIGKILL)
    assert driver.wait() == -signal.SIGKILL
    assert not (tmp_path / "run" / "manifest.json").exists()

    done = simulate(spark, PARAMETERS, tmp_path / "run")
    assert 0 < done.files_found < FILES == len(done.run.manifest.files)
    undisturbed = simulate(spark, PARAMETERS, tmp_path / "undisturbed")
    assert undisturbed.files_found == 0
    assert content_of(tmp_path / "run") == content_of(tmp_path / "undisturbed")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "undisturbed"]


def content_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
