"""A configuration over several sizes: broken as soon as one of them breaks a clause, held only if all of them do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from model_check.broker_conf.answer import VIOLATED_IN_TICKS, check_configuration
from model_check.broker_conf.words import tell
from model_check.check import SIZES, Verdict, chosen_clauses
from model_check.defects.affected import affects
from model_check.instances import load_instance
from model_check.occurrence import why_it_cannot_occur
from model_check.portfolio import together
from model_check.remedies.advice import remedy
from model_check.remedies.situation import Situation
from model_check.wording.clauses import meaning_of
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from model_check.broker_conf.answer import Answer, RealSchedule
    from model_check.broker_conf.configuration import Configuration
    from model_check.check import CheckResult, ClauseResult
    from model_check.explicit.search import Progress
    from spec.language import Property

BASES = ("tiny", "deep", "small", "trio")
"""Whose sizes are searched with the times of a configuration: one transaction, more rounds of it, two, and three."""

FINEST = "deep"
"""Of these, the one with the most checks."""

MOST_STATES = 24_000_000
"""Where the search of each is cut short."""

WIDEST = "trio"
"""The one with the most transactions, searched behind others: without immunities, and for what it breaks."""

MOST_OF_WIDEST = 4_000_000
"""Where its search is cut short; A02 in 4.5.1 with the default times takes 25 steps, and all of it 3.8 million."""


@dataclass(frozen=True)
class Judgement:
    """What is known of a configuration over all sizes that were searched.

    Attributes
    ----------
    configuration : Configuration
    answers : tuple of Answer
        Of each size, in the order in which they were searched; each was asked about what was not broken before.
    bases : tuple of str
        The names of these sizes.
    left_out : tuple of str
        Sizes that were not searched, as everything was broken by then.
    """

    configuration: Configuration
    answers: tuple[Answer, ...]
    bases: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    @cached_property
    def result(self) -> CheckResult:
        """Of all searches together: numbers are sums, the depth is the largest, the instance is the first."""
        results = [answer.result for answer in self.answers]
        rows = [self._row(row.clause) for row in results[0].clauses]
        found = together(results, [self._with_ids_of_the_release(row) for row in rows])
        return replace(found, complete=not self.cut_short)

    @property
    def cut_short(self) -> tuple[str, ...]:
        """Sizes of which not all states were seen, so that they leave something open."""
        named = zip(self.bases, self.answers, strict=True)
        first = self.bases[0]
        return tuple(base for base, one in named if not (one.result.complete or is_besides(base, first)))

    @cached_property
    def found_in(self) -> dict[Property, int]:
        """For each broken clause the number of the answer that shows it."""
        return {clause: number for number, answer in enumerate(self.answers) for clause in answer.schedules}

    @cached_property
    def schedules(self) -> dict[Property, RealSchedule]:
        """For each broken clause its schedule."""
        return {clause: schedule for answer in self.answers for clause, schedule in answer.schedules.items()}

    @cached_property
    def cannot_occur(self) -> dict[Property, str]:
        """The clauses that hold because no size that was searched could show them broken, and what they need."""
        worlds = [answer.constants for answer in self.answers]
        held = [row.clause for row in self.result.clauses if row.verdict is Verdict.HOLDS]
        return {clause: why for clause in held if (why := why_it_cannot_occur(clause, *worlds))}

    @property
    def situation(self) -> Situation:
        """Whom advice is for."""
        mine = self.configuration
        return Situation.of(mine.version, self.result.faults, release=mine.release, times=mine.times)

    @property
    def broken(self) -> tuple[ClauseResult, ...]:
        """What is violated, gravest first, and of what is equally grave the earliest."""
        rows = [row for row in self.result.clauses if row.verdict is Verdict.VIOLATED]
        return tuple(sorted(rows, key=lambda row: (meaning_of(row.clause).gravity, self.after_ms(row))))

    @property
    def holding(self) -> tuple[ClauseResult, ...]:
        """What holds, and could be seen broken."""
        return tuple(
            row for row in self.result.clauses if row.verdict is Verdict.HOLDS and row.clause not in self.cannot_occur
        )

    @property
    def open(self) -> tuple[ClauseResult, ...]:
        """What is unknown."""
        return tuple(row for row in self.result.clauses if row.verdict is Verdict.UNKNOWN)

    def after_ms(self, row: ClauseResult) -> int:
        """When a broken clause is broken, in milliseconds since the start."""
        return self.schedules[row.clause].times[-1]

    def to_json(self) -> dict[str, Any]:
        """The plain data of `halfcheck check --broker-conf FILE --json`: the keys of `CheckResult.to_json`, and these.

        `searches` has an entry for each size: its instance, how large the search was, and its `quotient`, which says
        which ticks stand for which times, and which orders they keep; `quotient` is that of the first. Each clause has
        `gravity` (0 is the gravest), `harm` and `remedy`, and `cannot_occur`, what a clause lacks that holds only
        because nothing could break it here. Each violated one has `schedule` (its steps with milliseconds and words),
        `added_rounds`, `late_round_ms`, `after_ms` and the `instance` that shows it; each that is unknown has its
        `reason`. `replay` is null: the path is one of an instance that has no name. `trace` is the shortest violation
        in ticks.
        """
        told = self.result.to_json()
        told["quotient"] = self.answers[0].quotient.to_json()
        told["searches"] = [
            _search_to_json(base, answer) for base, answer in zip(self.bases, self.answers, strict=True)
        ]
        told["instances_left_out"] = list(self.left_out)
        for row in self.result.clauses:
            of_property = told["properties"][row.clause.identifier]
            of_clause = of_property["clauses"][row.clause.clause]
            of_property["replay"] = of_clause["replay"] = None
            meaning = meaning_of(row.clause)
            of_clause |= {
                "gravity": meaning.gravity,
                "harm": meaning.harm,
                "remedy": remedy(row.clause, self.situation),
            }
            of_clause["cannot_occur"] = self.cannot_occur.get(row.clause, "")
            schedule = self.schedules.get(row.clause)
            if schedule is not None:
                told_steps = tell(schedule.machine, schedule.constants, schedule.path, schedule.times)
                of_clause["schedule"] = [step.to_json() for step in told_steps]
                of_clause["added_rounds"] = schedule.more_rounds
                of_clause["late_round_ms"] = schedule.late_ms
                of_clause["after_ms"] = self.after_ms(row)
                of_clause["instance"] = self.bases[self.found_in[row.clause]]
        return told

    def _with_ids_of_the_release(self, row: ClauseResult) -> ClauseResult:
        release = self.configuration.release
        ids = tuple(one for one in row.resembles if not release or affects(one, release))
        return replace(row, resembles=ids)

    def _row(self, clause: Property) -> ClauseResult:
        """The violation that was found; otherwise what some size leaves open, or else that all hold.

        A size whose `transactionCheckMax` is scaled down further than that of another may show a violation in ticks
        that the real times refuse: where the other one has as much room, could show it and holds, it holds.
        """
        asked = [(answer, row) for answer in self.answers for row in answer.result.clauses if row.clause == clause]
        violated = [row for _, row in asked if row.verdict is Verdict.VIOLATED]
        held = [(answer, row) for answer, row in asked if row.verdict is Verdict.HOLDS]
        finer = [answer for answer, _ in held if not why_it_cannot_occur(clause, answer.constants)]
        unknown = [
            row
            for answer, row in asked
            if row.verdict is Verdict.UNKNOWN
            and not (answer.result.complete and any(_is_finer(one, answer) for one in finer))
        ]
        return [*violated, *unknown, *(row for _, row in held)][0]


def judge_configuration(
    configuration: Configuration,
    faults: Sequence[str],
    bases: Sequence[str] = BASES,
    *,
    properties: Sequence[str] = (),
    most_states: int | None = None,
    report: Callable[[str, Progress], None] | None = None,
    **question: Any,
) -> Judgement:
    """Search one size after the other, each for what is not broken yet.

    What is violated in ticks and not shown in milliseconds is asked again without immunities: a message need not carry
    one, so that a schedule without them is one of the configuration.

    Parameters
    ----------
    configuration, faults
    bases
        Whose sizes.
    properties
        Ids, or clauses; all when empty.
    most_states
        Where each search is cut short; `MOST_STATES` when None.
    report
        Called now and then with the size that is being searched, as `deep (2 of 3)`, and how far its search is.
    question
        What `model_check.broker_conf.answer.check_configuration` takes besides.

    Raises
    ------
    ModelCheckError
        As `check_configuration` does.
    """
    wanted = [f"{c.identifier}.{c.clause}" for c in chosen_clauses(TRANSACTIONAL_MESSAGES, properties)]
    question["most_states"] = most_states

    def asked(one: Configuration, base: str, names: Sequence[str], title: str, *, besides: bool = False) -> Answer:
        reported = None if report is None else partial(report, title)
        return search_size(one, faults, base, besides=besides, properties=names, report=reported, **question)

    answers: list[Answer] = []
    for number, base in enumerate(bases, start=1):
        broken = {f"{c.identifier}.{c.clause}" for answer in answers for c in answer.schedules}
        left = [name for name in wanted if name not in broken]
        if not left:
            break
        title = f"{base} ({number} of {len(bases)})"
        answers.append(asked(configuration, base, left, title, besides=is_besides(base, bases[0])))
    found = Judgement(configuration, tuple(answers), tuple(bases[: len(answers)]), tuple(bases[len(answers) :]))
    unshown = [row.name for row in found.open if row.reason.startswith(VIOLATED_IN_TICKS)]
    if not unshown or not configuration.immunities_ms:
        return found
    base = FINEST if FINEST in bases else bases[0]
    plainer = asked(replace(configuration, immunities_ms=()), base, unshown, f"{base}, without immunities")
    broken_rows = tuple(row for row in plainer.result.clauses if row.verdict is Verdict.VIOLATED)
    plainer = replace(plainer, result=replace(plainer.result, clauses=broken_rows))
    return replace(found, answers=(*found.answers, plainer), bases=(*found.bases, base))


def is_besides(base: str, first: str) -> bool:
    """Whether a size is searched behind the others, for what it breaks: what it leaves open still holds in them."""
    return base == WIDEST != first


def search_size(
    configuration: Configuration,
    faults: Sequence[str],
    base: str,
    *,
    besides: bool = False,
    most_states: int | None = None,
    **question: Any,
) -> Answer:
    """Search one size; besides others without immunities, and the answer has no row of what is left open.

    Parameters
    ----------
    most_states
        Where the search is cut short; `MOST_STATES` when None, `MOST_OF_WIDEST` besides others.
    configuration, faults, base, question
        What `model_check.broker_conf.answer.check_configuration` takes, which raises, too.
    """
    if most_states is None:
        most_states = MOST_OF_WIDEST if besides else MOST_STATES
    asked = replace(configuration, immunities_ms=()) if besides else configuration
    answer = check_configuration(asked, faults, load_instance(base), most_states=most_states, **question)
    if not besides:
        return answer
    decided = tuple(row for row in answer.result.clauses if row.verdict is not Verdict.UNKNOWN)
    return replace(answer, result=replace(answer.result, clauses=decided))


def _is_finer(one: Answer, other: Answer) -> bool:
    """Whether a size scales `transactionCheckMax` down less than another one, and is as large in all else."""
    is_as_large = all(mine >= its for mine, its in zip(_room_of(one), _room_of(other), strict=True))
    return is_as_large and one.quotient.check_max[1] > other.quotient.check_max[1]


def _room_of(answer: Answer) -> tuple[int, ...]:
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


def _search_to_json(base: str, answer: Answer) -> dict[str, Any]:
    sizes = answer.quotient.instance
    return {
        "instance": base,
        **{name: getattr(sizes, name) for name in SIZES},
        **answer.result.numbers_to_json(),
        "seconds": round(answer.result.seconds, 6),
        "quotient": answer.quotient.to_json(),
    }
