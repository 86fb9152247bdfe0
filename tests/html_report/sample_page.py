"""A page that has every section, each with as little in it as shows, without and with the table of verdicts."""

from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

from fuzz.lockstep.pairing import Mismatch, Pairing
from fuzz.lockstep.script import Script
from fuzz.mutants.kill_table import HuntResult
from fuzz.mutants.mutant import Edit, Mutant, MutatedPart
from fuzz.search.campaign import Campaign
from fuzz.search.coverage import GuardCoverage, Guards, StateCoverage
from fuzz.search.examples import FuzzFailure, Fuzzing
from halfcheck.verdicts.files import VerdictFiles
from html_report.counterexamples import Counterexample
from html_report.data import Fact, RefusedSpecification, ReportData, SimulationSection
from html_report.verdict_table import VerdictTable, verdict_table
from model_check.clauses import clauses_by_name
from model_check.counterexample.steps import Event, FieldChange, read_path
from model_check.finding import Finding, Holds, Numbers, Violated
from model_check.trace_validation.divergence import Divergence
from model_check.trace_validation.observed import EventKind, ObservedEvent
from model_check.trace_validation.path_search import PathVerdict
from model_check.verdicts.counterexamples import read_counterexamples
from model_check.verdicts.table import table_of_verdicts
from model_check.world import Profile, World
from reference.format.errors import CorruptRegion
from spark_trace_analysis.audit.audit import Audit, selected
from spark_trace_analysis.audit.explanation.trace_verdict import TraceVerdict
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.rules.transaction_row import TransactionRow
from spark_trace_analysis.judge.both_ways import Count
from spark_trace_analysis.statistics.run_statistics import RareTrace, RunStatistics
from spark_trace_analysis.statistics.states_seen import StatesSeen
from spark_trace_analysis.statistics.transaction_tally import Fates, Records
from spark_trace_analysis.traces.manifest import Parameters, TraceRun, make_manifest
from spec.transactional_messages import TRANSACTIONAL_MESSAGES


def parameters(*faults: str) -> Parameters:
    return Parameters(World.of("5.3.3", faults, "small"), seed=7, traces=1_000, steps=60)


def of_run(*faults: str) -> RunStatistics:
    return RunStatistics(
        parameters(*faults), 1_500, {0: 1_000, 1: 500}, {0: 1_200, 1: 300}, {1: 1_200, 2: 300},
        {0: 800, 1: 690, 2: 10}, {1: 300, 2: 400}, {"send_half": 1_500, "discard_half": 2},
        records={2: 900, 3: 600}, settled_lag={0: 500, 1: 200}, age_at_discard={7: 2}, op_lag={1: 9},
        fates=Fates(10, 3, 2, 1), written=Records(1_500, 300, 600, 700, 2),
        pairs={("send_half", "tick"): 1_234, ("tick", "send_half"): 5}, rarest=(RareTrace(77, -9.125),),
    )  # fmt: skip


def simulated(*faults: str) -> TraceRun:
    return TraceRun(Path("x"), replace(make_manifest(parameters(*faults), ()), events=43_210))


def explanation(accepted: bool | None, faults: dict[str, int]) -> TraceVerdict:
    profile = Profile.of("5.3.3")
    verdict = PathVerdict(bool(accepted), True, 318, faults, (), None, World.of(profile).constants)
    return TraceVerdict(318, accepted, profile, verdict=verdict)


def lockstep(*, agrees: bool, unseen: tuple[str, ...] = ()) -> Campaign:
    """In which the first rule of an action was never the first to be false, and the action never possible."""
    rules = frozenset((name, str(number)) for number in range(3) for name in ("tick", "crash", *unseen))
    coverage = GuardCoverage(
        Guards(rules, frozenset({"tick", "crash", *unseen})),
        Counter(tick=4, crash=1),
        Counter(rule for rule in rules if rule not in {(name, "0") for name in unseen}),
    )
    failure = None if agrees else FuzzFailure(Mismatch(1, "tick", "clock", "1", "2"), Script(()))
    states = StateCoverage(World.of("5.3.3"), 671, 671, 8_400, ())
    done = Fuzzing(300, 10_138, failure, seconds=2.3)
    return Campaign(Pairing.of("5.3.3", ["crash"]), 7, 300, 50, done, coverage, states, failure)


