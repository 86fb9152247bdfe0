"""A page that has every section, each with as little in it as shows, without and with the table of verdicts."""

from dataclasses import replace
from functools import cache
from pathlib import Path

from halfcheck.verdicts.files import VerdictFiles
from model_check.counterexample.sequence_diagram import DiagramStep
from model_check.counterexample.steps import Change, Event, read_path
from model_check.instances import constants_for
from model_check.verdicts.counterexamples import read_counterexamples
from model_check.verdicts.table import table_of_verdicts
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.rules.transaction_row import TransactionRow
from spark_trace_analysis.judge.both_ways import Count
from spark_trace_analysis.report.counterexamples import Counterexample
from spark_trace_analysis.report.data import (
    AuditedStore,
    Explanation,
    Fact,
    HuntedMutant,
    Lockstep,
    MutantSection,
    RefusedSpecification,
    ReportData,
    Searched,
)
from spark_trace_analysis.report.simulation_section import SimulationSection
from spark_trace_analysis.report.verdict_table import VerdictTable, verdict_table
from spark_trace_analysis.statistics.action_pairs import RareTrace
from spark_trace_analysis.statistics.run_statistics import RunStatistics
from spark_trace_analysis.statistics.states_seen import StatesSeen
from spark_trace_analysis.statistics.transaction_tally import Fates, Records
from spark_trace_analysis.traces.manifest import Parameters, TraceRun, make_manifest
from spec.transactional_messages import TRANSACTIONAL_MESSAGES


def of_run(environment: str) -> RunStatistics:
    return RunStatistics(
        "5.3.3", environment, 1_000, 1_500, {0: 1_000, 1: 500}, {0: 1_200, 1: 300}, {1: 1_200, 2: 300},
        {0: 800, 1: 690, 2: 10}, {1: 300, 2: 400}, {"send_half": 1_500, "discard_half": 2},
        records={2: 900, 3: 600}, settled_lag={0: 500, 1: 200}, age_at_discard={7: 2}, op_lag={1: 9},
        fates=Fates(10, 3, 2, 1), written=Records(1_500, 300, 600, 700, 2),
        pairs={("send_half", "tick"): 1_234, ("tick", "send_half"): 5}, rarest=(RareTrace(77, -9.125),),
    )  # fmt: skip


def simulated(*faults: str) -> TraceRun:
    parameters = Parameters("5.3.3", faults, "small", seed=7, traces=1_000, steps=60)
    return TraceRun(Path("x"), replace(make_manifest(parameters, ()), events=43_210))


def explanation(accepted: bool | None, faults: dict[str, int]) -> Explanation:
    sentence = "accepted by the specification of 5.3.3 with 2 duplicate_end"
    return Explanation(accepted, "5.3.3", 318, faults, sentence, "halfcheck diff x spec:5.3.3")


def lockstep(*, agrees: bool, unseen: tuple[str, ...] = ()) -> Lockstep:
    command = "halfcheck fuzz --profile 5.3.3 --examples 300"
    return Lockstep(
        "5.3.3", ("crash",), "fuzzed", 300, 10_138, 2.3, agrees, 109, 101, 34, 33, unseen, "tiny", 8_400, 671, command
    )


def mutant(name: str, variable: str) -> HuntedMutant:
    what = "no op message is found at the end of the queue"
    return HuntedMutant(name, "broker", what, ("A02",), "4.9.7", variable, "pull_more_ops", 1_234, 0.5)


DOUBLED, PARKED = TransactionState.DOUBLED, TransactionState.PARKED
TABLE = table_of_verdicts()
CRASH = TABLE.of("4.9.7", "tiny")["crash"]

SEND, COMMIT, SEND_ANOTHER = read_path(
    TRANSACTIONAL_MESSAGES,
    constants_for("5.3.3", (), "small"),
    "send_half t=0 immunity=-1; commit_locally t=0; send_half t=1 immunity=-1",
)

COUNTEREXAMPLE = Counterexample(
    "S1", "immune_half", "t0 was delivered <twice>", "5.3.3", (), "small", ("B01",),
    (
        Event(1, SEND, 0, (Change("half_length", "0", "1"),)),
        Event(2, COMMIT, 0, (Change("transaction[0].local", "executing", "commit"),)),
        Event(3, SEND_ANOTHER, 0, (Change("half_length", "1", "2"),)),
    ),
    (
        DiagramStep(1, "Producer", "Broker", "sends a half"),
        DiagramStep(2, "Producer", "Broker", "commits"),
        DiagramStep(3, "Producer", "Broker", "sends another half", is_violation=True),
    ),
    "halfcheck replay s1.itf.json",
)  # fmt: skip


BRIEF = ReportData(
    title="What holds & what does not",
    facts=(Fact("commit", "0123abc"), Fact("seed", "7")),
    command="make verify",
    table=None,
    searches=(
        Searched(
            "4.9.7", ("crash",), "tiny", CRASH.violated, len(TABLE.clauses) - len(CRASH.violated), 123_456, 30, 1.25,
            "halfcheck check --profile 4.9.7 --instance tiny --faults crash",
        ),
    ),
    audits=(
        AuditedStore(
            "5.3.3/late", "5.1.0 to 5.3.3", 321, 1, {"delivered": 7, "doubled": 1},
            (TransactionRow("7F00AA", "g", "T", DOUBLED, (PARKED,), 2, 3, 4, (), (), ("A11",)),),
            "halfcheck audit conformance/golden/5.3.3/late",
            explanation(True, {"duplicate_end": 2, "late_end": 3}),
        ),
    ),
    refused=(
        RefusedSpecification(
            "5.3.3/immunity", "5.3.3+heeds_settled_originals", "transactionCheckMax=14", "B01 is repaired", 27,
            "put_back half=18", "no op message names its original", ("pass_settled_half at half 16",),
            "halfcheck diff conformance/golden/5.3.3/immunity spec:5.3.3+heeds_settled_originals",
        ),
    ),
    lockstep=(lockstep(agrees=True, unseen=("write_op_batch was never possible",)),),
    mutants=MutantSection((mutant("op end taken as illegal", "offsets.op"),), "halfcheck fuzz --mutants --seed 7"),
    simulation=SimulationSection(
        (simulated("crash"), simulated()),
        (Count("5.3.3", "quiet", "S1", 1_000, 42, 17, 18, 9), Count("5.3.3", "crash", "S1", 1_000, 0, None)),
        (of_run("crash"), of_run("quiet")),
        {"kernels": 1.5},
        "halfcheck analyze x --report y.html",
        shortest=(COUNTEREXAMPLE,),
        states=(StatesSeen("5.3.3", "quiet", "small", 1_000, 250, 20_000, "halfcheck check --instance small"),),
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
