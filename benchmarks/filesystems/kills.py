"""``python -m benchmarks.filesystems.kills [SEED KILLS]``: kills at random moments on S3 and on HDFS; writes KILLS.md.

The driver with all that it started, one of its Python workers, or the server is killed with SIGKILL while a command
runs; a server is started again soon after. Whatever did not end well is run again by the same command. Meanwhile
somebody reads whatever stands in the folder that is written, over and over, and holds it for whole or not.
"""

from __future__ import annotations

import io
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.computer import computer
from benchmarks.filesystems.servers import PROJECT, Servers, digests, files_below, halfcheck, servers
from benchmarks.looking import looking
from conformance.golden_stores import golden_store
from files.reading import read_bytes
from files.remote_path import location
from tests.files.places import upload
from tests.processes import is_over
from tests.spark_trace_analysis.cluster.standalone_cluster import kill_tree, tree_of

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

RESULTS: Final = Path(__file__).with_name("KILLS.md")
KILLS: Final = 40
TRACES: Final = 40_000
STORE: Final = "5.3.3", "mixed"
COMMANDS: Final = ("simulate", "audit", "analyze", "audit")
VICTIMS: Final = ("driver", "worker", "server")
EARLIEST: Final = 0.3
"""The part of a command's seconds before which nothing is killed: Spark starts."""
_LONGEST_SECONDS: Final = 300.0
_MOST_RUNS: Final = 4
_LOOK_SECONDS: Final = 0.3
_DAEMON: Final = "spark_trace_analysis.cluster.worker_daemon"
_IS_WHOLE: Final = "it exists already; name a new directory"


@dataclass
class Case:
    """One kill, and what became of it."""

    place: str
    command: str
    victim: str
    after_seconds: float
    killed: str = "nothing"
    runs: int = 0
    lines: list[str] = field(default_factory=list)
    is_same: bool = False
    looked_at: int = 0
    broken: list[str] = field(default_factory=list)

    @property
    def is_right(self) -> bool:
        """Whether something was killed, no line was more than one, the result is the same, and all read was whole."""
        told = all(len(line.splitlines()) == 1 for line in self.lines)
        return self.killed != "nothing" and self.is_same and not self.broken and told

    def row(self, number: int) -> str:
        """A row of the table."""
        told = "; ".join(dict.fromkeys(self.lines)).replace("\n", " / ").replace("|", "/")
        cells = (
            *(str(number), self.place, self.command, self.killed, f"{self.after_seconds:.1f}", str(self.runs)),
            *(str(self.looked_at), str(len(self.broken)), "yes" if self.is_same else "NO", told[:200]),
        )
        return f"| {' | '.join(cells)} |"


def words_of(command: str, root: str, out: str, victim: str = "") -> list[str]:
    """The words of a command that writes a folder below the root; an audit has workers where one is to be killed."""
    walks = ("--profile", "5.3.3", "--faults", "crash", "--traces", str(TRACES), "--instance", "tiny")
    words = {
        "simulate": ["simulate", *walks, "--out", f"{root}/{out}"],
        "analyze": ["analyze", f"{root}/traces", "--out", f"{root}/{out}"],
        "audit": ["audit", f"{root}/store", "--work", f"{root}/.{out}.work", "--out", f"{root}/{out}"],
    }[command]
    return [*words, "--master", "local[2]"] if command != "audit" or victim == "worker" else words


