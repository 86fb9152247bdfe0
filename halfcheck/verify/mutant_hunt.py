"""The hunt for mutants; none may survive, or the lockstep and the properties would overlook such an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz.mutants.kill_table import kill_table
from model_check.errors import EvaluationError
from spark_trace_analysis.report.data import HuntedMutant

if TYPE_CHECKING:
    from fuzz.mutants.kill_table import Kill
    from fuzz.mutants.mutant import Mutant


def mutant_hunt(seed: int, mutants: tuple[Mutant, ...]) -> list[HuntedMutant]:
    """Hunt mutants on the schedules of a seed.

    Raises
    ------
    EvaluationError
        One survives; names all that do.
    """
    kills = kill_table(random_seed=seed, mutants=mutants)
    survivors = [f"{kill.mutant.name} ({kill.examples:,} examples)" for kill in kills if not kill.variable]
    if survivors:
        message = f"{len(survivors)} of {len(kills)} mutants survive: {', '.join(survivors)}; "
        message += f"see halfcheck fuzz --mutants --seed {seed}"
        raise EvaluationError(message)
    return [_hunted(kill) for kill in kills]


def _hunted(kill: Kill) -> HuntedMutant:
    return HuntedMutant(
        name=kill.mutant.name,
        part=kill.mutant.part.value,
        what=kill.mutant.what,
        resembles=kill.mutant.resembles,
        profile=kill.mutant.profile,
        variable=kill.variable,
        step=kill.step,
        examples=kill.examples,
        seconds=kill.seconds,
    )
