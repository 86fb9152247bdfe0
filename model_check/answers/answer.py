"""An answer is made of findings: broken, gravest first; holding, to bounds; unknown, and why; what cannot occur.

Broken as soon as one of several instances breaks a clause, held only if all of them do; `chosen_instances.py` says
which they are. What an instance breaks that forgets, or that is searched besides, is broken, and what it does not
decide still holds to the bounds of the others. An instance alone says little: `small` has no immunities, so that
nothing there can break what immunities break. Of other instances the table of verdicts may know better.

Where one transaction among others stands for any number of them, what it does not break holds for any number, in runs
of any length; what it breaks is searched for where the table of verdicts has it, and undecided where it has nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from model_check.answers.chosen_instances import (
    MOST_AMONG_OTHERS,
    is_besides,
    portfolio_of,
    those_among_others,
    those_that_show,
)
from model_check.check import BROKEN_AMONG_OTHERS, check
from model_check.defects.affected import affects
from model_check.defects.resemblance import resembled
from model_check.finding import Bounds, Finding, Holds, Numbers, Row, Unknown, Verdict, Violated
from model_check.occurrence import why_it_cannot_occur
from model_check.question import Question
from model_check.remedies.advice import Situation, remedy
from model_check.verdicts.table import Minimal, table_of_verdicts
from model_check.wording.clauses import meaning_of
from model_check.world import SIZES, Environment, Profile, World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from model_check.explicit.exploration import Progress
    from model_check.explicit.state_store.resources import Resources
    from spec.constants import Instance
    from spec.language import Property

PortfolioReport = Callable[[str, "Progress"], None]
"""Called now and then with the instance that is being searched, as `odd (2 of 5)`, and how far its search is."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Verdicts on the clauses for one profile in one environment, from the search of one instance or of a portfolio."""

    whole: Finding
    """Of all searches together. Each violation is the shortest that any of them found, with the defects that it
    resembles; the numbers are sums, the depth and the sizes of the instance are the largest."""
    findings: tuple[Finding, ...]
    """Of each instance, in the order in which they were searched."""
    left_out: tuple[Instance, ...]
    """Instances of the portfolio that were not searched, as nothing was left for them to decide."""
    is_interrupted: bool
    """Whether Ctrl-C ended the last search, so that those behind it were not begun."""
    cannot_occur: Mapping[Property, str]
    """Clauses that are not broken, with the reason why no instance that was searched can break them."""
    known: Mapping[Property, Minimal]
    """Clauses that are not broken here, with the shortest violation that the table of verdicts has of them, under some
    of the same faults: only for a profile of the table."""
    release: str = ""
    """The release that was asked for, where it is not that of the profile: what to do is said for it."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """In the order of the machine's clauses."""
        return self.whole.rows

    @property
    def situation(self) -> Situation:
        """Whom advice is for."""
        return Situation.of(self.whole.world.profile, self.whole.world.environment, release=self.release)

    @property
    def broken(self) -> tuple[Violated, ...]:
        """What is violated, gravest first, then in the order of the machine's clauses."""
        return tuple(sorted(self.whole.violated.values(), key=_gravity))

    @property
    def broken_elsewhere(self) -> tuple[Row, ...]:
        """What is not violated here, and the table of verdicts knows better, gravest first."""
        return tuple(sorted((row for row in self.rows if row.clause in self.known), key=_gravity))

    @property
    def undecided(self) -> tuple[Unknown, ...]:
        """What is unknown, although it could occur."""
        return tuple(row for row in self.rows if isinstance(row, Unknown) and not self._is_spoken_of(row))

    @property
    def holding(self) -> tuple[Holds, ...]:
        """What holds, and could be seen to be broken."""
        return tuple(row for row in self.rows if isinstance(row, Holds) and not self._is_spoken_of(row))

    @property
    def reasons(self) -> dict[str, tuple[Row, ...]]:
        """Each reason why something cannot occur here, with the clauses; the most frequent first."""
        rows: dict[str, list[Row]] = {}
        for row in self.rows:
            if row.clause in self.cannot_occur and row.clause not in self.known:
                rows.setdefault(self.cannot_occur[row.clause], []).append(row)
        return {why: tuple(mine) for why, mine in sorted(rows.items(), key=lambda item: -len(item[1]))}

    def _is_spoken_of(self, row: Row) -> bool:
        return row.clause in self.cannot_occur or row.clause in self.known

    @property
    def unbounded(self) -> tuple[Finding, ...]:
        """Of the instances that forget, so that what holds there holds for runs of any length."""
        return tuple(finding for finding in self.findings if finding.world.instance.forgets)

    def in_runs_of_any_length(self, clause: Property) -> Verdict | None:
        """The verdict of the instances that forget, of all together; None if none was searched."""
        verdicts = [finding[clause].verdict for finding in self.unbounded if finding.has(clause)]
        found = [verdict for verdict in (Verdict.VIOLATED, Verdict.UNKNOWN) if verdict in verdicts]
        return found[0] if found else Verdict.HOLDS if verdicts else None

    def for_any_number(self, clause: Property) -> Verdict | None:
        """The verdict for any number of transactions in runs of any length; None where nothing is claimed of it."""
        if clause in self.whole.violated:
            return Verdict.VIOLATED
        verdicts = [one[clause].verdict for one in self.findings if one.world.is_crowded]
        return None if not verdicts else Verdict.UNKNOWN if Verdict.UNKNOWN in verdicts else Verdict.HOLDS

    @property
    def bounds(self) -> dict[str, int]:
        """The largest sizes of any instance, of those that do not forget if there are any: not searched together."""
        return Bounds.largest([finding.bounds for finding in _bounded(self.findings)])

    @property
    def searched_together(self) -> tuple[Bounds, ...]:
        """To the bounds of which instances something holds, those left out that another one covers.

        Of instances that forget those in which nothing is left open, of those that are searched besides as much as was
        seen.
        """
        many = [one for one in self.findings if not one.world.is_crowded]
        decided = [one for one in many or self.findings if not (one.world.instance.forgets and one.undecided)]
        return Bounds.uncovered([finding.bounds for finding in decided])

    def to_json(self) -> dict[str, Any]:
        """The answer as the plain data that scripts rely on (`halfcheck check --json`)."""
        content = self.whole.to_json()
        for row in self.rows:
            mine = content["properties"][row.clause.identifier]
            mine["clauses"][row.clause.clause] |= self._clause_to_json(row)
        for identifier, mine in content["properties"].items():
            shown = mine["clauses"].get(mine["clause"], {})
            reasons = [self.cannot_occur.get(r.clause, "") for r in self.rows if r.clause.identifier == identifier]
            mine["instance"] = shown.get("instance")
            mine["cannot_occur"] = "; ".join(dict.fromkeys(reasons)) if all(reasons) else ""
        content["instances"] = [
            {**one.world.sizes_to_json(), "checks": one.world.instance.check_max, **one.numbers.size_to_json()}
            for one in self.findings
        ]
        content["instances_left_out"] = [instance.name for instance in self.left_out]
        content["bounds"] = self.bounds
        content["searched_together"] = [one.to_json() for one in self.searched_together]
        return content

    def _clause_to_json(self, row: Row) -> dict[str, Any]:
        meaning, known = meaning_of(row.clause), self.known.get(row.clause)
        any_length, any_number = self.in_runs_of_any_length(row.clause), self.for_any_number(row.clause)
        return {
            "instance": row.world.instance.name if isinstance(row, Violated) else None,
            "cannot_occur": self.cannot_occur.get(row.clause, ""),
            "any_length": None if any_length is None else any_length.value,
            "any_number": None if any_number is None else any_number.value,
            "broken_elsewhere": None
            if known is None
            else {"instance": known.instance.name, "environment": list(known.environment), "depth": known.depth},
            "gravity": meaning.gravity,
            "harm": meaning.harm,
            "remedy": remedy(row.clause, self.situation),
        }


