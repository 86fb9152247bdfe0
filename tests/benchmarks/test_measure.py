"""What a benchmark says of a process is true of it."""

import sys

from benchmarks.measure import measure


def test_seconds_memory_and_exit_code_are_those_of_the_process() -> None:
    program = "import sys, time; block = bytearray(64 << 20); time.sleep(0.2); sys.exit(12)"
    cost = measure([sys.executable, "-c", program])
    assert cost.exit_code == 12
    assert cost.seconds >= 0.2
    assert cost.peak_bytes >= 64 << 20
