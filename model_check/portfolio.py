"""A verdict over a family of instances: broken as soon as one of them breaks a clause, held only if all of them do.

`chosen_instances.py` says which they are. What an instance breaks that forgets, or that is searched besides, is broken,
and what it does not decide still holds to the bounds of the others. An instance alone says little: `small` has no
immunities, so that nothing there can break what immunities break. What searches have found is judged, of one instance
as of several together: what cannot occur there is no guarantee, and of other instances the table of verdicts may know
better.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from model_check.check import SIZES, CheckResult, ClauseResult, Verdict, check, chosen_clauses
from model_check.chosen_instances import is_besides, portfolio_of
from model_check.instances import constants_for, load_instance
from model_check.occurrence import why_it_cannot_occur
from model_check.remedies.of_clauses import remedy
from model_check.remedies.situation import Situation
from model_check.searched_together import largest, searched_together
from model_check.verdicts.table import known_violation, table_of_verdicts
from model_check.wording.clauses import meaning_of
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from model_check.explicit.exploration import Progress
    from model_check.explicit.state_store.resources import Resources
    from model_check.searched_together import SearchedTogether
    from model_check.verdicts.table import Minimal
    from spec.language import Property

PortfolioReport = Callable[[str, "Progress"], None]
"""Called now and then with the instance that is being searched, as `odd (2 of 5)`, and how far its search is."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What searches of one world have found, and what that means: of one instance, or of a portfolio.

    Attributes
    ----------
    result : CheckResult
        Of all searches together. Each violation is the shortest that any of them found, and says where; the numbers
        are sums, the depth and the sizes of the instance are the largest.
    searched : tuple of CheckResult
        Of each instance, in the order in which they were searched.
    left_out : tuple of str
        Instances of the portfolio that were not searched, as all clauses were broken by then.
    is_interrupted : bool
        Whether Ctrl-C ended the last search, so that those behind it were not begun.
    cannot_occur : dict
        Clauses that are not broken, with the reason why no instance that was searched can break them.
    known : dict
        Clauses that are not broken here, with the shortest violation that the table of verdicts has of them, under some
        of the same faults: only for a profile of the table.
    release : str
        The release that was asked for, where it is not that of the profile: what to do is said for it.
    """

    result: CheckResult
    searched: tuple[CheckResult, ...]
    left_out: tuple[str, ...]
    is_interrupted: bool
    cannot_occur: Mapping[Property, str]
    known: Mapping[Property, Minimal]
    release: str = ""

    @property
    def situation(self) -> Situation:
        """Whom advice is for."""
        return Situation.of(self.result.profile, self.result.faults, release=self.release)

    @property
    def broken(self) -> tuple[ClauseResult, ...]:
        """What is violated, gravest first, then in the order of the machine's clauses."""
        rows = [row for row in self.result.clauses if row.verdict is Verdict.VIOLATED]
        return tuple(sorted(rows, key=lambda row: meaning_of(row.name).gravity))

    @property
    def broken_elsewhere(self) -> tuple[ClauseResult, ...]:
        """What is not violated here, and the table of verdicts knows better, gravest first."""
        rows = [row for row in self.result.clauses if row.clause in self.known]
        return tuple(sorted(rows, key=lambda row: meaning_of(row.name).gravity))

    @property
    def undecided(self) -> tuple[ClauseResult, ...]:
        """What is unknown, although it could occur."""
        return self._others(Verdict.UNKNOWN)

    @property
    def holding(self) -> tuple[ClauseResult, ...]:
        """What holds, and could be seen to be broken."""
        return self._others(Verdict.HOLDS)

    @property
    def reasons(self) -> dict[str, tuple[ClauseResult, ...]]:
        """Each reason why something cannot occur here, with the clauses; the most frequent first."""
        rows: dict[str, list[ClauseResult]] = {}
        for row in self.result.clauses:
            if row.clause in self.cannot_occur and row.clause not in self.known:
                rows.setdefault(self.cannot_occur[row.clause], []).append(row)
        return {why: tuple(mine) for why, mine in sorted(rows.items(), key=lambda item: -len(item[1]))}

    def _others(self, verdict: Verdict) -> tuple[ClauseResult, ...]:
        spoken_of = {*self.cannot_occur, *self.known}
        return tuple(r for r in self.result.clauses if r.verdict is verdict and r.clause not in spoken_of)

    @property
    def unbounded(self) -> tuple[CheckResult, ...]:
        """Of the instances that forget, so that what holds there holds for runs of any length."""
        return tuple(result for result in self.searched if result.instance.forgets)

    def in_runs_of_any_length(self, clause: Property) -> Verdict | None:
        """The verdict of the instances that forget, of all together; None if none was searched."""
        rows = [row for result in self.unbounded for row in result.clauses if row.clause is clause]
        found = [verdict for verdict in (Verdict.VIOLATED, Verdict.UNKNOWN) if any(r.verdict is verdict for r in rows)]
        return found[0] if found else Verdict.HOLDS if rows else None

    @property
    def bounds(self) -> dict[str, int]:
        """The largest sizes of any instance, of those that do not forget if there are any: not searched together."""
        return largest(_bounded(self.searched))

    @property
    def searched_together(self) -> tuple[SearchedTogether, ...]:
        """To the bounds of which instances something holds, those left out that another one covers.

        Of instances that forget those in which nothing is left open, of those that are searched besides as much as was
        seen.
        """
        return searched_together([s for s in self.searched if not (s.instance.forgets and s.undecided)])

    def to_json(self) -> dict[str, Any]:
        """The result as plain data: that of `CheckResult.to_json`, and what is known besides."""
        told = self.result.to_json()
        for row in self.result.clauses:
            mine = told["properties"][row.clause.identifier]
            mine["clauses"][row.clause.clause] |= self._clause_to_json(row)
        for identifier, mine in told["properties"].items():
            shown = mine["clauses"].get(mine["clause"], {})
            reasons = [
                self.cannot_occur.get(r.clause, "") for r in self.result.clauses if r.clause.identifier == identifier
            ]
            mine["instance"] = shown.get("instance")
            mine["cannot_occur"] = "; ".join(dict.fromkeys(reasons)) if all(reasons) else ""
        told["instances"] = [
            {**one.sizes_to_json(), "checks": one.instance.check_max, **one.numbers_to_json()} for one in self.searched
        ]
        told["instances_left_out"] = list(self.left_out)
        told["bounds"] = self.bounds
        told["searched_together"] = [one.to_json() for one in self.searched_together]
        return told

    def _clause_to_json(self, row: ClauseResult) -> dict[str, Any]:
        meaning, known = meaning_of(row.name), self.known.get(row.clause)
        any_length = self.in_runs_of_any_length(row.clause)
        return {
            "instance": None if row.path is None else (row.instance or self.result.instance).name,
            "cannot_occur": self.cannot_occur.get(row.clause, ""),
            "any_length": None if any_length is None else any_length.value,
            "broken_elsewhere": None
            if known is None
            else {"instance": known.instance, "environment": list(known.faults), "depth": known.depth},
            "gravity": meaning.gravity,
            "harm": meaning.harm,
            "remedy": remedy(row.name, self.situation),
        }


