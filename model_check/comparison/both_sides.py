"""What is known of each side of a comparison: what the table of verdicts says, and searches of the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from model_check.asked import Asked, asked_for
from model_check.check import Verdict, chosen_clauses
from model_check.comparison.differences import CANNOT_OCCUR, Comparison, Side, Verdicts, compared
from model_check.defects.affected import affects
from model_check.instances import constants_for, load_instance
from model_check.occurrence import why_it_cannot_occur
from model_check.portfolio import search_portfolio
from model_check.verdicts.known_verdicts import known_verdicts
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.broker_conf.judgement import Judgement
    from model_check.check import ClauseResult
    from model_check.portfolio import Judged
    from model_check.verdicts.known_verdicts import KnownVerdicts

MOST_STATES = 2_000_000
"""Where a search of an instance is cut short that the table knows with fewer faults at once."""


def compare(before: str, after: str, faults: Sequence[str] = (), **question: Any) -> Comparison:
    """Ask the table of verdicts of two releases or profiles, and search what it does not know.

    Parameters
    ----------
    before, after
        Releases or profiles.
    faults
    question
        What `verdicts_of` takes besides.

    Raises
    ------
    ModelCheckError, EvaluationError
        As `search_portfolio`.
    KeyboardInterrupt
        After Ctrl-C in a search: half a comparison is none.
    """
    asked = [asked_for(name) for name in (before, after)]  # an unknown name is named before anything is searched
    return compared(*(verdicts_of(one, faults, **question) for one in asked))


def verdicts_of(
    asked: Asked,
    faults: Sequence[str] = (),
    *,
    properties: Sequence[str] = (),
    instances: Sequence[str] = (),
    most_states: int | None = None,
    **question: Any,
) -> Verdicts:
    """One side: what the table knows, and searches of what it does not; with `most_states`, searches alone.

    Raises
    ------
    ModelCheckError, EvaluationError, KeyboardInterrupt
        As `compare`.
    """
    constants_for(asked.profile, faults, load_instance("tiny"))
    known = None if most_states is not None else known_verdicts(asked.profile, faults, properties, instances)
    if known is None:
        answer = _search(asked, faults, properties=properties, instances=instances, most_states=most_states, **question)
        return of_search(asked, answer)
    sides = _known_sides(asked, faults, properties, known)
    found = Verdicts(asked, tuple(faults), sides, known.instances, distinct=known.distinct)
    left = [clause for clause, side in sides.items() if not side.is_violated and side.verdict != CANNOT_OCCUR]
    if not (left and known.left):
        return found
    more = of_search(
        asked, _search(asked, faults, properties=left, instances=known.left, most_states=MOST_STATES, **question)
    )
    of_table = tuple(name for name in known.instances if name not in known.left)
    whole = {*of_table, *more.searched} - set(more.cut_short)
    is_decided = any(not load_instance(name).forgets for name in whole)
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
    faults: Sequence[str] = (),
    *,
    properties: Sequence[str] = (),
    instances: Sequence[str] = (),
    most_states: int | None = None,
) -> bool:
    """Whether the table does not know all that `verdicts_of` is asked."""
    known = None if most_states is not None else known_verdicts(asked.profile, faults, properties, instances)
    return known is None or bool(known.left)


def of_judgement(asked: Asked, judgement: Judgement) -> Verdicts:
    """One side, of a configuration in seconds."""
    result = judgement.result
    sides = {}
    for row in result.clauses:
        if row.clause in judgement.schedules:
            base = judgement.bases[judgement.found_in[row.clause]]
            after_ms = judgement.after_ms(row)
            sides[row.name] = Side(row.verdict.value, row.depth, base, row.resembles, after_ms)
        else:
            sides[row.name] = Side(CANNOT_OCCUR if row.clause in judgement.cannot_occur else row.verdict.value)
    return Verdicts(
        asked, result.faults, sides, (), judgement.bases, judgement.cut_short, result.distinct, result.seconds
    )


def of_search(asked: Asked, answer: Judged) -> Verdicts:
    """One side, of a search of all that is asked."""
    result = answer.result
    sides = {row.name: _side(answer, row, asked) for row in result.clauses}
    searched = tuple(one.instance.name for one in answer.searched)
    cut = tuple(
        one.instance.name
        for one in answer.searched
        if not one.complete and any(row.verdict is Verdict.UNKNOWN for row in one.clauses)
    )
    return Verdicts(asked, result.faults, sides, (), searched, cut, result.distinct, result.seconds, answer)


def _search(asked: Asked, faults: Sequence[str], **question: Any) -> Judged:
    answer = search_portfolio(asked.profile, faults, **question)
    if answer.is_interrupted:
        raise KeyboardInterrupt
    return answer


def _known_sides(
    asked: Asked, faults: Sequence[str], properties: Sequence[str], known: KnownVerdicts
) -> dict[str, Side]:
    bounded = [one for one in map(load_instance, known.instances) if not one.forgets] or [
        load_instance(name) for name in known.instances
    ]
    worlds = [constants_for(asked.profile, faults, size) for size in bounded]
    sides = {}
    for rule in chosen_clauses(TRANSACTIONAL_MESSAGES, properties):
        clause = f"{rule.identifier}.{rule.clause}"
        shown = known.violated.get(clause)
        if shown is not None:
            ids = tuple(one for one in shown.resembles if affects(one, asked.release))
            sides[clause] = Side(Verdict.VIOLATED.value, shown.depth, shown.instance, ids)
        elif clause in known.unknown:
            sides[clause] = Side(Verdict.UNKNOWN.value)
        else:
            sides[clause] = Side(CANNOT_OCCUR if why_it_cannot_occur(rule, *worlds) else Verdict.HOLDS.value)
    return sides


def _with(known: Side, found: Side, is_decided: bool) -> Side:
    """What the table says of fewer faults at once, and a search of all: what neither breaks holds where one ended."""
    if found.is_violated or not is_decided or known.verdict == Verdict.UNKNOWN.value:
        return found if found.is_violated else Side(Verdict.UNKNOWN.value)
    return known


def _side(answer: Judged, row: ClauseResult, asked: Asked) -> Side:
    verdict = CANNOT_OCCUR if row.clause in answer.cannot_occur else row.verdict.value
    instance = None if row.path is None else (row.instance or answer.result.instance).name
    ids = row.resembles if not asked.why else tuple(one for one in row.resembles if affects(one, asked.release))
    return Side(verdict, row.depth, instance, ids)
