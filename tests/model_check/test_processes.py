"""Parts of a job in processes of their own: results in order, and errors with the part that they are of."""

import math
import os
import signal
import subprocess
import sys
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from time import sleep

import pytest

from model_check.processes import in_a_fork, on_all_cores
from tests.processes import ends


def test_results_come_in_order_from_other_processes_and_errors_with_their_part() -> None:
    with on_all_cores() as spread:
        assert list(spread(math.sqrt, [16, 4, 9])) == [4, 2, 3]
        results = spread(math.sqrt, [4, -1])
        assert next(results) == 2
        with pytest.raises(ValueError, match=r"domain|nonnegative"):
            next(results)


def test_a_fork_gives_its_result_its_error_and_a_word_when_it_was_killed() -> None:
    assert in_a_fork(os.getpid) != os.getpid()
    with pytest.raises(ValueError, match=r"domain|nonnegative"):
        in_a_fork(partial(math.sqrt, -1))
    with pytest.raises(BrokenProcessPool):
        in_a_fork(partial(signal.raise_signal, signal.SIGKILL))


PROGRAM = """
import os, signal, sys, time
from functools import partial
from pathlib import Path
from model_check.processes import in_a_fork, on_all_cores
from tests.processes import ends
signal.signal(signal.SIGINT, signal.default_int_handler)

def job(path):
    path.with_suffix(".new").write_text(str(os.getpid()))
    path.with_suffix(".new").rename(path)
    try:
        time.sleep(600)
    finally:
        path.with_suffix(".over").touch()

if __name__ == "__main__":
    if sys.argv[1] == "fork":
        in_a_fork(partial(job, Path(sys.argv[2])))
    with on_all_cores() as spread:
        list(spread(job, [Path(sys.argv[2])]))
"""


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("kind", ["fork", "spawn"])
def test_a_process_ends_with_its_parent_and_a_fork_cleans_up(tmp_path: Path, kind: str, stop: signal.Signals) -> None:
    program, written = tmp_path / "program.py", tmp_path / "pid"
    program.write_text(PROGRAM)
    parent = subprocess.Popen(
        [sys.executable, program, kind, written],
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    while not written.is_file():
        assert parent.poll() is None
        sleep(0.02)
    parent.send_signal(stop)
    assert parent.wait(60) != 0
    assert ends(int(written.read_text()))
    assert written.with_suffix(".over").is_file() == (kind == "fork")