def mutant(name: str, variable: str) -> HuntResult:
    what = "no op message is found at the end of the queue"
    of = Mutant(name, MutatedPart.BROKER, what, ("A02",), Edit("", "", ""), frozenset(), World.of("4.9.7"))
    return HuntResult(of, variable, "pull_more_ops", 1_234, 0.5)


DOUBLED, PARKED = TransactionState.DOUBLED, TransactionState.PARKED
TABLE = table_of_verdicts()
CRASHING = World.of("4.9.7", ["crash"])
CRASH = TABLE.of(CRASHING.profile, CRASHING.instance)[CRASHING.environment]
ROWS = (TransactionRow("7F00AA", "g", "T", DOUBLED, (PARKED,), 2, 3, 4, (), (), ("A11",)),)

SEND, COMMIT, SEND_ANOTHER = read_path(
    TRANSACTIONAL_MESSAGES,
    World.of("5.3.3", (), "small").constants,
    "send_half t=0 immunity=-1; commit_locally t=0; send_half t=1 immunity=-1",
)

COUNTEREXAMPLE = Counterexample(
    "S1", clauses_by_name()["S1.immune_half"], "t0 was delivered <twice>", World.of("5.3.3", (), "small"), ("B01",),
    (
        Event(1, SEND, 0, (FieldChange("half_length", "0", "1"),)),
        Event(2, COMMIT, 0, (FieldChange("transaction[0].local", "executing", "commit"),)),
        Event(3, SEND_ANOTHER, 0, (FieldChange("half_length", "1", "2"),)),
    ),
)  # fmt: skip


BRIEF = ReportData(
    title="What holds & what does not",
    facts=(Fact("commit", "0123abc"), Fact("seed", "7")),
    command="make verify",
    table=None,
    searches=(
        Finding(
            CRASHING,
            tuple(
                Violated(clause, CRASH.violated[clause], CRASHING) if clause in CRASH.violated else Holds(clause, ())
                for clause in TABLE.clauses
            ),
            Numbers(123_456, 234_567, 30, complete=True, seconds=1.25),
        ),
    ),
    audits=(
        Audit(
            store="5.3.3/late", version="5.1.0 to 5.3.3", records=321, events=318,
            corrupt=(CorruptRegion("commitlog/0", 0, "torn"),), damage=1, transactions=ROWS,
            counts={"delivered": 7, "doubled": 1}, plain=7, notes=(),
            trace=explanation(True, {"duplicate_end": 2, "late_end": 3}), asked_for=selected(ROWS),
        ),
    ),
    refused=(
        RefusedSpecification(
            "5.3.3/immunity", Profile.of("5.3.3+heeds_settled_originals"), "transactionCheckMax=14", "B01 is repaired",
            Divergence(
                27, ObservedEvent(kind=EventKind.PUT_BACK, time=0, half=18), "no op message names its original",
                ("pass_settled_half at half 16",),
            ),
            "halfcheck diff conformance/golden/5.3.3/immunity spec:5.3.3+heeds_settled_originals",
        ),
    ),
    lockstep=(lockstep(agrees=True, unseen=("write_op_batch",)),),
    mutants=(mutant("op end taken as illegal", "offsets.op"),),
    hunted_by="halfcheck fuzz --mutants --seed 7",
    simulation=SimulationSection(
        (simulated("crash"), simulated()),
        (Count(parameters(), "S1", 42, 17, 18, 9), Count(parameters("crash"), "S1", 0, None)),
        (of_run("crash"), of_run()),
        {"kernels": 1.5},
        "halfcheck analyze x --report y.html",
        shortest=(COUNTEREXAMPLE,),
        states=(StatesSeen(parameters(), 250, 20_000),),
    ),
    notes=("A verdict holds to its depth.",),
)  # fmt: skip


@cache
def verdicts() -> VerdictTable:
    """All schedules of the table of verdicts are replayed for it."""
    schedules, _ = read_counterexamples(VerdictFiles().schedules)
    return verdict_table(TABLE, schedules)


def full() -> ReportData:
    return replace(BRIEF, table=verdicts())
