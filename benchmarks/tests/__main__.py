"""``python -m benchmarks.tests [FILE ...]``: run the tests on four processes and write down the processor seconds.

Without files it runs all tests that `make test` runs and writes `RESULTS.md` and, for the order of the next run,
`seconds.toml`; of files it only prints the seconds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.tests.processor_seconds import FOLDER
from conftest import group_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

HERE: Final = Path(__file__).parent
MARK: Final = "<!-- measured -->\n"
"""What stands before it in `RESULTS.md` is written by hand, what stands behind it by this module."""


def main(files: list[str]) -> int:
    """Run, then write or print; the exit code is pytest's."""
    with tempfile.TemporaryDirectory(prefix="halfcheck_bench_") as folder:
        began = time.perf_counter()
        command = (sys.executable, "-m", "pytest", "-n", "4", "-p", "benchmarks.tests.processor_seconds", *files)
        code = subprocess.run(command, env={**os.environ, FOLDER: folder}, check=False).returncode
        whole = time.perf_counter() - began
        costs = read_costs(Path(folder))
    if files:
        print(table(costs, file_of))
        return code
    groups = seconds_by(costs, group_of)
    lines = [f'"{group}" = {seconds:.1f}\n' for group, seconds in groups if seconds >= 1]
    text = "# Written by `make bench-tests`: processor seconds of the groups of tests that one worker takes.\n"
    (HERE / "seconds.toml").write_text(text + "".join(lines))
    results = HERE / "RESULTS.md"
    by_hand = results.read_text().partition(MARK)[0]
    results.write_text(by_hand + MARK + measured(costs, groups, whole))
    return code


def read_costs(folder: Path) -> dict[str, float]:
    """Test → processor seconds, of all workers."""
    told = (json.loads(line) for file in folder.glob("*.jsonl") for line in file.read_text().splitlines())
    return {test["test"]: test["seconds"] for test in told}


def file_of(test: str) -> str:
    """The file of a test or of an example in a docstring."""
    return test.split("::", maxsplit=1)[0]


def seconds_by(costs: dict[str, float], name: Callable[[str], str]) -> list[tuple[str, float]]:
    """Group → processor seconds, the longest first."""
    sums: dict[str, float] = defaultdict(float)
    for test, seconds in costs.items():
        sums[name(test)] += seconds
    return sorted(sums.items(), key=lambda group: -group[1])


def measured(costs: dict[str, float], groups: Iterable[tuple[str, float]], whole: float) -> str:
    """What stands in `RESULTS.md`."""
    longest = next(iter(groups))
    load = os.getloadavg()[2]
    return f"""
{len(costs):,} tests, {sum(costs.values()):,.0f} processor seconds; {whole:,.0f} seconds by the clock on four workers,
collection included (load of the last 15 minutes: {load:.1f}; above 2, others shared the cores). The longest group that
one worker takes alone is {longest[0]}: {longest[1]:,.0f} s.

{table(costs, file_of)}"""


def table(costs: dict[str, float], name: Callable[[str], str]) -> str:
    """The groups above a second as a table of Markdown."""
    rows = [f"| `{group}` | {seconds:,.1f} |\n" for group, seconds in seconds_by(costs, name) if seconds >= 1]
    return "| file | processor seconds |\n|---|--:|\n" + "".join(rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
