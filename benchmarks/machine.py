"""The machine that figures are of, and the table that holds them against what is wanted."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def processor() -> str:
    """The model of this machine's processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def machine(*libraries: str, with_memory: bool = False) -> str:
    """The machine and the versions of Python and some libraries, in one line."""
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
