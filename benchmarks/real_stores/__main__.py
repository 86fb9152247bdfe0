"""``python -m benchmarks.real_stores [VERSION ...]``: makes stores of real brokers, audits them, writes RESULTS.md.

Each scenario of the harness runs in each version, in every second one with a timing drawn by its name. Two brokers run
at any time, so that each is under load. Stores are kept below ``build/fresh-stores``; one that is there is not made
again.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.computer import computer
from conformance.errors import JarsError
from conformance.releases.jars import release_called
from real_brokers.rocketmq.scenarios import SCENARIOS
from spec.releases.broker_defaults import release_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

RESULTS: Final = Path(__file__).with_name("RESULTS.md")
STORES: Final = Path("build/fresh-stores")
NEWEST: Final = ("5.5.0", "5.5.1")
AT_ONCE: Final = 2
SECONDS: Final = 1_500
TIMINGS: Final = {
    "transactionCheckInterval": (700, 1_500, 2_500),
    "transactionTimeOut": (700, 1_500, 3_000),
    "transactionOpBatchInterval": (100, 500, 1_500),
    "flushConsumerOffsetInterval": (300, 2_000, 5_000),
}
"""What a drawn timing is drawn from, in ms; a setting that the scenario needs stays as it is."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one scenario."""

    version: str
    scenario: str
    timing: dict[str, str]

    @property
    def folder(self) -> Path:
        """Where its store is kept."""
        return STORES / self.version / (f"{self.scenario}-drawn" if self.timing else self.scenario)


def runs(versions: Sequence[str]) -> list[Run]:
    """All runs of some versions."""
    return [
        Run(version, name, drawn(version, name) if (number + place) % 2 else {})
        for number, (name, scenario) in enumerate(SCENARIOS.items())
        for place, version in enumerate(versions)
        if not scenario.refused_from or release_numbers(version) < release_numbers(scenario.refused_from)
    ]


def drawn(version: str, scenario: str) -> dict[str, str]:
    """A timing, the same for the same names."""
    chance = random.Random(f"{version} {scenario}")
    needed = SCENARIOS[scenario].settings_for(release_called(version))
    return {name: f"{chance.choice(of)}" for name, of in TIMINGS.items() if name not in needed}


def make(run: Run) -> str:
    """Lead the broker; what went wrong, or nothing."""
    if (run.folder / "meta.json").is_file():
        return ""
    sets = [word for name, value in run.timing.items() for word in ("--set", f"{name}={value}")]
    words = ("-m", "real_brokers.rocketmq", run.version, run.scenario, "--out", str(run.folder), *sets)
    try:
        done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"not over after {SECONDS} s"
    return done.stderr.strip() if done.returncode else ""


def audited(run: Run) -> dict[str, Any] | str:
    """What the audit says of its store, or why it says nothing."""
    words = ("-m", "halfcheck", "audit", str(run.folder), "--json")
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    if not done.stdout:
        return done.stderr.strip()
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def row(run: Run) -> tuple[bool, str]:
    """Whether the specification explains the run, or does not where it should not; and the line of the table."""
    failure = make(run)
    timing = ", ".join(f"{name}={value}" for name, value in run.timing.items())
    head = f"| {run.version} | {run.scenario} | {timing}"
    if failure:
        return False, f"{head} | | **not made**: {failure} | |"
    told = audited(run)
    if isinstance(told, str):
        return False, f"{head} | | **not audited**: {told} | |"
    trace, counts = told["trace"], told["counts"]
    outcome = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in counts.items() if count)
    resembled = sorted({one for transaction in told["transactions"] for one in transaction["resembles"]})
    head = f"{head} | {outcome} | {' '.join(resembled)}"
    beyond = SCENARIOS[run.scenario].leads_beyond
    if beyond:
        return not trace["accepted"], f"{head} | {'**yes**' if trace['accepted'] else 'no'}: {beyond} | |"
    if trace["accepted"] is None:
        return False, f"{head} | **not asked**: {trace['reason']} | |"
    says = f"{trace['explained']} of {trace['events']}"
    return trace[
        "accepted"
    ], f"{head} | {says if trace['accepted'] else f'**{says}**'} | {', '.join(trace['faults'])} |"


def main(versions: Sequence[str]) -> int:
    """Make and audit all, write the table; 1 if something is not as it should be."""
    lines = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for run, (is_right, line) in zip(runs(versions), pool.map(row, runs(versions)), strict=True):
            lines.append((run, is_right, line))
            print(line, flush=True)
    asked = [is_right for run, is_right, _ in lines if not SCENARIOS[run.scenario].leads_beyond]
    text = f"""# Fresh stores of real brokers

Written by `make fresh-stores`.

{computer()}
{AT_ONCE} brokers with their clients at a time, and whatever else ran; load at the end {os.getloadavg()[0]:.1f}.

Each scenario of `real_brokers/rocketmq/scenarios.py` was led through a broker of each release, in every second one with
a timing drawn by its name; `halfcheck audit` held each store, with the log of its client, against the specification of
its own version. **{sum(asked)} of {len(asked)} are explained.** In {len(lines) - len(asked)} more something happens
that validation does not know; it is named, and they must not be explained.

| Release | Scenario | Timing, ms | Transactions | Resemble | Events explained | Faults it took |
|---|---|---|---|---|---|---|
{chr(10).join(line for _, _, line in lines)}
"""
    RESULTS.write_text(text, encoding="utf-8")
    return 0 if all(is_right for _, is_right, _ in lines) else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:] or NEWEST))
    except JarsError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("interrupted; the stores that were made are kept, and RESULTS.md is as it was", file=sys.stderr)
        sys.exit(130)
