"""A configuration over several sizes: broken as soon as one of them breaks a clause, held only if all of them do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from model_check.broker_conf.answer import VIOLATED_IN_TICKS, ConfAnswer, RealSchedule, check_configuration
from model_check.broker_conf.words import schedule_lines
from model_check.defects.affected import affects
from model_check.defects.resemblance import resembled
from model_check.finding import Finding, Holds, Numbers, Row, Unknown, Verdict, Violated
from model_check.instances import load_instance
from model_check.occurrence import why_it_cannot_occur
from model_check.remedies.advice import Situation, remedy
from model_check.verdicts.among_others import for_any_number
from model_check.wording.clauses import meaning_of
from model_check.world import SIZES, Environment
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from model_check.configuration import Configuration
    from model_check.explicit.search import Progress
    from spec.constants import Instance
    from spec.language import Property

BASES = tuple(map(load_instance, ("tiny", "deep", "small", "trio")))
"""Whose sizes are searched with the times of a configuration: one transaction, more rounds of it, two, and three."""

FINEST = load_instance("deep")
"""Of these, the one with the most checks."""

MOST_STATES = 24_000_000
"""Where the search of each is cut short."""

WIDEST = load_instance("trio")
"""The one with the most transactions, searched behind others: without immunities, and for what it breaks."""

MOST_OF_WIDEST = 4_000_000
"""Where its search is cut short; A02 in 4.5.1 with the default times takes 25 steps, and all of it 3.8 million."""


@dataclass(frozen=True)
class ConfJudgement:
    """The verdicts on a configuration over all sizes that were searched."""

    configuration: Configuration
    answers: tuple[ConfAnswer, ...]
    """Of each size, in the order in which they were searched; each was asked about what was not broken before."""
    left_out: tuple[Instance, ...] = ()
    """Sizes that were not searched, as everything was broken by then."""

    @cached_property
    def whole(self) -> Finding:
        """Of all searches together: numbers are sums, the depth is the largest, the instance is the first."""
        findings = [answer.finding for answer in self.answers]
        numbers = replace(Numbers.together([one.numbers for one in findings]), complete=not self.cut_short)
        unseen = tuple(w for w in findings[0].unseen if all(w in one.unseen for one in findings))
        return Finding(findings[0].world, tuple(self._row(row.clause) for row in findings[0].rows), numbers, unseen)

    @property
    def bases(self) -> tuple[Instance, ...]:
        """The sizes that were searched."""
        return tuple(answer.base for answer in self.answers)

    @property
    def cut_short(self) -> tuple[Instance, ...]:
        """Sizes of which not all states were seen, so that they leave something open."""
        first = self.answers[0].base
        return tuple(
            one.base for one in self.answers if not (one.finding.numbers.complete or is_besides(one.base, first))
        )

    @cached_property
    def shown_by(self) -> dict[Property, ConfAnswer]:
        """For each broken clause the answer that shows it."""
        return {clause: answer for answer in self.answers for clause in answer.schedules}

    @cached_property
    def schedules(self) -> dict[Property, RealSchedule]:
        """For each broken clause its schedule."""
        return {clause: answer.schedules[clause] for clause, answer in self.shown_by.items()}

    @cached_property
    def cannot_occur(self) -> dict[Property, str]:
        """The clauses that hold because no size that was searched could show them broken, and what they need."""
        worlds = [answer.constants for answer in self.answers]
        held = [row.clause for row in self.whole.rows if isinstance(row, Holds)]
        return {clause: why for clause in held if (why := why_it_cannot_occur(clause, *worlds))}

    @property
    def situation(self) -> Situation:
        """Whom advice is for."""
        mine = self.configuration
        return Situation.of(mine.profile, self.whole.world.environment, release=mine.release, times=mine.times)

    @property
    def broken(self) -> tuple[Violated, ...]:
        """What is violated, gravest first, and of what is equally grave the earliest."""
        violated = self.whole.violated.values()
        return tuple(sorted(violated, key=lambda row: (meaning_of(row.clause).gravity, self.after_ms(row))))

    @property
    def holding(self) -> tuple[Holds, ...]:
        """What holds, and could be seen broken."""
        return tuple(row for row in self.whole.rows if isinstance(row, Holds) and row.clause not in self.cannot_occur)

    @property
    def for_any_number(self) -> tuple[Holds, ...]:
        """What of it is known to hold for any number of transactions, in runs of any length, with other times."""
        world = self.whole.world
        return tuple(row for row in self.holding if for_any_number(world.profile, world.environment, row.clause).holds)

    @property
    def open(self) -> tuple[Unknown, ...]:
        """What is unknown."""
        return tuple(row for row in self.whole.rows if isinstance(row, Unknown))

    def after_ms(self, row: Violated) -> int:
        """When a broken clause is broken, in milliseconds since the start."""
        return self.schedules[row.clause].times[-1]

    def to_json(self) -> dict[str, Any]:
        """The plain data of `halfcheck conf FILE --json`: the keys of `Finding.to_json`, and these.

        `searches` has an entry for each size: its instance, how large the search was, and its `quotient`, which says
        which ticks stand for which times, and which orders they keep; `quotient` is that of the first. Each clause has
        `gravity` (0 is the gravest), `harm` and `remedy`, and `cannot_occur`, what a clause lacks that holds only
        because nothing could break it here. Each violated one has `schedule` (its steps with milliseconds and words),
        `added_rounds`, `late_round_ms`, `after_ms` and the `instance` that shows it; each that is unknown has its
        `reason`. `replay` is null: the path is one of an instance that has no name. `trace` is the shortest violation
        in ticks.
        """
        content = self.whole.to_json()
        content["quotient"] = self.answers[0].quotient.to_json()
        content["searches"] = [_search_to_json(answer) for answer in self.answers]
        content["instances_left_out"] = [base.name for base in self.left_out]
        for_any = self.for_any_number
        for row in self.whole.rows:
            of_property = content["properties"][row.clause.identifier]
            of_clause = of_property["clauses"][row.clause.clause]
            of_property["replay"] = of_clause["replay"] = None
            meaning, advice = meaning_of(row.clause), remedy(row.clause, self.situation)
            of_clause |= {"gravity": meaning.gravity, "harm": meaning.harm, "remedy": advice}
            of_clause["cannot_occur"] = self.cannot_occur.get(row.clause, "")
            of_clause["any_number"] = Verdict.HOLDS.value if row in for_any else None
            if isinstance(row, Violated):
                schedule = self.schedules[row.clause]
                steps = schedule_lines(schedule.machine, schedule.constants, schedule.path, schedule.times)
                of_clause["schedule"] = [step.to_json() for step in steps]
                of_clause["added_rounds"] = schedule.more_rounds
                of_clause["late_round_ms"] = schedule.late_ms
                of_clause["after_ms"] = self.after_ms(row)
                of_clause["instance"] = self.shown_by[row.clause].base.name
        return content

    def _row(self, clause: Property) -> Row:
        """The violation that was found; otherwise what some size leaves open, or else that all hold.

        A size whose `transactionCheckMax` is scaled down further than that of another may show a violation in ticks
        that the real times refuse: where the other one has as much room, could show it and holds, it holds.
        """
        asked = [(answer, row) for answer in self.answers for row in answer.finding.rows if row.clause == clause]
        for answer, row in asked:
            if isinstance(row, Violated):
                shown = resembled(answer.machine, answer.constants, clause, row.path)
                release = self.configuration.release
                return replace(row, resembles=tuple(one for one in shown if not release or affects(one, release)))
        held = [answer for answer, row in asked if isinstance(row, Holds)]
        finer = [answer for answer in held if not why_it_cannot_occur(clause, answer.constants)]
        for answer, row in asked:
            is_settled = answer.finding.numbers.complete and any(_is_finer(one, answer) for one in finer)
            if isinstance(row, Unknown) and not is_settled:
                return row
        return Holds(clause, tuple(answer.finding.bounds for answer in held))


def judge_configuration(
    configuration: Configuration,
    environment: Environment,
    bases: Sequence[Instance] = BASES,
    *,
    clauses: tuple[Property, ...] = TRANSACTIONAL_MESSAGES.clauses,
    report: Callable[[str, Progress], None] | None = None,
    **question: Any,
) -> ConfJudgement:
    """Search one size after the other, each for what is not broken yet.

    What is violated in ticks and not shown in milliseconds is asked again without immunities: a message need not carry
    one, so that a schedule without them is one of the configuration.

    `report` is called now and then with the size that is being searched, as `deep (2 of 3)`, and how far its search is;
    the rest of the question is that of `search_size`. Raises `ModelCheckError` as
    `model_check.broker_conf.answer.check_configuration` does.
    """

    def asked(one: Configuration, base: Instance, left: tuple[Property, ...], title: str) -> ConfAnswer:
        reported = None if report is None else partial(report, title)
        return search_size(
            one, environment, base, besides=is_besides(base, bases[0]), clauses=left, report=reported, **question
        )

    answers: list[ConfAnswer] = []
    for number, base in enumerate(bases, start=1):
        left = tuple(clause for clause in clauses if not any(clause in answer.schedules for answer in answers))
        if not left:
            break
        answers.append(asked(configuration, base, left, f"{base.name} ({number} of {len(bases)})"))
    found = ConfJudgement(configuration, tuple(answers), tuple(bases[len(answers) :]))
    unshown = tuple(row.clause for row in found.open if row.why.startswith(VIOLATED_IN_TICKS))
    if not unshown or not configuration.immunities_ms:
        return found
    base = FINEST if FINEST in bases else bases[0]
    plainer = asked(replace(configuration, immunities_ms=()), base, unshown, f"{base.name}, without immunities")
    broken = tuple(plainer.finding.violated.values())
    return replace(found, answers=(*answers, replace(plainer, finding=replace(plainer.finding, rows=broken))))


def is_besides(base: Instance, first: Instance) -> bool:
    """Whether a size is searched behind the others, for what it breaks: what it leaves open still holds in them."""
    return base == WIDEST != first


def search_size(
    configuration: Configuration,
    environment: Environment,
    base: Instance,
    *,
    besides: bool = False,
    most_states: int | None = None,
    **question: Any,
) -> ConfAnswer:
    """Search one size; besides others without immunities, and the answer has no row of what is left open.

    The search is cut short at `most_states`, by default at `MOST_STATES`, or besides others at `MOST_OF_WIDEST`. The
    question is that of `model_check.broker_conf.answer.check_configuration`, which raises, too.
    """
    if most_states is None:
        most_states = MOST_OF_WIDEST if besides else MOST_STATES
    asked = replace(configuration, immunities_ms=()) if besides else configuration
    answer = check_configuration(asked, environment, base, most_states=most_states, **question)
    if not besides:
        return answer
    decided = tuple(row for row in answer.finding.rows if not isinstance(row, Unknown))
    return replace(answer, finding=replace(answer.finding, rows=decided))


def _is_finer(one: ConfAnswer, other: ConfAnswer) -> bool:
    """Whether a size scales `transactionCheckMax` down less than another one, and is as large in all else."""
    is_as_large = all(mine >= its for mine, its in zip(_room_of(one), _room_of(other), strict=True))
    return is_as_large and one.quotient.check_max[1] > other.quotient.check_max[1]


def _room_of(answer: ConfAnswer) -> tuple[int, ...]:
    """The room of a size, beside checks: half slots that no check takes, op slots beyond a pull, faults."""
    size = answer.constants
    return (
        size.transactions,
        size.half_slots - size.transactions * size.check_max,
        size.op_slots - size.op_pull_size,
        size.mishaps,
        size.stray_ends,
        size.expires if size.retention else 0,
    )


def _search_to_json(answer: ConfAnswer) -> dict[str, Any]:
    sizes, numbers = answer.quotient.instance, answer.finding.numbers
    return {
        "instance": answer.base.name,
        **{name: getattr(sizes, name) for name in SIZES},
        **numbers.size_to_json(),
        "seconds": round(numbers.seconds, 6),
        "quotient": answer.quotient.to_json(),
    }
