"""``python -m benchmarks.filesystems [REPETITIONS TRACES MEGABYTES]``: seconds by place; writes RESULTS.md."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Final

from benchmarks.audit.written_store import write_store
from benchmarks.computer import bars, computer
from benchmarks.filesystems.servers import PROJECT, Servers, digests, halfcheck, servers
from files.remote_path import location
from files.writing import remove_folder
from tests.files.places import upload

if TYPE_CHECKING:
    from collections.abc import Sequence

RESULTS: Final = Path(__file__).with_name("RESULTS.md")
MOST: Final = 1.25
USUAL: Final = (5, 200_000, 300)

Seconds = dict[str, dict[str, list[float]]]
"""Of a command, of a place: each repetition."""


def commands(place: str, traces: int) -> dict[str, tuple[list[str], str]]:
    """The words of each command, and the name of what it writes."""
    walks = ("--profile", "5.3.3", "--faults", "crash,lose_end", "--traces", str(traces), "--instance", "tiny")
    return {
        "simulate": (["simulate", *walks, "--master", "local[2]", "--out", f"{place}/traces"], "traces"),
        "analyze": (["analyze", f"{place}/traces", "--master", "local[2]", "--out", f"{place}/verdicts"], "verdicts"),
        "report": (
            ["analyze", f"{place}/traces", "--master", "local[2]", "--report", f"{place}/report.html"],
            "report.html",
        ),
        "audit": (["audit", f"{place}/store", "--out", f"{place}/rows"], "rows"),
    }


def main(words: Sequence[str]) -> int:
    """Measure, print and write the page; gives how many bars are not met."""
    given = [int(word) for word in words]
    repetitions, traces, megabytes = [*given, *USUAL[len(given) :]]
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="halfcheck_filesystems_") as name:
        folder = Path(name)
        write_store(folder / "store", megabytes * 1_000_000)
        (folder / "store" / "expected.json").unlink(missing_ok=True)
        with servers(folder / "servers") as running:
            for place in running.places.values():
                upload(folder / "store", location(f"{place}/store"))
            _repeat(running, ["folder"], 1_000, {})  # compiles what they need
            seconds: Seconds = {}
            same = True
            names = list(running.places)
            for _ in range(repetitions):
                same &= _repeat(running, names, traces, seconds)
                names = [*names[1:], names[0]]
                text, missed = page(seconds, traces, megabytes, (load, os.getloadavg()[0]), same=same)
                RESULTS.write_text(text, encoding="utf-8")
    print(text)
    return missed + (not same)


def _repeat(running: Servers, names: Sequence[str], traces: int, seconds: Seconds) -> bool:
    """Each command in some places, one after the other; says whether all wrote the same bytes."""
    same = True
    for command in commands("", 0):
        found = {}
        for name in names:
            place = running.places[name]
            words, written = commands(place, traces)[command]
            began = perf_counter()
            subprocess.run(
                halfcheck(*words), stdout=subprocess.DEVNULL, env=running.environment, cwd=PROJECT, check=True
            )
            taken = perf_counter() - began
            seconds.setdefault(command, {}).setdefault(name, []).append(taken)
            found[name] = digests(place, written)
            print(f"{command} {name}: {taken:.1f} s", file=sys.stderr, flush=True)
        same &= all(each == found["folder"] for each in found.values())
    for place in running.places.values():
        for written in ("traces", "verdicts", "rows"):
            remove_folder(location(f"{place}/{written}"))
    shutil.rmtree(running.folder / "traces", ignore_errors=True)
    return same


def page(seconds: Seconds, traces: int, megabytes: int, loads: tuple[float, float], *, same: bool) -> tuple[str, int]:
    """RESULTS.md, and how many bars are not met."""
    rows, missed = [], 0
    repetitions = 0
    for command, places in seconds.items():
        here = places["folder"]
        repetitions = len(here)
        for name in ("S3", "HDFS"):
            ratio = median(there / at for there, at in zip(places[name], here, strict=True))
            found = f"{median(places[name]):.1f} s against {median(here):.1f} s: {ratio:.2f}"
            rows.append((f"{command} on {name}", f"at most {MOST}", found, ratio <= MOST))
            missed += ratio > MOST
    rows.append(("the same bytes in all three", "yes", "yes" if same else "no", same))
    each = [
        f"| {command} | {name} | {' '.join(f'{one:.1f}' for one in found)} |"
        for command, places in seconds.items()
        for name, found in sorted(places.items(), key=lambda pair: pair[0] != "folder")
    ]
    lines = [
        "# The pipeline on a folder, on S3 and on HDFS",
        "",
        "Written by `make bench-filesystems`.",
        "",
        computer("PySpark", "obstore", "hdfs-native"),
        "The servers are SeaweedFS, and a NameNode and DataNodes of Hadoop's, all on this machine, on the same disk",
        f"and cores. {traces:,} traces of 5.3.3 with crashes and lost ends on `tiny` are simulated, judged with a row",
        f"for each verdict, and judged once more with a report; a store of {megabytes} MB is audited into rows. Each",
        "command is a process of its own, from its start to its end. In a repetition each command runs in the three",
        "places one after the other, in an order that turns. A ratio is the median of those within a repetition.",
        f"The load average was {loads[0]:.1f} before and {loads[1]:.1f} after; above {os.cpu_count()}, others shared",
        "the cores.",
        "",
        *bars(rows),
        "",
        f"Seconds of the {repetitions} repetitions:",
        "",
        "| Command | Place | Seconds |",
        "|---|---|---|",
        *each,
        "",
    ]
    return "\n".join(lines), missed


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
