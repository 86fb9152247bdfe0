"""Whether processes have ended."""

from __future__ import annotations

import time
from pathlib import Path


def is_over(pid: int) -> bool:
    """Whether a process has ended, be it that nobody has waited for it yet."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


def ends(pid: int) -> bool:
    end = time.monotonic() + 10
    while not is_over(pid) and time.monotonic() < end:
        time.sleep(0.01)
    return is_over(pid)
