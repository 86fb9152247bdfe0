"""Parts of `halfcheck verify` for processes of their own: they take what can be pickled, and give what the page shows.

Some searches are done by both engines; the stores of real brokers are audited, and the specification of their version
must explain them; specification and broker run in lockstep, and must agree; mutants are hunted, and none may survive.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.golden_stores import GoldenStore, golden_stores
from fuzz.lockstep.pairing import Pairing
from fuzz.mutants import kill_table
from fuzz.search.campaign import Campaign, run_campaign
from model_check.check import check
from model_check.engines import COMPILED, CPYTHON
from model_check.errors import EvaluationError
from model_check.question import Question
from model_check.world import Profile, World
from spark_trace_analysis.audit.audit_store import audit_store
from spec.constants import FAULTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fuzz.mutants.kill_table import HuntResult
    from halfcheck.verify.processes import ResultCache
    from model_check.finding import Finding
    from spark_trace_analysis.audit.audit import Audit

CROSS_CHECKED: Final = (
    World.of("4.5.1", ["slow_local"]), World.of("4.9.7", ["crash"]), World.of("5.3.3"), World.of("5.5.1"),
)  # fmt: skip
"""The worlds that the slow CPython search does again, on the instance `tiny`."""

EXAMPLES: Final = 300
STEPS: Final = 50
"""Of the lockstep: schedules a version, and the most steps of one."""


class Begun(NamedTuple):
    """The results of the parts, in their order, as soon as they are there."""

    cache: ResultCache
    cross_checks: Iterator[str]
    audits: Iterator[Audit]
    lockstep: Iterator[Campaign]
    mutants: Iterator[HuntResult]


def begin(cache: ResultCache, seed: int) -> Begun:
    """Hand out the searches to be done twice, the stores, the versions to be run in lockstep, the mutants."""
    return Begun(
        cache,
        cache(cross_checked, CROSS_CHECKED),
        cache(explained_store, golden_stores()),
        cache(lockstep, [(profile, seed, EXAMPLES) for profile in Profile.versions()]),
        cache(hunted, [(mutant.name, seed) for mutant in kill_table.MUTANTS]),
    )


def cross_checked(world: World) -> str:
    """The agreement of both engines on a world, in a sentence; raises `EvaluationError` if they differ."""
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


def explained_store(store: GoldenStore) -> Audit:
    """The audit of a store, under the store's name.

    Raises
    ------
    EvaluationError
        The specification does not explain the store, or could not be asked; names the store and the record.
    """
    audit = audit_store(store.path)
    if audit.trace.accepted is not True:
        message = f"{store.name}: {audit.trace.sentence()}"
        raise EvaluationError(message)
    return replace(audit, store=store.name)


def lockstep(part: tuple[Profile, int, int]) -> Campaign:
    """The campaign of specification and broker of a profile, from a seed, on so many schedules with every fault.

    Raises
    ------
    EvaluationError
        They differ; names the step and the variable, and the command that shows the schedule.
    """
    profile, seed, examples = part
    campaign = run_campaign(Pairing.of(profile, FAULTS), examples=examples, steps=STEPS, random_seed=seed)
    if campaign.failure is not None:
        message = f"specification and broker differ in {profile}: {campaign.failure.mismatch}; see {campaign.command}"
        raise EvaluationError(message)
    return campaign


def hunted(part: tuple[str, int]) -> HuntResult:
    """Who killed the mutant of a name, on the schedules of a seed; raises `EvaluationError` if nobody did."""
    name, seed = part
    kill = kill_table.hunt(next(one for one in kill_table.MUTANTS if one.name == name), random_seed=seed)
    if not kill.variable:
        message = f"1 of 1 mutants survive: {name} ({kill.examples:,} examples); "
        message += f"see halfcheck fuzz --mutants --seed {seed}"
        raise EvaluationError(message)
    return replace(kill, mutant=replace(kill.mutant), failure=None)  # without the broken modules
