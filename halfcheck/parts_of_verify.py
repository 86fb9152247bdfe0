"""What `halfcheck verify` does in processes of their own: takes what can be pickled, gives what the page shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz.world import World
from halfcheck.lockstep_runs import lockstep_run
from halfcheck.mutant_hunt import mutant_hunt
from model_check.check import CheckResult, check
from model_check.errors import EvaluationError
from spec.constants import FAULTS

if TYPE_CHECKING:
    from fuzz.mutants.mutant import Mutant
    from spark_trace_analysis.report.data import Lockstep, MutantSection


def cross_checked(question: tuple[str, tuple[str, ...]]) -> str:
    """What both readings say on `tiny`, in a sentence; raises `EvaluationError` if they differ."""
    profile, faults = question
    world = ",".join(faults) or "quiet"
    fast, slow = (check(profile, faults, "tiny", reading=reading) for reading in ("numba", "cpython"))
    if _answer(fast) != _answer(slow):
        message = f"the readings differ on {profile} {world}: numba {_answer(fast)}, cpython {_answer(slow)}"
        raise EvaluationError(message)
    return (
        f"{profile} {world} on tiny: the CPython search and the compiled search agree on {slow.distinct:,} distinct "
        f"states, {slow.generated:,} generated, depth {slow.depth}, every verdict and every shortest schedule."
    )


def lockstep(part: tuple[str, int, int]) -> Lockstep:
    """Specification and broker of a profile, from a seed, on so many schedules."""
    profile, seed, examples = part
    return lockstep_run(World.of(profile, FAULTS), seed, examples=examples)


def hunted(part: tuple[Mutant, int]) -> MutantSection:
    """One mutant, from a seed."""
    mutant, seed = part
    return mutant_hunt(seed, mutants=(mutant,))


def _answer(result: CheckResult) -> tuple[object, ...]:
    paths = tuple(tuple(str(step) for step in row.path or ()) for row in result.clauses)
    verdicts = tuple(row.verdict for row in result.clauses)
    return result.distinct, result.generated, result.depth, verdicts, paths, result.unseen
