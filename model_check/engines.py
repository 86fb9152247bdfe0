"""The three engines, each asked in its own way, with one form of answer: numbers, paths, witnesses that were seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from model_check.coverage import by_cpython as cpython_coverage
from model_check.coverage import by_numba as explicit_coverage
from model_check.cpython import search as cpython_search
from model_check.explicit import search as explicit_search
from model_check.explicit.exploration import Progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.explicit.exploration import Report
    from spec.language import Machine, Property, Step

Answer = tuple[dict[str, Any], "dict[Property, list[Step] | None]", "set[Property]"]
"""The numbers of a `CheckResult`, the shortest path to a violation of each clause, the witnesses that are seen."""


def by_numba(
    machine: Machine,
    constants: object,
    clauses: Sequence[Property],
    until: Sequence[Property],
    options: dict[str, Any],
    *,
    coverage: bool,
) -> Answer:
    """The compiled search; `options` are those of `model_check.explicit.search.explore`."""
    bits = {claim: bit for bit, claim in enumerate((*machine.clauses, *machine.witnesses))}
    found = explicit_search.explore(machine, constants, until=[bits[clause] for clause in until], **options)
    numbers = {
        **_counted(found),
        "compile_seconds": found.compile_seconds,
        "peak_bytes": found.peak_bytes,
        "coverage": explicit_coverage.cover(found) if coverage else None,
        "disk_bytes": found.disk_bytes,
        "resumed_from": found.resumed_from,
        "collision_probability": found.collision_probability,
    }
    paths = found.paths_to(bits[clause] for clause in clauses)
    return (
        numbers,
        {clause: paths[bits[clause]] for clause in clauses},
        {w for w in machine.witnesses if found.seen_at[bits[w]] is not None},
    )


def by_cpython(
    machine: Machine,
    constants: object,
    clauses: Sequence[Property],
    most_states: int | None,
    until: Sequence[Property],
    report: Report | None,
    *,
    coverage: bool,
) -> Answer:
    """The slow judge, which counts no bytes."""

    def relay(distinct: int, generated: int, depth: int, queue: int, seconds: float) -> None:
        if report is not None:
            report(Progress(distinct, generated, depth, queue, seconds))

    found = cpython_search.explore(machine, constants, most_states=most_states, until=until, report=relay)
    numbers = {
        **_counted(found),
        "compile_seconds": 0.0,
        "peak_bytes": 0,
        "coverage": cpython_coverage.cover(machine, constants, found.parents) if coverage else None,
    }
    paths = {c: found.path_to(found.violations[c]) if c in found.violations else None for c in clauses}
    return numbers, paths, set(found.witnesses)


def _counted(found: explicit_search.Exploration | cpython_search.Exploration) -> dict[str, Any]:
    return {name: getattr(found, name) for name in ("distinct", "generated", "depth", "complete", "seconds")}


def by_z3(machine: Machine, constants: object, clauses: Sequence[Property], most_steps: int) -> Answer:
    """One bounded search a clause. No states are counted, and what is not violated is unknown beyond the bound."""
    from model_check.symbolic.bounded import search as bounded_search

    found = {clause: bounded_search(machine, constants, clause, most_steps) for clause in clauses}
    numbers = {
        "distinct": 0,
        "generated": 0,
        "depth": most_steps,
        "complete": False,
        "seconds": sum(answer.seconds for answer in found.values()),
        "compile_seconds": 0.0,
        "peak_bytes": 0,
    }
    return numbers, {clause: answer.path for clause, answer in found.items()}, set(machine.witnesses)
