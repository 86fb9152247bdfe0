"""The main job in phases, those that fail soonest first; then the page's data."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Final

from halfcheck import __version__
from halfcheck.printing.progress import timed, words
from halfcheck.verdicts.files import VerdictFiles
from halfcheck.verify.wrong_specifications import WRONG_SPECIFICATIONS, refused_specification
from html_report.data import Fact, RefusedSpecification, ReportData, simulation_section
from html_report.verdict_table import verdict_table
from model_check.check import check
from model_check.errors import EvaluationError
from model_check.instances import load_instance
from model_check.question import Question
from model_check.verdicts.counterexamples import read_counterexamples
from model_check.world import NO_FAULTS, Environment, Profile, World
from spark_trace_analysis.cluster.session import spark_session
from spark_trace_analysis.errors import BadOptionError
from spark_trace_analysis.judge.both_ways import judge
from spark_trace_analysis.traces.manifest import Parameters, TraceRun, commit, source_fingerprint
from spark_trace_analysis.traces.simulate import find_complete, simulate
from spec.profiles import VERSIONS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

    from fuzz.mutants.kill_table import HuntResult
    from fuzz.search.campaign import Campaign
    from halfcheck.verify.parts import Begun
    from model_check.finding import Finding
    from spark_trace_analysis.audit.audit import Audit

    Say = Callable[[str], None]

ENVIRONMENTS: Final = (NO_FAULTS, Environment(["crash"]), Environment(["slow_local"]))
"""The environments searched for each profile: the quiet world, and two faults that every operator meets."""

INSTANCE: Final = load_instance("small")
STEPS: Final = 60


@dataclass
class Verification:
    """The results of the job so far; `status` takes a passing line, where somebody watches."""

    seed: int
    traces: int
    work: Path
    say: Say
    status: Say | None = None
    checks: list[Finding] = field(default_factory=list)
    audits: list[Audit] = field(default_factory=list)
    refused: list[RefusedSpecification] = field(default_factory=list)
    lockstep: list[Campaign] = field(default_factory=list)
    mutants: list[HuntResult] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    found_before: int = 0
    files: VerdictFiles = field(default_factory=VerdictFiles)

    def look_for_traces(self) -> None:
        """See if the folders of the traces can be used, before anything that takes long; raises `BadOptionError`."""
        for parameters, out in self._runs_to_make():
            find_complete(parameters, out)

    def refuse(self) -> None:
        """Hold real stores against specifications that are wrong about them; raises `EvaluationError`."""
        with timed(self.seconds, "refuse"):
            for wrong in WRONG_SPECIFICATIONS:
                self.say(f"holding {wrong.version}/{wrong.scenario} against a specification where {wrong.claim}")
                self.refused.append(refused_specification(wrong, self.work / "wrong-settings"))

    def search(self) -> None:
        """Search every profile in every environment, all properties; of releases with the same switches, the first.

        Raises `EvaluationError` where a search contradicts the table of verdicts; names both answers.
        """
        began = perf_counter()
        table = self.files.table()
        status = self.status
        report = None if status is None else lambda progress: status(words(progress))
        for profile in Profile.distinct_versions():
            for environment in ENVIRONMENTS:
                name = f"{profile} {environment.name} on {INSTANCE.name}"
                self.say(f"searching {name}")
                found = check(Question(world=World(profile, environment, INSTANCE)), report=report)
                if wrong := table.contradictions(found):
                    message = f"the table of verdicts is wrong about {name}: {'; '.join(wrong)}; "
                    message += "see halfcheck verdicts --update"
                    raise EvaluationError(message)
                self.checks.append(found)
        self.seconds["search"] = perf_counter() - began

    def gather(self, begun: Begun) -> None:
        """Take the results of the parts in processes of their own, or wait for them; raises their `EvaluationError`."""
        self.say("cross-checking with the CPython search on tiny")
        with timed(self.seconds, "cross-check"):
            self.notes += begun.cross_checks
        with timed(self.seconds, "audit"):
            for audit in begun.audits:
                self.audits.append(audit)
                self.say(f"audited {audit.store}")
        self.say(f"running specification and broker in lockstep: {', '.join(VERSIONS)}")
        with timed(self.seconds, "lockstep"):
            self.lockstep += begun.lockstep
        self.say("hunting mutants")
        with timed(self.seconds, "mutants"):
            for mutant in begun.mutants:
                self.mutants.append(mutant)
                if self.status is not None:
                    self.status(f"hunting mutants: {len(self.mutants)} killed")
        self.found_before = begun.cache.found
        if self.found_before:
            self.notes.append(
                f"{self.found_before} cross-checks, audits, lockstep runs and hunts are those of an earlier run: "
                f"no file of the project and no library has changed. Remove {begun.cache.folder} to do them again."
            )

    def simulate_and_judge(self, master: str) -> ReportData:
        """Walk traces of every profile, quiet and with crashes, judge them twice, and return the whole page's data."""
        began = perf_counter()
        self.say("starting Spark")
        with spark_session(master, self.work / "spark") as spark:
            runs = self._simulated(spark)
            self.seconds["simulate"] = perf_counter() - began
            self.say(f"judging {self.traces:,} traces twice")
            judgement = judge(spark, runs)
            self.seconds |= {
                "judge by kernels": judgement.kernel_seconds,
                "judge by expressions": judgement.expression_seconds,
            }
            section = simulation_section(spark, runs, judgement, self.command, self.seconds, self.say)
        return ReportData(
            title="RocketMQ's transactional messages, verified",
            facts=self._facts(),
            command=self.command,
            table=verdict_table(self.files.table(), read_counterexamples(self.files.schedules)[0]),
            searches=tuple(self.checks),
            audits=tuple(self.audits),
            refused=tuple(self.refused),
            lockstep=tuple(self.lockstep),
            mutants=tuple(self.mutants),
            hunted_by=f"halfcheck fuzz --mutants --seed {self.seed}",
            simulation=section,
            notes=tuple(self.notes),
        )

    @property
    def command(self) -> str:
        """The command that makes the whole report again."""
        return f"halfcheck verify --traces {self.traces} --seed {self.seed}"

    def _simulated(self, spark: SparkSession) -> list[TraceRun]:
        runs = []
        for parameters, out in self._runs_to_make():
            self.say(f"simulating {parameters.profile} {parameters.environment_name}: {parameters.traces:,} traces")
            runs.append(simulate(spark, parameters, out).run)
        return runs

    def _runs_to_make(self) -> list[tuple[Parameters, Path]]:
        """Every profile, quiet and with crashes, each with its folder.

        The folders of another state of the sources are left alone: their traces are not used, and not in the way.
        """
        kinds = [(profile, faults) for profile in Profile.distinct_versions() for faults in ENVIRONMENTS[:2]]
        if self.traces < len(kinds):
            message = f"--traces {self.traces}: give at least {len(kinds)}, one for each profile in each environment"
            raise BadOptionError(message)
        share, rest = divmod(self.traces, len(kinds))
        made = []
        for number, (profile, faults) in enumerate(kinds):
            parameters = Parameters(World(profile, faults, INSTANCE), self.seed, share + (number < rest), STEPS)
            name = f"{profile}-{parameters.environment_name}-{parameters.traces}-{self.seed}"
            made.append((parameters, self.work / "traces" / source_fingerprint(INSTANCE) / name))
        return made

    def _facts(self) -> tuple[Fact, ...]:
        return (
            Fact("version", __version__),
            Fact("commit", commit()),
            Fact("seed", str(self.seed)),
            Fact("machine", f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"),
            Fact(
                "searched",
                f"{sum(found.numbers.distinct for found in self.checks):,} states, {len(self.checks)} searches",
            ),
        )