def _gravity(row: Row) -> int:
    return meaning_of(row.clause).gravity


def answer_of(
    whole: Finding,
    findings: Sequence[Finding] = (),
    left_out: Sequence[Instance] = (),
    *,
    is_interrupted: bool = False,
    release: str = "",
) -> Answer:
    """The answer from the search of one instance, or from those of several, of which the first finding is the sum.

    Of a release for which the profile only stands, no id of another one is named.
    """
    searched = tuple(findings) or (whole,)
    sizes = [*(one.world.instance for one in _bounded(searched)), *left_out]
    worlds = [whole.world.on(size).constants for size in sizes if not size.forgets]
    worlds = worlds or [one.world.constants for one in searched]
    intact = [row.clause for row in whole.rows if not isinstance(row, Violated)]
    reasons = {clause: why_it_cannot_occur(clause, *worlds) for clause in intact}
    better = {clause: table_of_verdicts().known_violation(whole.world, clause) for clause in intact}
    return Answer(
        replace(whole, rows=tuple(with_resemblance(row, release) for row in whole.rows)),
        searched,
        tuple(left_out),
        is_interrupted,
        {clause: why for clause, why in reasons.items() if why},
        {clause: known for clause, known in better.items() if known is not None},
        release,
    )


def with_resemblance(row: Row, release: str = "") -> Row:
    """A violation with the known defects that its path shows; of a release, if one is named, those that it has."""
    if not isinstance(row, Violated):
        return row
    shown = resembled(TRANSACTIONAL_MESSAGES, row.world.constants, row.clause, row.path)
    return replace(row, resembles=tuple(one for one in shown if not release or affects(one, release)))


