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


def test_results_come_in_order_from_other_processes_and_errors_with_their_part() -> None:
    with on_all_cores() as spread:
        assert list(spread(math.sqrt, [16, 4, 9])) == [4, 2, 3]
        results = spread(math.sqrt, [4, -1])
        assert next(results) == 2
        with pytest.raises(ValueError, match=r"domain|nonnegative"):
            next(results)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks safely")
def test_a_fork_gives_its_result_its_error_and_a_word_when_it_was_killed() -> None:
    assert in_a_fork(os.getpid) != os.getpid()
    with pytest.raises(ValueError, match=r"domain|nonnegative"):
        in_a_fork(partial(math.sqrt, -1))
    with pytest.raises(BrokenProcessPool):
        in_a_fork(partial(signal.raise_signal, signal.SIGKILL))


PROGRAM = """
import signal, sys, time
from functools import partial
from pathlib import Path
from model_check.processes import in_a_fork
signal.signal(signal.SIGINT, signal.default_int_handler)
def job(path):
    with path.open("w") as file:
        import os
        file.write(str(os.getpid())); file.flush()
        try:
            time.sleep(600)
        finally:
            path.with_suffix(".over").touch()
in_a_fork(partial(job, Path(sys.argv[1])))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks safely")
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_fork_ends_with_its_parent_and_cleans_up(tmp_path: Path, stop: signal.Signals) -> None:
    written = tmp_path / "pid"
    parent = subprocess.Popen([sys.executable, "-c", PROGRAM, written], stderr=subprocess.DEVNULL)
    while not written.is_file() or not written.read_text():
        assert parent.poll() is None
        sleep(0.02)
    child = Path("/proc", written.read_text())
    parent.send_signal(stop)
    assert parent.wait(60) != 0
    while child.exists() and "\nState:\tZ" not in (child / "status").read_text():
        sleep(0.02)
    assert written.with_suffix(".over").is_file()
