"""How much memory a process and all that it started hold, pages that several of them share counted once."""

from __future__ import annotations

from pathlib import Path


def tree_bytes(pid: int) -> int:
    """The sum of the proportional set sizes (PSS) of a process and its descendants, as the kernel tells them."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        children.setdefault(parent, []).append(int(folder.name))
    total, waiting = 0, [pid]
    while waiting:
        process = waiting.pop()
        waiting += children.get(process, [])
        total += _pss_bytes(process)
    return total


def _pss_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)
