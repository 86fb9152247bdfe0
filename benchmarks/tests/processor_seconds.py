"""A plugin of pytest that writes down the processor seconds of each test, with those of all processes that it starts.

Seconds of a clock say little on a machine that does other work beside; these don't change with it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.computer import family, ticks

if TYPE_CHECKING:
    from collections.abc import Generator

FOLDER = "HALFCHECK_TEST_COSTS"
"""The variable that names the folder; each worker writes a file of its own there, a line a test."""

TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds(process: int) -> float:
    """Seconds that a process, all that it started and all that ended below them have used, from /proc of Linux."""
    return sum(ticks(number, with_ended_children=True) for number in family(process)) / TICKS


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Measure the whole of a test, with the fixtures that are made and ended for it."""
    before = processor_seconds(os.getpid())
    result = yield
    # What a process took that was killed together with its parent is no longer to be seen behind it.
    seconds = max(processor_seconds(os.getpid()) - before, 0.0)
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw")
    with (Path(os.environ[FOLDER]) / f"{worker}.jsonl").open("a") as lines:
        lines.write(json.dumps({"test": item.nodeid, "seconds": round(seconds, 2)}) + "\n")
    return result
