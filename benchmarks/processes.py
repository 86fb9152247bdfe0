"""What processes take, as Linux tells it below /proc: a process and all that it started, together."""

from __future__ import annotations

from pathlib import Path


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
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:")), 0)


def _fields(process: int) -> list[str]:
    """Of its line in `stat`, from the state on; none when it has ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return []
