"""What is known of each side of a comparison: what the table of verdicts says, and searches of the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from model_check.answers.answer import search_portfolio
from model_check.answers.known_verdicts import known_verdicts
from model_check.comparison.differences import CANNOT_OCCUR, ProfileVerdict, Verdicts
from model_check.defects.affected import affects
from model_check.finding import Verdict, Violated
from model_check.occurrence import why_it_cannot_occur
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.answers.answer import Answer
    from model_check.answers.known_verdicts import KnownVerdicts
    from model_check.asked import Asked
    from model_check.broker_conf.judgement import ConfJudgement
    from model_check.finding import Row
    from model_check.world import Environment
    from spec.constants import Instance
    from spec.language import Property

MOST_STATES = 2_000_000
"""Where a search of an instance is cut short that the table knows with fewer faults at once."""


def verdicts_of(
    asked: Asked,
    environment: Environment,
    *,
    clauses: Sequence[Property] = TRANSACTIONAL_MESSAGES.clauses,
    instances: Sequence[Instance] = (),
    most_states: int | None = None,
    **question: Any,
) -> Verdicts:
    """One side: what the table knows, and searches of what it does not; with `most_states`, searches alone.

    Parameters
    ----------
    question
        What `search_portfolio` takes besides.

    Raises
    ------
    EvaluationError
        As `search_portfolio`.
    KeyboardInterrupt
        After Ctrl-C in a search: half a comparison is none.
    """
    known = None if most_states is not None else known_verdicts(asked.profile, environment, clauses, instances)
    if known is None:
        answer = _search(asked, environment, clauses=clauses, instances=instances, most_states=most_states, **question)
        return of_search(asked, answer)
    sides = _known_sides(asked, environment, clauses, known)
    found = Verdicts(asked, environment, sides, known.instances, distinct=known.distinct)
    left = [clause for clause, side in sides.items() if not side.is_violated and side.verdict != CANNOT_OCCUR]
    if not (left and known.left):
        return found
    more = of_search(
        asked,
        _search(asked, environment, clauses=left, instances=known.left, most_states=MOST_STATES, **question),
    )
    of_table = tuple(one for one in known.instances if one not in known.left)
    is_decided = any(not one.forgets for one in (*of_table, *more.searched) if one not in more.cut_short)
    rows = {clause: _with(sides[clause], side, is_decided) for clause, side in more.sides.items()}
    return replace(
        found,
        sides={**sides, **rows},
        known=of_table,
        searched=more.searched,
        cut_short=more.cut_short,
        distinct=known.distinct + more.distinct,
        seconds=more.seconds,
    )


def needs_a_search(
    asked: Asked,
    environment: Environment,
    *,
    clauses: Sequence[Property] = TRANSACTIONAL_MESSAGES.clauses,
    instances: Sequence[Instance] = (),
    most_states: int | None = None,
) -> bool:
    """Whether the table does not know all that `verdicts_of` is asked."""
    known = None if most_states is not None else known_verdicts(asked.profile, environment, clauses, instances)
    return known is None or bool(known.left)


def of_judgement(asked: Asked, judgement: ConfJudgement) -> Verdicts:
    """One side, of a configuration in seconds."""
    whole, numbers = judgement.whole, judgement.whole.numbers
    sides = {}
    for row in whole.rows:
        if isinstance(row, Violated):
            base = judgement.shown_by[row.clause].base
            sides[row.clause] = ProfileVerdict(
                row.verdict.value, row.depth, base, row.resembles, judgement.after_ms(row)
            )
        else:
            sides[row.clause] = ProfileVerdict(
                CANNOT_OCCUR if row.clause in judgement.cannot_occur else row.verdict.value
            )
    environment, bases, cut = whole.world.environment, judgement.bases, judgement.cut_short
    return Verdicts(asked, environment, sides, (), bases, cut, numbers.distinct, numbers.seconds)


def of_search(asked: Asked, answer: Answer) -> Verdicts:
    """One side, of a search of all that is asked."""
    world, numbers = answer.whole.world, answer.whole.numbers
    sides = {row.clause: _side(answer, row) for row in answer.rows}
    searched = tuple(one.world.instance for one in answer.findings)
    cut = tuple(one.world.instance for one in answer.findings if not one.numbers.complete and one.undecided)
    return Verdicts(asked, world.environment, sides, (), searched, cut, numbers.distinct, numbers.seconds, answer)


def _search(asked: Asked, environment: Environment, **question: Any) -> Answer:
    answer = search_portfolio(asked.profile, environment, release=asked.stood_for, **question)
    if answer.is_interrupted:
        raise KeyboardInterrupt
    return answer


def _known_sides(
    asked: Asked, environment: Environment, clauses: Sequence[Property], known: KnownVerdicts
) -> dict[Property, ProfileVerdict]:
    bounded = [one for one in known.instances if not one.forgets] or known.instances
    worlds = [World(asked.profile, environment, size).constants for size in bounded]
    sides = {}
    for clause in clauses:
        shown = known.violated.get(clause)
        if shown is not None:
            ids = tuple(one for one in shown.resembles if affects(one, asked.release))
            sides[clause] = ProfileVerdict(Verdict.VIOLATED.value, shown.depth, shown.instance, ids)
        elif clause in known.unknown:
            sides[clause] = ProfileVerdict(Verdict.UNKNOWN.value)
        else:
            sides[clause] = ProfileVerdict(
                CANNOT_OCCUR if why_it_cannot_occur(clause, *worlds) else Verdict.HOLDS.value
            )
    return sides


def _with(known: ProfileVerdict, found: ProfileVerdict, is_decided: bool) -> ProfileVerdict:
    """What the table says of fewer faults at once, and a search of all: what neither breaks holds where one ended."""
    if found.is_violated or not is_decided or known.verdict == Verdict.UNKNOWN.value:
        return found if found.is_violated else ProfileVerdict(Verdict.UNKNOWN.value)
    return known


def _side(answer: Answer, row: Row) -> ProfileVerdict:
    if isinstance(row, Violated):
        return ProfileVerdict(row.verdict.value, row.depth, row.world.instance, row.resembles)
    return ProfileVerdict(CANNOT_OCCUR if row.clause in answer.cannot_occur else row.verdict.value)
