"""What to change in a configuration: each change is searched as the configuration itself was, none is guessed."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from model_check.broker_conf.changes import changes_of, with_local
from model_check.broker_conf.judgement import ConfJudgement, is_besides, search_size
from model_check.broker_conf.ticks import quotient_of, switched_on
from model_check.clauses import name_of
from model_check.finding import Holds
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from model_check.broker_conf.answer import ConfAnswer
    from model_check.broker_conf.changes import Change
    from model_check.configuration import Configuration
    from model_check.explicit.search import Progress
    from spec.constants import Instance
    from spec.language import Property

MOST_SECONDS = 180.0
"""Behind so much time no further change is begun."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change that mends something.

    Attributes
    ----------
    change : Change
    mends : tuple of Property
        What is broken without the change and holds with it.
    breaks : tuple of Property
        What is broken with it only.
    leaves_open : tuple of Property
        What holds without it, and is not decided with it.
    """

    change: Change
    mends: tuple[Property, ...]
    breaks: tuple[Property, ...]
    leaves_open: tuple[Property, ...] = ()

    @property
    def is_safe(self) -> bool:
        """Whether all that holds without the change holds with it."""
        return not (self.breaks or self.leaves_open)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "change": dict(self.change.settings),
            "mends": list(map(name_of, self.mends)),
            "breaks": list(map(name_of, self.breaks)),
            "leaves_open": list(map(name_of, self.leaves_open)),
            "cost": self.change.cost,
        }


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What was tried for a configuration, and what of it helps.

    Attributes
    ----------
    found : tuple of Suggestion
        What breaks nothing else and leaves nothing open first, then what mends most.
    beyond_help : tuple of Property
        Broken clauses that nothing which was tried mends without breaking another.
    tried : int
        How many changes were searched, those that give the same order of times together.
    untried : tuple of Change
        What the time did not suffice for.
    """

    found: tuple[Suggestion, ...]
    beyond_help: tuple[Property, ...]
    tried: int
    untried: tuple[Change, ...]

    def to_json(self) -> dict[str, Any]:
        """As plain data, the key `suggestions`."""
        return {
            "found": [one.to_json() for one in self.found],
            "beyond_help": list(map(name_of, self.beyond_help)),
            "tried": self.tried,
            "untried": [dict(change.settings) for change in self.untried],
        }


def suggest(
    judgement: ConfJudgement,
    *,
    clauses: tuple[Property, ...] = TRANSACTIONAL_MESSAGES.clauses,
    changes: Sequence[Change] | None = None,
    most_seconds: float = MOST_SECONDS,
    report: Callable[[str, Progress], None] | None = None,
    **question: Any,
) -> Suggestions:
    """Search every change of a configuration that has broken something.

    Parameters
    ----------
    judgement
        Of the configuration.
    clauses, question
        As they were asked of it (`model_check.broker_conf.judgement.judge_configuration`).
    changes
        What to try; all that `model_check.broker_conf.changes` knows when None.
    most_seconds
        Behind so much time no further change is begun.
    report
        Called now and then with the change that is being searched, and how far its search is.
    """
    configuration, environment = judgement.configuration, judgement.whole.world.environment
    if changes is None:
        changes = [*changes_of(configuration, environment), *with_local(configuration, environment)]
    groups = _of_different_orders(judgement, changes)
    until, found, searched = time.monotonic() + most_seconds, list[Suggestion](), 0
    for group in groups:
        if time.monotonic() > until:
            break
        searched += 1
        titled = None if report is None else _named(report, f"{group[0]} ({searched} of {len(groups)})")
        tried_one = _tried(group[0], judgement, titled, {"clauses": clauses, **question})
        found += [replace(tried_one, change=change) for change in group if tried_one.mends]
    found.sort(key=lambda one: (len(one.breaks), len(one.leaves_open), -len(one.mends), len(one.change.settings)))
    mended = {clause for one in found if one.is_safe for clause in one.mends}
    beyond = tuple(row.clause for row in judgement.broken if row.clause not in mended)
    tried = sum(len(group) for group in groups[:searched])
    return Suggestions(tuple(found), beyond, tried, tuple(change for group in groups[searched:] for change in group))


def _tried(
    change: Change,
    judgement: ConfJudgement,
    report: Callable[[str, Progress], None] | None,
    question: dict[str, Any],
) -> Suggestion:
    """What holds with a change that is broken without it; and where it mends something, what does not hold with it.

    First the sizes are searched that show what is broken; the others only if some of it is not broken there any more.
    """
    broken = [row.clause for row in judgement.broken]
    bases = _bases(judgement)
    answers: dict[Instance, ConfAnswer] = {}
    intact = set(broken)
    for is_first_pass in (True, False):
        for base in bases:
            is_wanted = base in {judgement.shown_by[clause].base for clause in intact} if is_first_pass else intact
            if base in answers or not is_wanted:
                continue
            answers[base] = answer = search_size(
                change.configuration,
                judgement.whole.world.environment,
                base,
                besides=is_besides(base, bases[0]),
                unscheduled=broken,
                report=None if report is None else partial(report, base.name),
                **question,
            )
            intact -= {row.clause for row in answer.finding.rows if not isinstance(row, Holds)}
    if not intact:
        return Suggestion(change, (), ())
    with_it = ConfJudgement(change.configuration, tuple(answers.values()))
    breaks = tuple(row.clause for row in with_it.broken if row.clause not in broken)
    held = {row.clause for row in judgement.holding}
    leaves_open = tuple(row.clause for row in with_it.open if row.clause in held)
    return Suggestion(change, tuple(clause for clause in broken if clause in intact), breaks, leaves_open)


def _bases(judgement: ConfJudgement) -> tuple[Instance, ...]:
    return tuple(dict.fromkeys((*judgement.bases, *judgement.left_out)))


def _of_different_orders(judgement: ConfJudgement, changes: Iterable[Change]) -> list[list[Change]]:
    """The changes by their instances of ticks, without those that change no order in any size."""
    environment = judgement.whole.world.environment

    def key(one: Configuration) -> object:
        found: list[object] = [one.profile.name, len(one.immunities_ms)]
        for base in _bases(judgement):
            quotient = quotient_of(one, base, switched_on(one.profile, environment))
            found += [quotient.instance, tuple(quotient.ticks.items())]
        return tuple(found)

    groups: dict[object, list[Change]] = {key(judgement.configuration): []}
    for change in changes:
        groups.setdefault(key(change.configuration), []).append(change)
    return [group for group in list(groups.values())[1:] if group]


def _named(report: Callable[[str, Progress], None], title: str) -> Callable[[str, Progress], None]:
    return lambda base, progress: report(f"{title}, {base}", progress)
