"""What `halfcheck verify` does in processes of their own: takes what can be pickled, gives what the page shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.golden_stores import golden_stores, later_stores
from fuzz.lockstep.pairing import Pairing
from fuzz.mutants import kill_table
from halfcheck.verify import lockstep_runs
from halfcheck.verify.explained_stores import explained_store
from halfcheck.verify.lockstep_runs import lockstep_run
from halfcheck.verify.mutant_hunt import mutant_hunt
from model_check.check import CheckResult, check
from model_check.errors import EvaluationError
from spec.constants import FAULTS
from spec.profiles import VERSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from halfcheck.verify.result_cache import ResultCache
    from spark_trace_analysis.report.data import AuditedStore, HuntedMutant, Lockstep

CROSS_CHECKED: Final = (("4.5.1", ("slow_local",)), ("4.9.7", ("crash",)), ("5.3.3", ()), ("5.4.0", ()))
"""What the slow CPython search does again on the instance `tiny`."""


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
        kept(explained_store, (*golden_stores(), *later_stores())),
        kept(lockstep, [(profile, seed, lockstep_runs.EXAMPLES) for profile in VERSIONS]),
        kept(hunted, [(mutant.name, seed) for mutant in kill_table.MUTANTS]),
    )


def cross_checked(question: tuple[str, tuple[str, ...]]) -> str:
    """What both engines say on `tiny`, in a sentence; raises `EvaluationError` if they differ."""
    profile, faults = question
    world = ",".join(faults) or "quiet"
    fast, slow = (check(profile, faults, "tiny", engine=engine) for engine in ("numba", "cpython"))
    if _answer(fast) != _answer(slow):
        message = f"the engines differ on {profile} {world}: numba {_answer(fast)}, cpython {_answer(slow)}"
        raise EvaluationError(message)
    return (
        f"{profile} {world} on tiny: the CPython search and the compiled search agree on {slow.distinct:,} distinct "
        f"states, {slow.generated:,} generated, depth {slow.depth}, every verdict and every shortest counterexample."
    )


def lockstep(part: tuple[str, int, int]) -> Lockstep:
    """Specification and broker of a profile, from a seed, on so many schedules."""
    profile, seed, examples = part
    return lockstep_run(Pairing.of(profile, FAULTS), seed, examples)


def hunted(part: tuple[str, int]) -> HuntedMutant:
    """The mutant of a name, from a seed."""
    name, seed = part
    mutant = next(mutant for mutant in kill_table.MUTANTS if mutant.name == name)
    return mutant_hunt(seed, (mutant,))[0]


def _answer(result: CheckResult) -> tuple[object, ...]:
    paths = tuple(tuple(str(step) for step in row.path or ()) for row in result.clauses)
    verdicts = tuple(row.verdict for row in result.clauses)
    return result.distinct, result.generated, result.depth, verdicts, paths, result.unseen