def judged(
    result: CheckResult,
    searched: Sequence[CheckResult] = (),
    left_out: Sequence[str] = (),
    *,
    is_interrupted: bool = False,
) -> Judged:
    """What the search of one instance means, or what those of several do, of which the result is the sum."""
    found = tuple(searched) or (result,)
    worlds = [constants_for(result.profile, result.faults, one.instance) for one in _bounded(found)]
    intact = [row.clause for row in result.clauses if row.path is None]
    reasons = {clause: why_it_cannot_occur(clause, *worlds) for clause in intact}
    better = {clause: known_violation(result.profile, result.faults, clause) for clause in intact}
    return Judged(
        result,
        found,
        tuple(left_out),
        is_interrupted,
        {clause: why for clause, why in reasons.items() if why},
        {clause: known for clause, known in better.items() if known is not None},
    )


def _judged_together(searched: Sequence[CheckResult], left_out: Sequence[str], *, is_interrupted: bool) -> Judged:
    """What the searches of several instances mean, which were all asked about the same clauses."""
    bounded = _bounded(searched)
    of_all = zip(*(result.clauses for result in searched), strict=True)
    of_bounded = zip(*(result.clauses for result in bounded), strict=True)
    rows = [_shortest(rows, otherwise) for rows, otherwise in zip(of_all, of_bounded, strict=True)]
    missed = [n for n in left_out if is_interrupted and not load_instance(n).forgets and not is_besides(n)]
    rows = [_with_instances(row, bounded, missed) for row in rows]
    names = ", ".join(result.instance.name for result in searched)
    sizes: dict[str, Any] = {name: size for name, size in largest(bounded).items() if name in SIZES}
    complete = all(result.complete for result in bounded)
    result = replace(
        together(searched, rows), instance=replace(bounded[0].instance, name=names, **sizes), complete=complete
    )
    return judged(result, searched, left_out, is_interrupted=is_interrupted)


