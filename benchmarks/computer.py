"""The computer that figures are of, what processes take on it, and the table that holds figures against what is wanted.

What processes take is what Linux tells below /proc: of a process and all that it started, together.
"""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def processor() -> str:
    """The model of this computer's processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def computer(*libraries: str, with_memory: bool = False) -> str:
    """The computer and the versions of Python and some libraries, in one line."""
    memory = ""
    if with_memory:
        memory = f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / (1 << 30):.0f} GiB of memory, "
    versions = ", ".join([f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in libraries)])
    return f"{processor()}, {os.cpu_count()} cores, {memory}{platform.system()}; {versions}."


_MET = {True: "yes ", False: "NO ", None: ""}


def bars(rows: Iterable[tuple[str, str, str, bool | None]]) -> list[str]:
    """The lines of a table: what is measured, what is wanted, what was found, and whether that is enough, if known."""
    return [
        "| Bar | Wanted | Measured | Met |",
        "|---|--:|--:|---|",
        *(f"| {what} | {wanted} | {found} | {_MET[met]}|" for what, wanted, found, met in rows),
    ]


def family(root: int) -> list[int]:
    """A process and all below it."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        fields = _fields(int(folder.name))
        if fields:
            children.setdefault(int(fields[1]), []).append(int(folder.name))
    found = [root]
    for process in found:
        found += children.get(process, [])
    return found


def ticks(process: int, *, with_ended_children: bool = False) -> int:
    """The CPU time of a process, its own; 0 when it has ended."""
    return sum(map(int, _fields(process)[11 : 15 if with_ended_children else 13]))


def proportional_bytes(process: int) -> int:
    """Its memory, pages that several processes share counted once among them (PSS); 0 when it has ended."""
    return _memory(process, "Pss:")


def resident_bytes(process: int) -> int:
    """Its memory, pages that it shares with others counted as a whole (RSS); 0 when it has ended."""
    return _memory(process, "Rss:")


def _memory(process: int, what: str) -> int:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith(what)), 0)


def _fields(process: int) -> list[str]:
    """Of its line in `stat`, from the state on; none when it has ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return []