def _answer_of_several(
    findings: Sequence[Finding],
    clauses: Sequence[Property],
    left_out: Sequence[Instance],
    *,
    is_interrupted: bool,
    release: str,
) -> Answer:
    """The answer from the searches of several instances, each of which was asked about some of the clauses."""
    bounded = _bounded(findings)
    missed = [one.name for one in left_out if is_interrupted and not one.forgets and not is_besides(one)]
    rows = tuple(_row([one for one in findings if one.has(clause)], clause, missed) for clause in clauses)
    names = ", ".join(finding.world.instance.name for finding in findings)
    largest = Bounds.largest([finding.bounds for finding in bounded])
    sizes: dict[str, Any] = {name: largest[name] for name in SIZES}
    instance = replace(bounded[0].world.instance, name=names, **sizes)
    complete = all(finding.numbers.complete for finding in _deciding(findings, len(clauses)))
    numbers = replace(Numbers.together([finding.numbers for finding in findings]), complete=complete)
    unseen = tuple(w for w in findings[0].unseen if all(w in finding.unseen for finding in findings))
    whole = Finding(findings[0].world.on(instance), rows, numbers, unseen)
    return answer_of(whole, findings, left_out, is_interrupted=is_interrupted, release=release)


def _bounded(findings: Sequence[Finding]) -> Sequence[Finding]:
    """The instances that do not forget, and are not besides and cut short; all where there are no others."""
    return [
        one
        for one in findings
        if not one.world.instance.forgets and (one.numbers.complete or not is_besides(one.world.instance))
    ] or findings


def _deciding(findings: Sequence[Finding], every: int) -> Sequence[Finding]:
    """The findings that say what holds: those of all clauses that are bounded, or among others where there is none."""
    of_all = [one for one in findings if len(one.rows) == every and not one.world.is_crowded]
    return _bounded(of_all or [one for one in findings if one.world.is_crowded] or findings)


def _row(findings: Sequence[Finding], clause: Property, missed: Sequence[str]) -> Row:
    """The shortest violation; without one that it holds, for any number or to bounds; or else why it is unknown."""
    violated = [row for one in findings if isinstance(row := one[clause], Violated)]
    if violated:
        return min(violated, key=lambda row: row.depth)
    crowded = [one for one in findings if one.world.is_crowded]
    if crowded and all(isinstance(one[clause], Holds) for one in crowded):
        return Holds(clause, tuple(one.bounds for one in crowded))
    bounded = _bounded([one for one in findings if not one.world.is_crowded])
    if not bounded:
        return next(row for one in crowded if isinstance(row := one[clause], Unknown))
    if not missed and all(isinstance(one[clause], Holds) for one in bounded):
        return Holds(clause, tuple(one.bounds for one in bounded))
    cut = [
        f"{one.world.instance.name} ({one.numbers.distinct:,} states)" for one in bounded if not one.numbers.complete
    ]
    reasons = ["none is found"]
    reasons += [f"cut short in {', '.join(cut)}"] if cut else []
    reasons += [f"interrupted before {', '.join(missed)}"] if missed else []
    return Unknown(clause, "; ".join(reasons))


