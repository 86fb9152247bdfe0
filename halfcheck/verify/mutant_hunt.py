"""The hunt for all mutants; none may survive, or the lockstep and the properties would overlook such an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz.mutants.kill_table import kill_table
from model_check.errors import EvaluationError
from spark_trace_analysis.report.data import HuntedMutant, MutantSection

if TYPE_CHECKING:
    from collections.abc import Callable

    from fuzz.mutants.kill_table import Kill
    from fuzz.mutants.mutant import Mutant


def mutant_hunt(
    seed: int, *, mutants: tuple[Mutant, ...] | None = None, report: Callable[[Kill], None] | None = None
) -> MutantSection:
    """Hunt mutants, all of them if not given.

    Parameters
    ----------
    seed
        Where the schedules come from.
    report
        Is called after each mutant.

    Raises
    ------
    EvaluationError
        One survives; names all that do.
    """
    command = f"halfcheck fuzz --mutants --seed {seed}"
    kills = kill_table(random_seed=seed, mutants=mutants, report=report)
    survivors = [f"{kill.mutant.name} ({kill.examples:,} examples)" for kill in kills if not kill.variable]
    if survivors:
        message = f"{len(survivors)} of {len(kills)} mutants survive: {', '.join(survivors)}; see {command}"
        raise EvaluationError(message)
    return MutantSection(tuple(_told(kill) for kill in kills), command)


def _told(kill: Kill) -> HuntedMutant:
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
