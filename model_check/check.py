"""One question to an engine: each violation is replayed in the CPython engine before it is a finding."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Unpack

from model_check.any_number.claims import why_no_claim, why_not_claimed, why_not_in
from model_check.clauses import name_of
from model_check.counterexample.steps import replay
from model_check.counterexample.unfolded import unfolded, without_forgetting
from model_check.engines import COMPILED, Engine, Explored
from model_check.errors import EvaluationError, ModelCheckError
from model_check.finding import Bounds, Finding, Holds, Row, Unknown, Violated
from model_check.instances import require_searchable

if TYPE_CHECKING:
    from model_check.explicit.exploration import Report
    from model_check.question import Means, Question
    from spec.language import Property, Step


BROKEN_AMONG_OTHERS: Final = "one transaction among others breaks it"


def check(question: Question, engine: Engine = COMPILED, **means: Unpack[Means]) -> Finding:
    """Search a world and give a verdict on each clause that is asked about.

    Raises `ModelCheckError` when the engine can't be asked this, or the instance is too large for any, and
    `EvaluationError` when a value leaves its declared range, or a counterexample does not replay.
    """
    machine = question.machine
    require_searchable(machine, question.c)
    refusal = engine.refuses(question, **means)
    if refusal:
        raise ModelCheckError(refusal)
    explored = engine.search(question, **means)
    if question.world.is_crowded:
        rows = _rows_among_others(question, explored, means.get("report"))
    else:
        rows = _rows(question, explored)
    identifiers = {clause.identifier for clause in question.asked}
    unseen = tuple(w for w in machine.witnesses if w.identifier in identifiers and w not in explored.seen)
    return Finding(question.world, rows, explored.numbers, unseen, explored.coverage)


def _rows(question: Question, explored: Explored) -> tuple[Row, ...]:
    """The verdicts."""
    bounds = (Bounds.of(question.world.instance, explored.numbers),)
    why = explored.why_unknown
    return tuple(
        _violated(question, clause, explored.depths[clause], explored.paths.get(clause))
        if clause in explored.depths
        else Unknown(clause, why)
        if why
        else Holds(clause, bounds)
        for clause in question.asked
    )


def _rows_among_others(question: Question, explored: Explored, report: Report | None) -> tuple[Row, ...]:
    """The verdicts among others: what holds needs a claim, and what is broken a run of many that breaks it, too."""
    from model_check.any_number.concretize import MOST_TRANSACTIONS, concrete_runs

    world = question.world
    runs = concrete_runs(world, explored.paths, report=report)
    no_claim = explored.why_unknown or why_no_claim(world.profile, world.environment) or why_not_in(world)
    bounds = (Bounds.of(world.instance, explored.numbers),)
    rows: list[Row] = []
    for clause in question.asked:
        if clause in runs:
            plain = replace(question, world=runs[clause].world, given=None, constants=None)
            steps = list(runs[clause].steps)
            rows.append(_violated(plain, clause, len(steps), steps))
        elif clause in explored.depths:
            sought = f" of up to {MOST_TRANSACTIONS}" if clause in explored.paths else ""
            why = f"in {explored.depths[clause]} steps; no schedule of many{sought} is known that does"
            why = f"{BROKEN_AMONG_OTHERS}, {why}"
            rows.append(Unknown(clause, why))
        else:
            why = no_claim or why_not_claimed(clause, world.profile)
            rows.append(Unknown(clause, why) if why else Holds(clause, bounds))
    return tuple(rows)


def _violated(question: Question, clause: Property, depth: int, path: list[Step] | None) -> Violated:
    """A violation; its path, if there is one, as it is without forgetting."""
    world, machine = question.world, question.machine
    if path is None:
        return Violated(clause, depth, world)
    constants: Any = question.c
    if world.instance.forgets:
        plain = unfolded(machine, constants, path)
        path, constants = list(plain.steps), without_forgetting(constants, plain.sizes)
        world = world.on(without_forgetting(world.instance, plain.sizes))
    replayed = replay(machine, constants, path)
    if clause not in replayed.violated:
        msg = f"the path to a violation of {name_of(clause)} does not violate it"
        raise EvaluationError(msg)
    return Violated(clause, depth, world, tuple(path), replayed)
