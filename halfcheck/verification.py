"""The main job in phases: search, cross-check, audit the golden stores, simulate and judge; then the page's data."""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final

from conformance.golden_stores import golden_stores
from halfcheck import __version__
from model_check.check import CheckResult, ClauseResult, check
from model_check.errors import EvaluationError
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.judge import judge
from spark_trace_analysis.manifest import Parameters
from spark_trace_analysis.report.data import Audit, AuditedTransaction, Fact, ReportData
from spark_trace_analysis.report.simulation_section import simulation_section
from spark_trace_analysis.report.told_counterexample import told_counterexample, verdict_rows
from spark_trace_analysis.session import spark_session
from spark_trace_analysis.simulate import simulate
from spark_trace_analysis.statistics import statistics
from spec.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Callable

    from model_check.explicit.search import Progress

    Say = Callable[[str], None]

ENVIRONMENTS: Final = ((), ("crash",), ("slow_local",))
"""What is searched for each profile: the quiet world, and two faults that every operator meets."""

INSTANCE: Final = "small"
CROSS_CHECKED: Final = (("4.5.1", ("slow_local",)), ("4.9.7", ("crash",)), ("5.3.3", ()), ("5.4.0", ()))
"""What the slow CPython search does again on the instance `tiny`."""

STEPS: Final = 60
SHOWN: Final = 200
"""Transactions of a golden store that the page lists at most; the command beside them lists all."""


@dataclass
class Verification:
    """What the job has found so far.

    Attributes
    ----------
    seconds : dict
        Phase to seconds.
    notes : list of str
        What the page says beside its tables.
    """

    seed: int
    traces: int
    work: Path
    say: Say
    report: Callable[[Progress], None] | None = None
    checks: list[CheckResult] = field(default_factory=list)
    audits: list[Audit] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    def search(self) -> None:
        """Search every profile in every environment, all properties."""
        began = perf_counter()
        for profile in PROFILES:
            for faults in ENVIRONMENTS:
                self.say(f"searching {profile} {','.join(faults) or 'quiet'} on {INSTANCE}")
                self.checks.append(check(profile, faults, INSTANCE, report=self.report))
        self.seconds["search"] = perf_counter() - began

    def cross_check(self) -> None:
        """Let the slow CPython search answer the same questions on a small instance.

        Raises
        ------
        EvaluationError
            The two readings differ; names the question and both answers.
        """
        began = perf_counter()
        for profile, faults in CROSS_CHECKED:
            world = ",".join(faults) or "quiet"
            self.say(f"cross-checking {profile} {world} on tiny")
            fast, slow = (check(profile, faults, "tiny", reading=reading) for reading in ("numba", "cpython"))
            if _answer(fast) != _answer(slow):
                message = f"the readings differ on {profile} {world}: numba {_answer(fast)}, cpython {_answer(slow)}"
                raise EvaluationError(message)
            self.notes.append(
                f"{profile} {world} on tiny: the CPython search and the compiled search agree on {slow.distinct:,} "
                f"distinct states, {slow.generated:,} generated, depth {slow.depth}, every verdict and every shortest "
                "schedule."
            )
        self.seconds["cross-check"] = perf_counter() - began

    def simulate_and_judge(self, master: str) -> ReportData:
        """Walk traces of every profile, quiet and with crashes, judge them twice, and return the whole page's data."""
        began = perf_counter()
        kinds = [(profile, faults) for profile in PROFILES for faults in ENVIRONMENTS[:2]]
        share, rest = divmod(self.traces, len(kinds))
        self.say("starting Spark")
        with spark_session(master, self.work / "spark") as spark:
            runs = []
            for number, (profile, faults) in enumerate(kinds):
                world = ",".join(faults) or "quiet"
                self.say(f"simulating {profile} {world}: {number + 1} of {len(kinds)}")
                parameters = Parameters(profile, faults, INSTANCE, self.seed, share + (number < rest), STEPS)
                out = self.work / "traces" / f"{profile}-{world}-{parameters.traces}-{self.seed}"
                runs.append(simulate(spark, parameters, out).run)
            self.seconds["simulate"] = perf_counter() - began
            self.say(f"judging {self.traces:,} traces twice")
            judgement = judge(spark, runs)
            self.seconds |= {"judge by kernels": judgement.kernel_seconds, "judge by SQL": judgement.query_seconds}
            self.say("gathering statistics")
            gathered = statistics(spark, runs)
            self.seconds["statistics"] = gathered.seconds
        section = simulation_section(runs, judgement, gathered, self.command, self.seconds)
        return ReportData(
            title="RocketMQ's transactional messages, verified",
            facts=self._facts(),
            command=self.command,
            verdicts=tuple(row for result in self.checks for row in verdict_rows(result)),
            counterexamples=tuple(told_counterexample(result, row) for result, row in self._told()),
            audits=tuple(self.audits),
            simulation=section,
            notes=tuple(self.notes),
        )

    def audit(self) -> None:
        """Audit every store that a real broker wrote."""
        began = perf_counter()
        for store in golden_stores():
            self.say(f"auditing {store.name}")
            audit = audit_store(store.path, None, None)
            self.audits.append(
                Audit(
                    store=store.name,
                    version=audit.version or "unknown",
                    records=audit.records,
                    corrupt=len(audit.corrupt),
                    counts=audit.counts,
                    transactions=tuple(
                        AuditedTransaction(
                            row.unique_key,
                            row.group,
                            row.topic,
                            row.state.value,
                            tuple(state.value for state in row.also),
                            row.deliveries,
                            row.checks,
                            row.put_backs,
                            row.resembles,
                        )
                        for row in audit.listed(everything=False, limit=SHOWN)
                    ),
                    command=f"halfcheck audit conformance/golden/{store.name}",
                )
            )
        self.seconds["audit"] = perf_counter() - began

    @property
    def command(self) -> str:
        """What makes the whole report again."""
        return f"halfcheck verify --traces {self.traces} --seed {self.seed}"

    def _told(self) -> list[tuple[CheckResult, ClauseResult]]:
        """For each clause the shortest schedule that breaks it, the quiet world first, then the newest profile."""
        told: dict[str, tuple[CheckResult, ClauseResult]] = {}
        for result in sorted(self.checks, key=lambda r: (len(r.faults), -list(PROFILES).index(r.profile))):
            for row in result.clauses:
                if row.path is not None:
                    told.setdefault(f"{row.clause.identifier}.{row.clause.clause}", (result, row))
        return list(told.values())

    def _facts(self) -> tuple[Fact, ...]:
        return (
            Fact("version", __version__),
            Fact("commit", _commit()),
            Fact("seed", str(self.seed)),
            Fact("machine", f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"),
            Fact("searched", f"{sum(result.distinct for result in self.checks):,} states, {len(self.checks)} searches"),
        )


def _answer(result: CheckResult) -> tuple[object, ...]:
    paths = tuple(tuple(str(step) for step in row.path or ()) for row in result.clauses)
    verdicts = tuple(row.verdict for row in result.clauses)
    return result.distinct, result.generated, result.depth, verdicts, paths, result.unseen


def _commit() -> str:
    """The checkout's commit; `unknown` outside of one."""
    asked = subprocess.run(
        ["git", "describe", "--always", "--dirty"],  # noqa: S607 (the user's own git)
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.stdout.strip() or "unknown"
