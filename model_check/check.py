"""One question to an engine: each violation is replayed in the CPython engine before it is a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from model_check.clauses import name_of
from model_check.counterexample.steps import replay
from model_check.counterexample.unfolded import unfolded, without_forgetting
from model_check.engines import COMPILED, Engine
from model_check.errors import EvaluationError, ModelCheckError
from model_check.finding import Bounds, Finding, Holds, Row, Unknown, Violated
from model_check.instances import require_searchable

if TYPE_CHECKING:
    from model_check.question import Means, Question
    from spec.language import Property, Step


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
    why = explored.why_unknown
    bounds = (Bounds.of(question.world.instance, explored.numbers),)
    rows: list[Row] = []
    for clause in question.asked:
        if clause in explored.depths:
            rows.append(_violated(question, clause, explored.depths[clause], explored.paths.get(clause)))
        else:
            rows.append(Unknown(clause, why) if why else Holds(clause, bounds))
    identifiers = {clause.identifier for clause in question.asked}
    unseen = tuple(w for w in machine.witnesses if w.identifier in identifiers and w not in explored.seen)
    return Finding(question.world, tuple(rows), explored.numbers, unseen, explored.coverage)


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
