"""What to change in a configuration: each change is searched as the configuration itself was, none is guessed."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from model_check.broker_conf.answer import switched_on
from model_check.broker_conf.changes import changes_of, with_local
from model_check.broker_conf.judgement import Judgement, is_besides, search_size
from model_check.broker_conf.ticks import quotient_of
from model_check.check import Verdict
from model_check.instances import constants_for, load_instance

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from model_check.broker_conf.answer import Answer
    from model_check.broker_conf.changes import Change
    from model_check.broker_conf.configuration import Configuration
    from model_check.explicit.search import Progress

MOST_SECONDS = 180.0
"""Behind so much time no further change is begun."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change that mends something.

    Attributes
    ----------
    change : Change
    mends : tuple of str
        Clauses that are broken without the change and hold with it.
    breaks : tuple of str
        Clauses that are broken with it only.
    leaves_open : tuple of str
        Clauses that hold without it, and are not decided with it.
    """

    change: Change
    mends: tuple[str, ...]
    breaks: tuple[str, ...]
    leaves_open: tuple[str, ...] = ()

    @property
    def is_safe(self) -> bool:
        """Whether all that holds without the change holds with it."""
        return not (self.breaks or self.leaves_open)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "change": dict(self.change.settings),
            "mends": list(self.mends),
            "breaks": list(self.breaks),
            "leaves_open": list(self.leaves_open),
            "cost": self.change.cost,
        }


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What was tried for a configuration, and what of it helps.

    Attributes
    ----------
    found : tuple of Suggestion
        What breaks nothing else and leaves nothing open first, then what mends most.
    beyond_help : tuple of str
        Broken clauses that nothing which was tried mends without breaking another.
    tried : int
        How many changes were searched, those that give the same order of times together.
    untried : tuple of Change
        What the time did not suffice for.
    """

    found: tuple[Suggestion, ...]
    beyond_help: tuple[str, ...]
    tried: int
    untried: tuple[Change, ...]

    def to_json(self) -> dict[str, Any]:
        """As plain data, the key `suggestions`."""
        return {
            "found": [one.to_json() for one in self.found],
            "beyond_help": list(self.beyond_help),
            "tried": self.tried,
            "untried": [dict(change.settings) for change in self.untried],
        }


def suggest(
    judgement: Judgement,
    faults: Sequence[str],
    *,
    properties: Sequence[str] = (),
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
    faults, properties, question
        As they were asked of it (`model_check.broker_conf.judgement.judge_configuration`).
    changes
        What to try; all that `model_check.broker_conf.changes` knows when None.
    most_seconds
        Behind so much time no further change is begun.
    report
        Called now and then with the change that is being searched, and how far its search is.
    """
    broken = [row.name for row in judgement.broken]
    bases = (*judgement.bases, *judgement.left_out)
    on = switched_on(judgement.answers[0].constants, faults)
    configuration = judgement.configuration
    if changes is None:
        changes = [*changes_of(configuration, on), *with_local(configuration, on)]
    groups = _of_different_orders(configuration, changes, faults, tuple(dict.fromkeys(bases)))
    asked = {"properties": properties, **question}
    until, found, searched = time.monotonic() + most_seconds, list[Suggestion](), 0
    for group in groups:
        if time.monotonic() > until:
            break
        searched += 1
        titled = None if report is None else _named(report, f"{group[0]} ({searched} of {len(groups)})")
        tried_one = _tried(group[0], judgement, faults, asked, titled)
        found += [replace(tried_one, change=change) for change in group if tried_one.mends]
    found.sort(key=lambda one: (len(one.breaks), len(one.leaves_open), -len(one.mends), len(one.change.settings)))
    mended = {name for one in found if one.is_safe for name in one.mends}
    beyond = tuple(name for name in broken if name not in mended)
    tried = sum(len(group) for group in groups[:searched])
    return Suggestions(tuple(found), beyond, tried, tuple(change for group in groups[searched:] for change in group))


def _tried(
    change: Change,
    judgement: Judgement,
    faults: Sequence[str],
    question: dict[str, Any],
    report: Callable[[str, Progress], None] | None,
) -> Suggestion:
    """What holds with a change that is broken without it; and where it mends something, what does not hold with it.

    First the sizes are searched that show what is broken; the others only if some of it is not broken there any more.
    """
    found_in = {row.name: judgement.found_in[row.clause] for row in judgement.broken}
    bases = (*judgement.bases, *judgement.left_out)
    answers: dict[str, Answer] = {}
    intact = set(found_in)
    for is_first_pass in (True, False):
        for number, base in enumerate(bases):
            is_wanted = number in {found_in[name] for name in intact} if is_first_pass else intact
            if base in answers or not is_wanted:
                continue
            answers[base] = answer = search_size(
                change.configuration,
                faults,
                base,
                besides=is_besides(base, bases[0]),
                unscheduled=found_in,
                report=None if report is None else partial(report, base),
                **question,
            )
            intact -= {row.name for row in answer.result.clauses if row.verdict is not Verdict.HOLDS}
    if not intact:
        return Suggestion(change, (), ())
    with_it = Judgement(change.configuration, tuple(answers.values()), tuple(answers))
    breaks = tuple(row.name for row in with_it.broken if row.name not in found_in)
    held = {row.name for row in judgement.holding}
    leaves_open = tuple(row.name for row in with_it.open if row.name in held)
    return Suggestion(change, tuple(name for name in found_in if name in intact), breaks, leaves_open)


def _of_different_orders(
    configuration: Configuration, changes: Sequence[Change], faults: Sequence[str], bases: Sequence[str]
) -> list[list[Change]]:
    """The changes by their instances of ticks, without those that change no order in any size."""

    def key(one: Configuration) -> object:
        found: list[object] = [one.version, len(one.immunities_ms)]
        for base in bases:
            sizes = load_instance(base)
            on = switched_on(constants_for(one.version, faults, sizes), faults)
            quotient = quotient_of(one, sizes, on)
            found += [quotient.instance, tuple(quotient.ticks.items())]
        return tuple(found)

    groups: dict[object, list[Change]] = {key(configuration): []}
    for change in changes:
        groups.setdefault(key(change.configuration), []).append(change)
    return [group for group in list(groups.values())[1:] if group]


def _named(report: Callable[[str, Progress], None], title: str) -> Callable[[str, Progress], None]:
    return lambda base, progress: report(f"{title}, {base}", progress)