def main(seed: int, kills: int) -> int:
    """Kill so often, print and write the page; gives how many cases are not right."""
    chance, cases, began = random.Random(seed), [], perf_counter()
    with tempfile.TemporaryDirectory(prefix="halfcheck_kills_") as name:
        folder = Path(name)
        with servers(folder / "servers") as running:
            for place in running.places.values():
                upload(golden_store(*STORE).path, location(f"{place}/store"))
            usual = _expected(running)
            for number in range(kills):
                place = ("S3", "HDFS")[number % 2]
                command = COMMANDS[number // 2 % len(COMMANDS)]
                victim = VICTIMS[number // 2 % len(VICTIMS)]
                seconds, expected = usual[command]
                case = Case(place, command, victim, seconds * chance.uniform(EARLIEST, 1.0))
                cases.append(case)
                _kill(running, case, f"case-{number}", expected, chance)
                print(case.row(number + 1), *case.broken, file=sys.stderr, flush=True)
                RESULTS.write_text(_page(cases, seed, perf_counter() - began), encoding="utf-8")
    return sum(not case.is_right for case in cases)


def _expected(running: Servers) -> dict[str, tuple[float, dict[str, str]]]:
    """What each command takes and writes in a folder, once nothing is to be compiled; traces are left in each place."""
    found = {}
    for command in dict.fromkeys(COMMANDS):
        out = "traces" if command == "simulate" else f"{command}-expected"
        for name in ("folder", "S3", "HDFS") if command == "simulate" else ("folder",):
            root = running.places[name]
            began = perf_counter()
            words = halfcheck(*words_of(command, root, out))
            subprocess.run(words, env=running.environment, cwd=PROJECT, check=True, stdout=subprocess.DEVNULL)
            seconds = perf_counter() - began
        found[command] = seconds, _content(running.places["folder"], out)
    return found


def _content(root: str, out: str) -> dict[str, str]:
    return {name.removeprefix(f"{out}/"): digest for name, digest in digests(root, out).items()}


def _kill(running: Servers, case: Case, out: str, expected: dict[str, str], chance: random.Random) -> None:
    """Kill once; where the command was over before, try again in another folder, and sooner."""
    _try(running, case, out, expected, chance)
    for attempt in range(_MOST_RUNS):
        if case.killed != "nothing":
            return
        case.after_seconds *= 0.6
        case.runs = 0
        _try(running, case, f"{out}-{attempt}", expected, chance)


def _try(running: Servers, case: Case, out: str, expected: dict[str, str], chance: random.Random) -> None:
    root = running.places[case.place]
    words = words_of(case.command, root, out, case.victim)
    with _reading(f"{root}/{out}", case):
        while case.runs < _MOST_RUNS:
            case.runs += 1
            with subprocess.Popen(
                halfcheck(*words), env=running.environment, cwd=PROJECT,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
            ) as process:  # fmt: skip
                if case.runs == 1:
                    sleep(case.after_seconds)
                    _kill_now(running, case, process.pid, chance)
                try:
                    _, said = process.communicate(timeout=_LONGEST_SECONDS)
                except subprocess.TimeoutExpired:
                    kill_tree(process.pid)
                    case.lines.append(f"waited for {_LONGEST_SECONDS:.0f} s in silence")
                    continue
            if said.strip():
                case.lines.append(said.strip())
            if process.returncode == 0 or _IS_WHOLE in said:  # it was killed when all was written
                break
    case.is_same = _content(root, out) == expected


def _kill_now(running: Servers, case: Case, driver: int, chance: random.Random) -> None:
    if is_over(driver):
        return
    if case.victim == "driver":
        kill_tree(driver)
        case.killed = "driver"
    elif case.victim == "worker":
        workers = _workers(driver)
        while not workers and not is_over(driver):
            sleep(0.05)
            workers = _workers(driver)
        if workers:
            with suppress(ProcessLookupError):
                os.kill(chance.choice(sorted(workers)), signal.SIGKILL)
                case.killed = "worker"
    elif case.place == "S3":
        running.s3.kill()
        case.killed = "S3 server"
        sleep(chance.uniform(0, 2))
        running.s3.start()
    else:
        which = chance.choice(sorted(running.hdfs.processes))
        running.hdfs.kill(which)
        case.killed = which
        sleep(chance.uniform(0, 2))
        running.hdfs.begin(which)


def _workers(driver: int) -> list[int]:
    """The Python processes of Spark's tasks, and the one that forks them; Java names their module in a setting."""
    return [pid for pid in tree_of(driver) if _DAEMON in _words(pid)]


def _words(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace").split("\0")
    except OSError:
        return []


def _reading(place: str, case: Case) -> AbstractContextManager[None]:
    """Read each file that appears below a place, as others would, and note those that are not whole."""
    seen = set[str]()

    def look() -> None:
        for name, path in files_below(location(place)):
            if name in seen:
                continue
            content = read_bytes(path)
            seen.add(name)
            case.looked_at += 1
            try:
                if name.endswith(".parquet"):
                    pq.ParquetFile(io.BytesIO(content)).read()
                elif name.endswith(".json"):
                    json.loads(content)
            except (pa.ArrowException, ValueError) as failure:
                case.broken.append(f"{path}: {failure}")

    def look_if_there() -> None:
        with suppress(OSError):  # the server is gone for a while, or the file
            look()

    return looking(look_if_there, _LOOK_SECONDS)


def _page(cases: list[Case], seed: int, seconds: float) -> str:
    rows = "\n".join(case.row(number) for number, case in enumerate(cases, 1))
    right = sum(case.is_right for case in cases)
    looked, broken = sum(case.looked_at for case in cases), sum(len(case.broken) for case in cases)
    return f"""# What kills leave of commands on S3 and on HDFS

Written by `make filesystem-kills` (seed {seed}); {seconds:.0f} s in all.

{computer("PySpark", "obstore", "hdfs-native")}
The servers are SeaweedFS, and a NameNode and DataNodes of Hadoop's, on this machine. `simulate` writes
{TRACES:,} traces, `analyze` judges them and writes a row for each verdict, `audit` reads the golden store
{"/".join(STORE)} in stages and writes its rows. At a random moment something is killed with SIGKILL: the
driver with its Java and its workers, one Python worker, or a server, which is started again within two
seconds. A command that did not end well is run again. The result is the same if every byte of what is
written is that of a folder. Meanwhile a reader reads each file that appears: not one may be cut. "Said" is
what the command wrote to its standard error; one line or none is wanted.

{right} of {len(cases)} were killed and ended with the same result; {looked:,} files were read meanwhile, and {broken}
of them were cut.

| | Place | Command | Killed | After, s | Runs | Read | Cut | Same | Said |
|--:|---|---|---|--:|--:|--:|--:|---|---|
{rows}
"""


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    sys.exit(min(main(*[*given, *(53, KILLS)[len(given) :]]), 1))
