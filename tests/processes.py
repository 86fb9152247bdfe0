"""Whether processes have ended."""

from __future__ import annotations

import time
from pathlib import Path


def is_over(pid: int) -> bool:
    """Whether a process has ended, be it that its parent has not asked for its exit code yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def ends(pid: int) -> bool:
    """Whether it ends within ten seconds."""
    end = time.monotonic() + 10
    while not is_over(pid) and time.monotonic() < end:
        time.sleep(0.01)
    return is_over(pid)