def together(searched: Sequence[CheckResult], rows: Sequence[ClauseResult]) -> CheckResult:
    """Several searches as one: numbers are sums, the depth is the largest, the instance is that of the first."""
    misses = [r.collision_probability for r in searched if r.collision_probability is not None]
    return replace(
        searched[0],
        clauses=tuple(rows),
        unseen=tuple(w for w in searched[0].unseen if all(w in result.unseen for result in searched)),
        distinct=sum(result.distinct for result in searched),
        generated=sum(result.generated for result in searched),
        depth=max(result.depth for result in searched),
        complete=all(result.complete for result in searched),
        seconds=sum(result.seconds for result in searched),
        compile_seconds=sum(result.compile_seconds for result in searched),
        peak_bytes=max(result.peak_bytes for result in searched),
        disk_bytes=max(result.disk_bytes for result in searched),
        collision_probability=min(1.0, sum(misses)) if misses else None,
    )


def _bounded(searched: Sequence[CheckResult]) -> Sequence[CheckResult]:
    """The instances that do not forget, and are not besides and cut short; all where there are no others."""
    return [
        s for s in searched if not s.instance.forgets and (s.complete or not is_besides(s.instance.name))
    ] or searched


def _shortest(rows: Sequence[ClauseResult], otherwise: Sequence[ClauseResult]) -> ClauseResult:
    """The shortest violation; without one, what an instance of the others has left open, and which."""
    violated = [row for row in rows if row.path is not None]
    if violated:
        return min(violated, key=lambda row: row.depth or 0)
    return next((row for row in otherwise if row.verdict is Verdict.UNKNOWN), otherwise[0])


def _with_instances(row: ClauseResult, searched: Sequence[CheckResult], missed: Sequence[str]) -> ClauseResult:
    """What is not violated is unknown where a search was cut short or interrupted, and the reason says where."""
    if row.path is not None or (row.verdict is Verdict.HOLDS and not missed):
        return row
    cut = [f"{result.instance.name} ({result.distinct:,} states)" for result in searched if not result.complete]
    reasons = ["none is found"]
    reasons += [f"cut short in {', '.join(cut)}"] if cut else []
    reasons += [f"interrupted before {', '.join(missed)}"] if missed else []
    return replace(row, verdict=Verdict.UNKNOWN, reason="; ".join(reasons))


def search_portfolio(
    profile: str,
    faults: Sequence[str] = (),
    *,
    properties: Sequence[str] = (),
    instances: Sequence[str] = (),
    compared_with: Sequence[str] = (),
    threads: int | None = None,
    most_states: int | None = None,
    resources: Resources | None = None,
    report: PortfolioReport | None = None,
) -> Judged:
    """Search the instances of the portfolio, smallest first, until each chosen clause is violated, or all of them.

    Where all are violated, an instance is searched only if the table of verdicts has a shorter violation there.

    Parameters
    ----------
    profile, faults, properties, resources
        See `model_check.check.check`; there are no checkpoints.
    instances, compared_with
        `portfolio_of` the profile, beside those that it is compared with, when no instance is given.
    threads
        Of each search; all processors when None. No number and no path depends on it.
    most_states
        Where each search is cut short; where the portfolio says, when None.

    Raises
    ------
    ModelCheckError
        When a name is unknown.
    EvaluationError
        When a value leaves its declared range, or a counterexample does not replay.
    """
    clauses = chosen_clauses(TRANSACTIONAL_MESSAGES, properties)
    portfolio = portfolio_of(profile, faults, compared_with=compared_with)
    names = list(instances or portfolio)
    searched, is_interrupted = dict[str, CheckResult](), False
    depths: dict[Property, int] = {}
    for number, name in enumerate(names, start=1):
        still_open = _still_open(clauses, depths, table_of_verdicts().depths(profile, name, faults))
        if is_interrupted or not still_open:
            continue
        most = most_states or portfolio.get(name)
        found = searched[name] = check(
            profile,
            faults,
            name,
            properties=properties,
            threads=threads or os.cpu_count() or 1,
            most_states=most,
            until_violated=still_open,
            resources=resources,
            report=None if report is None else partial(report, f"{name} ({number} of {len(names)})"),
        )
        violated = {row.clause: row.depth for row in found.clauses if row.depth is not None}
        depths |= {clause: min(depth, depths.get(clause, depth)) for clause, depth in violated.items()}
        is_interrupted = _was_interrupted(found, most, has_all=violated.keys() >= set(still_open))
    left_out = [name for name in names if name not in searched]
    return _judged_together(tuple(searched.values()), left_out, is_interrupted=is_interrupted)


def _was_interrupted(found: CheckResult, most_states: int | None, *, has_all: bool) -> bool:
    """Whether Ctrl-C ended a search: not its end, its limit, nor that it had all that it was to find."""
    return not (found.complete or has_all or (most_states is not None and found.distinct >= most_states))


def _still_open(clauses: Sequence[Property], depths: dict[Property, int], known: dict[str, int]) -> list[Property]:
    """The clauses that are not violated yet, and those that the table of verdicts has a shorter violation of."""
    return [c for c in clauses if c not in depths or known.get(f"{c.identifier}.{c.clause}", depths[c]) < depths[c]]
