"""``python -m benchmarks.explicit.huge [INSTANCE [PROFILE [FAULTS]]]``: writes RESULTS_HUGE.md.

One search from its beginning to its end; then the same again, killed (SIGKILL) when a checkpoint has half of the
states, and resumed. The two must end with the same numbers, verdicts and shortest schedules. The states lie below
build/huge, which needs room for all of them.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from benchmarks.computer import bars, computer
from benchmarks.explicit.check_command import Run, check, given_world, states_of
from model_check.world import World

RESULTS = Path(__file__).with_name("RESULTS_HUGE.md")
FOLDER = Path("build/huge")
USUAL = World.of("5.3.3", ["slow_local", "lose_end"], "large")
WANTED = 300_000_000
THREADS = 2
SECONDS = 15
"""Between two checkpoints."""

SAME = ("properties", "distinct", "generated", "depth", "complete", "unseen_witnesses")


def table(world: World, whole: Run, killed: Run, kept: int, resumed: Run) -> str:
    """The results as Markdown."""
    lines = [
        "# A search of hundreds of millions of states, killed and resumed",
        "",
        "Written by `make bench-huge`.",
        "",
        computer("Numba", "NumPy", with_memory=True),
        f"{world}, {THREADS} threads, stored exactly. The second search was killed (SIGKILL) with a checkpoint of",
        f"{kept:,} states, and went on from there in another process. Resident bytes are the most that the process",
        "had in memory, Python and mapped files included; seconds of the search are those since its beginning.",
        "",
        "| Search | Distinct | Generated | Depth | Seconds | Seconds of the process | States and table, bytes "
        "| On disk, bytes | Resident bytes |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, run in (("uninterrupted", whole), ("killed", killed), ("resumed", resumed)):
        found = run.answer
        if found:
            numbers = f"{found['distinct']:,} | {found['generated']:,} | {found['depth']} | {found['seconds']:.1f}"
            held = f"{found['peak_bytes']:,} | {found['disk_bytes']:,}"
        else:
            numbers, held = f"≥ {kept:,} | | | ", " | "
        lines.append(f"| {name} | {numbers} | {run.wall_seconds:.1f} | {held} | {run.resident_bytes:,} |")
    is_same = all(whole.answer[name] == resumed.answer[name] for name in SAME)
    met = [
        ("distinct states", f"≥ {WANTED:,}", f"{whole.answer['distinct']:,}", whole.answer["distinct"] >= WANTED),
        (
            "killed and resumed: numbers, verdicts and schedules",
            "the same",
            "the same" if is_same else "others",
            is_same,
        ),
    ]
    return "\n".join([*lines, "", *bars(met), ""])


def main(world: World) -> int:
    """Run the three, print the table and write it; 1 when the answers differ."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    threads = ("--threads", THREADS)
    whole = check(world, *threads)
    saved = (*threads, "--checkpoint", FOLDER, "--checkpoint-every", SECONDS)
    killed = check(world, *saved, kill_at=(FOLDER, whole.answer["distinct"] // 2))
    kept = states_of(FOLDER)
    resumed = check(world, *saved, "--resume")
    shutil.rmtree(FOLDER)
    text = table(world, whole, killed, kept, resumed)
    RESULTS.write_text(text, encoding="utf-8")
    print(text)
    return 0 if all(whole.answer[name] == resumed.answer[name] for name in SAME) else 1


if __name__ == "__main__":
    sys.exit(main(given_world(sys.argv[1:], USUAL)))
