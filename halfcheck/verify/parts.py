"""What `halfcheck verify` does in processes of their own: takes what can be pickled, gives what the page shows.

Some searches are done by both engines; the stores of real brokers are audited, and the specification of their version
must explain them; specification and broker run in lockstep, and must agree; mutants are hunted, and none may survive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.golden_stores import golden_stores
from fuzz.lockstep.fuzzed_instances import FUZZED
from fuzz.lockstep.pairing import Pairing
from fuzz.mutants import kill_table
from fuzz.search.campaign import run_campaign
from model_check.check import check
from model_check.engines import COMPILED, CPYTHON
from model_check.errors import EvaluationError
from model_check.question import Question
from model_check.world import Profile, World
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.report.data import AuditedStore, Explanation, HuntedMutant, Lockstep
from spec.constants import FAULTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.golden_stores import GoldenStore
    from halfcheck.verify.processes import ResultCache
    from model_check.finding import Finding
    from spark_trace_analysis.audit.explanation.trace_verdict import TraceVerdict

CROSS_CHECKED: Final = (
    World.of("4.5.1", ["slow_local"]), World.of("4.9.7", ["crash"]), World.of("5.3.3"), World.of("5.5.1"),
)  # fmt: skip
"""What the slow CPython search does again on the instance `tiny`."""

SHOWN: Final = 200
"""Transactions of a store that the page lists at most; the command beside them lists all."""

EXAMPLES: Final = 300
STEPS: Final = 50
"""Of the lockstep: schedules a version, and the most steps of one."""


class Begun(NamedTuple):
    """What the parts find, in their order, as soon as it is there."""

    kept: ResultCache
    cross_checks: Iterator[str]
    audits: Iterator[AuditedStore]
    lockstep: Iterator[Lockstep]
    mutants: Iterator[HuntedMutant]


def begin(kept: ResultCache, seed: int) -> Begun:
    """Hand out the searches to be done twice, the stores, the versions to be run in lockstep, the mutants."""
    return Begun(
        kept,
        kept(cross_checked, CROSS_CHECKED),
        kept(explained_store, golden_stores()),
        kept(lockstep, [(profile, seed, EXAMPLES) for profile in Profile.versions()]),
        kept(hunted, [(mutant.name, seed) for mutant in kill_table.MUTANTS]),
    )


def cross_checked(world: World) -> str:
    """What both engines say of a world, in a sentence; raises `EvaluationError` if they differ."""
    fast, slow = (check(Question(world=world), engine) for engine in (COMPILED, CPYTHON))
    name = f"{world.profile} {world.environment.name}"
    if _answer(fast) != _answer(slow):
        message = f"the engines differ on {name}: numba {_answer(fast)}, cpython {_answer(slow)}"
        raise EvaluationError(message)
    numbers = slow.numbers
    return (
        f"{name} on {world.instance.name}: the CPython search and the compiled search agree on {numbers.distinct:,} "
        f"distinct states, {numbers.generated:,} generated, depth {numbers.depth}, every verdict and every shortest "
        "counterexample."
    )


def _answer(found: Finding) -> tuple[object, ...]:
    paths = tuple(tuple(str(step) for step in row.path or ()) for row in found.rows)
    verdicts = tuple(row.verdict for row in found.rows)
    return found.numbers.distinct, found.numbers.generated, found.numbers.depth, verdicts, paths, found.unseen


def explained_store(store: GoldenStore) -> AuditedStore:
    """What the audit of a store says.

    Raises
    ------
    EvaluationError
        The specification does not explain the store, or could not be asked; names the store and the record.
    """
    audit = audit_store(store.path)
    if audit.trace.accepted is not True:
        message = f"{store.name}: {audit.trace.sentence()}"
        raise EvaluationError(message)
    where = f"conformance/golden/{store.name}"
    return AuditedStore(
        store=store.name,
        version=audit.version or "unknown",
        records=audit.records,
        corrupt=len(audit.corrupt),
        counts=audit.counts,
        transactions=tuple(audit.listed(everything=False, limit=SHOWN)),
        command=f"halfcheck audit {where}",
        explanation=_explanation(audit.trace, where),
    )


def _explanation(trace: TraceVerdict, where: str) -> Explanation:
    profile = trace.profile or ""
    return Explanation(
        accepted=trace.accepted,
        profile=profile,
        events=trace.events,
        faults=trace.faults,
        sentence=trace.sentence(),
        command=f"halfcheck diff {where} spec:{profile}",
    )


def lockstep(part: tuple[Profile, int, int]) -> Lockstep:
    """What specification and broker of a profile show, from a seed, on so many schedules with every fault.

    Raises
    ------
    EvaluationError
        They differ; names the step and the variable, and the command that shows the schedule.
    """
    profile, seed, examples = part
    command = f"halfcheck fuzz --profile {profile} --examples {examples} --steps {STEPS} --seed {seed}"
    campaign = run_campaign(Pairing.of(profile, FAULTS), examples=examples, steps=STEPS, random_seed=seed)
    if campaign.failure is not None:
        message = f"specification and broker differ in {profile}: {campaign.failure.mismatch}; see {command}"
        raise EvaluationError(message)
    done, coverage, states = campaign.done, campaign.coverage, campaign.states
    assert states is not None  # noqa: S101 - they are counted where the two agree
    return Lockstep(
        profile=profile.name,
        environment=FAULTS,
        instance=FUZZED.name,
        examples=done.examples,
        steps=done.steps,
        seconds=done.seconds,
        agrees=True,
        conjuncts=len(coverage.guards.open),
        conjuncts_seen=len(coverage.guards.open) - len(coverage.never_false),
        actions=len(coverage.guards.allowed),
        actions_seen=len(coverage.guards.allowed) - len(coverage.never_enabled),
        unseen=(
            *(f"{name} was never possible" for name in coverage.never_enabled),
            *(f"{name}: never first to fail: {rule}" for name, rule in coverage.never_false),
        ),
        instance_of_states=states.world.instance.name,
        states=states.reachable,
        states_seen=states.seen,
        command=command,
    )


def hunted(part: tuple[str, int]) -> HuntedMutant:
    """Who killed the mutant of a name, on the schedules of a seed; raises `EvaluationError` if nobody did."""
    name, seed = part
    kill = kill_table.hunt(next(one for one in kill_table.MUTANTS if one.name == name), random_seed=seed)
    if not kill.variable:
        message = f"1 of 1 mutants survive: {name} ({kill.examples:,} examples); "
        message += f"see halfcheck fuzz --mutants --seed {seed}"
        raise EvaluationError(message)
    return HuntedMutant(
        name=name,
        part=kill.mutant.part.value,
        what=kill.mutant.what,
        resembles=kill.mutant.resembles,
        profile=kill.mutant.world.profile.name,
        variable=kill.variable,
        step=kill.step,
        examples=kill.examples,
        seconds=kill.seconds,
    )
