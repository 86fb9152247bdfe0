"""``python -m benchmarks.real_classes [SCHEDULES]``: steps a second, without and with the classes; writes RESULTS.md.

Each run is a fresh process, which stays on one core together with its JVM. The first schedules are not measured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from benchmarks.computer import bars, computer

RESULTS: Final = Path(__file__).with_name("RESULTS.md")
RELEASES: Final = ("4.9.7", "5.3.3", "5.5.1")
WARM, STEPS, SEED = 100, 150, 7
LEAST_STEPS: Final = 2_000


def measured(release: str, with_classes: str, schedules: int) -> dict[str, Any]:
    """Run schedules with all faults in this process."""
    from conformance.java.real_classes import RealClasses
    from fuzz.broker_side.twin_process import TwinProcesses
    from fuzz.lockstep.pairing import Pairing
    from fuzz.search.examples import fuzz
    from spec.constants import FAULTS

    pairing = Pairing.of_release(release, FAULTS)
    orders = 0
    with ExitStack() as running:
        if with_classes:
            real = running.enter_context(RealClasses(release))
            pairing = replace(pairing, make_process=TwinProcesses(real))
        fuzz(pairing, examples=WARM, steps=STEPS, random_seed=SEED - 1)
        before = real.compared.total() if with_classes else 0
        began = time.perf_counter()
        done = fuzz(pairing, examples=schedules, steps=STEPS, random_seed=SEED)
        seconds = time.perf_counter() - began
        if with_classes:
            orders = real.compared.total() - before
    if done.failure is not None:
        raise done.failure.mismatch
    return {"steps": done.steps, "schedules": done.examples, "orders": orders, "seconds": seconds}


def _in_a_process(release: str, with_classes: str, schedules: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.real_classes", "one", release, with_classes, str(schedules)]
    core = min(os.sched_getaffinity(0))
    run = subprocess.run(
        command, check=True, capture_output=True, text=True, preexec_fn=lambda: os.sched_setaffinity(0, {core})
    )
    numbers: dict[str, Any] = json.loads(run.stdout)
    return numbers


def report(schedules: int) -> str:
    """Measure all releases, and say it as Markdown."""
    text = [
        "# The lockstep with RocketMQ's own classes: what it takes",
        "",
        "Written by `make bench-real-classes`.",
        "",
        computer("Hypothesis"),
        f"{schedules:,} schedules of up to {STEPS} draws each, all faults, on one core, the JVM on the same;",
        f"{WARM} schedules before them are not measured. A step is one that all sides took; between two there is",
        "a question about what is forbidden, which counts as none. An order goes to the real classes, and its",
        "answer is compared.",
        "",
        "| Release | Steps | Steps/s without the classes | with them | Orders/s |",
        "|---|--:|--:|--:|--:|",
    ]
    slowest = float("inf")
    for release in RELEASES:
        alone, beside = _in_a_process(release, "", schedules), _in_a_process(release, "yes", schedules)
        rate = beside["steps"] / beside["seconds"]
        slowest = min(slowest, rate)
        text.append(
            f"| {release} | {beside['steps']:,} | {alone['steps'] / alone['seconds']:,.0f} | {rate:,.0f} "
            f"| {beside['orders'] / beside['seconds']:,.0f} |"
        )
    wanted = ("steps a second with the classes", f"≥ {LEAST_STEPS:,}", f"{slowest:,.0f}", slowest >= LEAST_STEPS)
    return "\n".join([*text, "", *bars([wanted]), ""])


def main(arguments: list[str]) -> None:
    """Measure one run, or all of them."""
    if arguments[:1] == ["one"]:
        release, with_classes, schedules = arguments[1:]
        print(json.dumps(measured(release, with_classes, int(schedules))))
        return
    RESULTS.write_text(report(int(arguments[0]) if arguments else 1_000), encoding="utf-8")
    print(RESULTS.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main(sys.argv[1:])
