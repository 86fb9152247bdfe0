"""The three engines, each asked in its own way, with one form of answer: numbers, paths, witnesses that were seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from model_check.coverage.by_engine import cover_by_cpython, cover_by_numba
from model_check.cpython import search as cpython_search
from model_check.explicit import search as explicit_search
from model_check.explicit.exploration import Progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.explicit.exploration import Report
    from model_check.explicit.state_store.resources import Resources
    from spec.language import Machine, Property, Step

Answer = tuple[dict[str, Any], "dict[Property, list[Step] | None]", "set[Property]"]
"""The numbers of a `CheckResult`, the shortest path to a violation of each clause, the witnesses that are seen."""


class Options(TypedDict, total=False):
    """How an engine searches; see `Question`."""

    threads: int
    most_states: int | None
    most_steps: int
    coverage: bool
    report: Report | None
    resources: Resources | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What an engine is asked.

    Attributes
    ----------
    title : str
        What is searched, for people.
    until : sequence of Property
        The search may end when all of these are violated, if there are any.
    threads : int
        Of the compiled search; no number and no path depends on it.
    most_states : int or None
        Stop when so many are stored.
    most_steps : int
        To this depth `z3` looks for violations.
    coverage : bool
        Count over the states found which conjuncts were the first to be false; not with `z3`.
    report : callable or None
        Called now and then with how far the search is.
    resources : Resources or None
        Memory, disk and checkpoints of the compiled search; the other engines have none.
    """

    machine: Machine
    constants: object
    clauses: Sequence[Property]
    until: Sequence[Property]
    title: str
    threads: int = 1
    most_states: int | None = None
    most_steps: int = 30
    coverage: bool = False
    report: Report | None = None
    resources: Resources | None = None


def by_numba(question: Question) -> Answer:
    """The compiled search."""
    machine = question.machine
    bits = {claim: bit for bit, claim in enumerate((*machine.clauses, *machine.witnesses))}
    found = explicit_search.explore(
        machine,
        question.constants,
        until=[bits[clause] for clause in question.until],
        threads=question.threads,
        most_states=question.most_states,
        report=question.report,
        resources=question.resources,
        title=question.title,
    )
    numbers = {
        **_counted(found),
        "full": found.full_queues(),
        "compile_seconds": found.compile_seconds,
        "peak_bytes": found.peak_bytes,
        "coverage": cover_by_numba(found) if question.coverage else None,
        "disk_bytes": found.disk_bytes,
        "resumed_from": found.resumed_from,
        "collision_probability": found.collision_probability,
    }
    paths = found.paths_to(bits[clause] for clause in question.clauses)
    return (
        numbers,
        {clause: paths[bits[clause]] for clause in question.clauses},
        {w for w in machine.witnesses if found.seen_at[bits[w]] is not None},
    )


def by_cpython(question: Question) -> Answer:
    """The slow judge, which counts no bytes."""
    machine, constants, report = question.machine, question.constants, question.report

    def relay(*numbers: Any) -> None:
        if report is not None:
            report(Progress(*numbers))

    found = cpython_search.explore(
        machine, constants, most_states=question.most_states, until=question.until, report=relay
    )
    numbers = {
        **_counted(found),
        "full": found.full_queues(machine, constants),
        "compile_seconds": 0.0,
        "peak_bytes": 0,
        "coverage": cover_by_cpython(machine, constants, found.parents) if question.coverage else None,
    }
    paths = {c: found.path_to(found.violations[c]) if c in found.violations else None for c in question.clauses}
    return numbers, paths, set(found.witnesses)


def _counted(found: explicit_search.Exploration | cpython_search.Exploration) -> dict[str, Any]:
    return {name: getattr(found, name) for name in ("distinct", "generated", "depth", "complete", "seconds")}


def by_z3(question: Question) -> Answer:
    """One bounded search a clause. No states are counted, and what is not violated is unknown beyond the bound."""
    from model_check.symbolic.bounded import search as bounded_search

    machine, most_steps = question.machine, question.most_steps
    found = {c: bounded_search(machine, question.constants, c, most_steps) for c in question.clauses}
    numbers = {
        "full": (),
        "distinct": 0,
        "generated": 0,
        "depth": most_steps,
        "complete": False,
        "seconds": sum(answer.seconds for answer in found.values()),
        "compile_seconds": 0.0,
        "peak_bytes": 0,
    }
    return numbers, {clause: answer.path for clause, answer in found.items()}, set(machine.witnesses)


ENGINES = {"numba": by_numba, "cpython": by_cpython, "z3": by_z3}
"""By the names under which they are asked for."""
