"""The processes that are measured: a broker on a store of its own, and what Linux tells of any of them below /proc."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_STOP_SECONDS: Final = 120
_NUMBER: Final = re.compile(r"[-_#]?\d+$")


@dataclass(frozen=True, slots=True)
class Served:
    """A broker that runs: its address, its process, the folder of its store, and its address for gRPC clients."""

    address: str
    pid: int
    store: Path
    grpc_address: str = ""


@contextmanager
def served(
    profile: str,
    folder: Path,
    conf: str = "",
    before: Sequence[str] = ("-m", "halfcheck"),
    log: Path | None = None,
    *,
    with_grpc: bool = False,
) -> Iterator[Served]:
    """``halfcheck broker --no-record`` of a profile, in a process of its own; it is stopped as told in the end.

    Parameters
    ----------
    folder
        Where its store is made, and its ``broker.conf``.
    conf
        The text of that.
    before
        What Python runs before the command's own words.
    log
        Takes its log; else that goes where this process writes errors.
    with_grpc
        Whether it has a port for gRPC clients.
    """
    store = folder / "store"
    command = [sys.executable, *before, "broker", "--profile", profile, "--port", "0", "--store", str(store)]
    if conf:
        (folder / "broker.conf").write_text(conf, encoding="utf-8")
        command += ["--broker-conf", str(folder / "broker.conf")]
    command += ["--grpc-port", "0"] if with_grpc else []
    with ExitStack() as stack:
        file = None if log is None else stack.enter_context(log.open("wb"))
        process = subprocess.Popen([*command, "--no-record", "--json"], stdout=subprocess.PIPE, stderr=file, text=True)
    try:
        told = json.loads(process.stdout.readline() if process.stdout is not None else "")
        yield Served(told["address"], process.pid, store, told.get("grpc_address", ""))
    finally:
        process.terminate()
        process.communicate(timeout=_STOP_SECONDS)


def own_memory(pid: int) -> int:
    """Bytes that are the process's own, without the pages of the store's files."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("RssAnon:")).split()[1]) * 1_024


def processor(pid: int) -> tuple[float, float]:
    """Seconds of user and of system time."""
    return _seconds(Path(f"/proc/{pid}/stat"))


def processor_by_thread(pid: int) -> dict[str, float]:
    """Seconds of processor time by the names of threads that run, without numbers; Linux has 15 letters of them."""
    found: dict[str, float] = defaultdict(float)
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            name = (task / "comm").read_text(encoding="utf-8").strip()
            found[_NUMBER.sub("", name)] += sum(_seconds(task / "stat"))
        except OSError:
            continue
    return dict(found)


def open_files(pid: int, store: Path) -> tuple[int, int]:
    """How many files of its store a process has open, and how many others: connections, pipes, libraries."""
    names = []
    for path in Path(f"/proc/{pid}/fd").iterdir():
        try:
            names.append(str(path.readlink()))
        except OSError:
            continue
    of_store = sum(name.startswith(str(store.resolve())) for name in names)
    return of_store, len(names) - of_store


def threads(pid: int) -> int:
    """How many threads a process has."""
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def stored_bytes(store: Path) -> int:
    """What a store takes on the disk."""
    return sum(path.stat().st_blocks * 512 for path in store.rglob("*") if path.is_file())


def _seconds(stat: Path) -> tuple[float, float]:
    fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
    return int(fields[11]) / _TICKS, int(fields[12]) / _TICKS
