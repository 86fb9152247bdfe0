"""A configuration over several sizes: broken as soon as one of them breaks a clause, held only if all of them do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from model_check.broker_conf.answer import check_configuration
from model_check.check import Verdict, chosen_clauses
from model_check.instances import constants_for, load_instance
from model_check.occurrence import in_a_sentence, unmet_needs
from model_check.wording.clauses import meaning_of
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from model_check.broker_conf.answer import Answer, RealSchedule
    from model_check.broker_conf.configuration import Configuration
    from model_check.check import CheckResult, ClauseResult
    from model_check.explicit.search import Progress
    from spec.language import Property

BASES = ("tiny", "deep", "small")
"""Whose sizes are searched with the times of a configuration: one transaction, more rounds of it, two transactions."""

MOST_STATES = 8_000_000
"""Where the search of each is cut short."""


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
        rows = [self._row(clause) for clause in (row.clause for row in results[0].clauses)]
        return replace(
            results[0],
            clauses=tuple(rows),
            unseen=tuple(w for w in results[0].unseen if all(w in result.unseen for result in results)),
            distinct=sum(result.distinct for result in results),
            generated=sum(result.generated for result in results),
            depth=max(result.depth for result in results),
            complete=all(result.complete for result in results),
            seconds=sum(result.seconds for result in results),
            compile_seconds=sum(result.compile_seconds for result in results),
            peak_bytes=max(result.peak_bytes for result in results),
        )

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
        worlds = [
            constants_for(answer.result.profile, answer.result.faults, answer.quotient.instance)
            for answer in self.answers
        ]
        found = {}
        for row in self.result.clauses:
            unmet = sorted((unmet_needs(row.clause, constants) for constants in worlds), key=_length)
            if row.verdict is Verdict.HOLDS and unmet[0]:
                found[row.clause] = in_a_sentence(unmet[0])
        return found

    @property
    def broken(self) -> tuple[ClauseResult, ...]:
        """What is violated, gravest first, and of what is equally grave the earliest."""
        rows = [row for row in self.result.clauses if row.verdict is Verdict.VIOLATED]
        return tuple(sorted(rows, key=lambda row: (meaning_of(row.name).gravity, self.after_ms(row))))

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

    def _row(self, clause: Property) -> ClauseResult:
        """The violation that was found; otherwise what some size leaves open, or else that all hold.

        A size whose `transactionCheckMax` is scaled down further than that of another may show a violation in ticks
        that the real times refuse: where the other one was searched as a whole and it holds there, it holds.
        """
        asked = [(answer, row) for answer in self.answers for row in answer.result.clauses if row.clause == clause]
        violated = [row for _, row in asked if row.verdict is Verdict.VIOLATED]
        finest = max((answer.quotient.check_max[1] for answer, row in asked if row.verdict is Verdict.HOLDS), default=0)
        unknown = [
            row
            for answer, row in asked
            if row.verdict is Verdict.UNKNOWN and not (answer.result.complete and answer.quotient.check_max[1] < finest)
        ]
        return [*violated, *unknown, *(row for _, row in asked if row.verdict is Verdict.HOLDS)][0]


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
    answers: list[Answer] = []
    for number, base in enumerate(bases, start=1):
        broken = {f"{c.identifier}.{c.clause}" for answer in answers for c in answer.schedules}
        left = [name for name in wanted if name not in broken]
        if not left:
            break
        title = f"{base} ({number} of {len(bases)})"
        answers.append(
            check_configuration(
                configuration,
                faults,
                load_instance(base),
                properties=left,
                most_states=MOST_STATES if most_states is None else most_states,
                report=None if report is None else _named(report, title),
                **question,
            )
        )
    return Judgement(configuration, tuple(answers), tuple(bases[: len(answers)]), tuple(bases[len(answers) :]))


def _length(needs: tuple[str, ...]) -> int:
    return len(needs)


def _named(report: Callable[[str, Progress], None], title: str) -> Callable[[Progress], None]:
    return lambda progress: report(title, progress)