def search_portfolio(
    profile: Profile,
    environment: Environment,
    *,
    clauses: Sequence[Property] = TRANSACTIONAL_MESSAGES.clauses,
    instances: Sequence[Instance] = (),
    compared_with: Sequence[Profile] = (),
    threads: int | None = None,
    most_states: int | None = None,
    resources: Resources | None = None,
    report: PortfolioReport | None = None,
    release: str = "",
) -> Answer:
    """Search the instances of the portfolio, smallest first, until each clause is violated, or all of them.

    Where all are violated, an instance is searched only if the table of verdicts has a shorter violation there. Where
    one transaction among others stands for any number, it is searched first, and decides what holds; of the portfolio
    only those are searched that show what it breaks, unless it leaves something open.

    Raises `EvaluationError` when a value leaves its declared range, or a counterexample does not replay.

    Parameters
    ----------
    instances, compared_with
        `portfolio_of` the profile, beside those that it is compared with, when no instance is given.
    threads
        Of each search; all processors when None. No number and no path depends on it.
    most_states
        Where each search is cut short; where the portfolio says, when None.
    resources
        Of each search; there are no checkpoints.
    release
        See `answer_of`.
    """
    portfolio = portfolio_of(profile, environment, compared_with=compared_with)
    crowded = [] if instances else those_among_others(profile, environment)
    search = _Searches(profile, environment, tuple(clauses), most_states, threads, resources, report)
    sizes: Mapping[Instance, Sequence[Property]] = dict.fromkeys(instances or portfolio, clauses)
    if crowded:
        left: Sequence[Property] | None = clauses
        if not all(_is_known_to_be_broken(profile, environment, clause) for clause in clauses):
            for size in crowded:
                search.among_others(size, len(crowded))
            left = None if search.is_interrupted else search.left_among_others(portfolio)
        sizes = sizes if left is None else those_that_show(profile, environment, left)
    for number, (size, asked) in enumerate(sizes.items(), start=1):
        search.of_many(size, asked, portfolio.get(size), f"{size.name} ({number} of {len(sizes)})")
    left_out = [size for size in instances or portfolio if size not in search.findings]
    return _answer_of_several(
        tuple(search.findings.values()), clauses, left_out, is_interrupted=search.is_interrupted, release=release
    )


def _is_known_to_be_broken(profile: Profile, environment: Environment, clause: Property) -> bool:
    world = World(profile, environment, table_of_verdicts().instances[0])
    return table_of_verdicts().known_violation(world, clause) is not None


@dataclass
class _Searches:
    """The searches of a portfolio, one after the other."""

    profile: Profile
    environment: Environment
    clauses: tuple[Property, ...]
    most_states: int | None
    threads: int | None
    resources: Resources | None
    report: PortfolioReport | None
    findings: dict[Instance, Finding] = field(default_factory=dict)
    depths: dict[Property, int] = field(default_factory=dict)
    """Of what is violated, the steps of the shortest violation."""
    is_interrupted: bool = False

    def among_others(self, size: Instance, count: int) -> None:
        """Search one transaction among others; whether many break what it breaks is asked of other instances."""
        if self.is_interrupted:
            return
        title = f"{size.name} ({len(self.findings) + 1} of {count}, among others)"
        question = Question(
            world=World(self.profile, self.environment, size),
            clauses=self.clauses,
            paths=(),
            most_states=self.most_states or MOST_AMONG_OTHERS,
        )
        self._search(question, title)

    def left_among_others(self, portfolio: Iterable[Instance]) -> list[Property] | None:
        """The clauses that one among others breaks; None where it leaves one open that could occur.

        Of these the table of verdicts knows whether many break them, to its bounds.
        """
        rows = {clause: [one[clause] for one in self.findings.values()] for clause in self.clauses}
        worlds = [World(self.profile, self.environment, size).constants for size in portfolio if not size.forgets]
        broken = [clause for clause, of in rows.items() if any(BROKEN_AMONG_OTHERS in row.why for row in of)]
        unknown = [
            clause
            for clause, of in rows.items()
            if clause not in broken
            and any(isinstance(row, Unknown) for row in of)
            and not why_it_cannot_occur(clause, *worlds)
        ]
        return None if unknown else broken

    def of_many(self, size: Instance, asked: Sequence[Property], most: int | None, title: str) -> None:
        """Search an instance for what is still open, or for a shorter violation that the table of verdicts has."""
        world = World(self.profile, self.environment, size)
        known = table_of_verdicts().depths(world)
        still_open = [c for c in asked if c not in self.depths or known.get(c, self.depths[c]) < self.depths[c]]
        if self.is_interrupted or not still_open:
            return
        clauses = self.clauses if set(asked) == set(self.clauses) else tuple(asked)
        question = Question(world=world, clauses=clauses, until=tuple(still_open), most_states=self.most_states or most)
        self._search(question, title)

    def _search(self, question: Question, title: str) -> None:
        found = self.findings[question.world.instance] = check(
            question,
            threads=self.threads or os.cpu_count() or 1,
            resources=self.resources,
            report=None if self.report is None else partial(self.report, title),
        )
        for clause, row in found.violated.items():
            self.depths[clause] = min(row.depth, self.depths.get(clause, row.depth))
        has_all = bool(question.until) and found.violated.keys() >= set(question.until)
        self.is_interrupted = _was_interrupted(found.numbers, question.most_states, has_all=has_all)


def _was_interrupted(numbers: Numbers, most_states: int | None, *, has_all: bool) -> bool:
    """Whether Ctrl-C ended a search: not its end, its limit, nor that it had all that it was to find."""
    return not (numbers.complete or has_all or (most_states is not None and numbers.distinct >= most_states))
