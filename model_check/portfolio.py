"""A verdict over a family of instances: broken as soon as one of them breaks a clause, held only if all of them do.

The portfolio is the plan of the table of verdicts. An instance alone says little: `small` has no immunities, so that
nothing there can break what immunities break.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from model_check.check import CheckResult, ClauseResult, Report, Verdict, check, chosen_clauses
from model_check.instances import constants_for, load_instance, unturned
from model_check.occurrence import in_a_sentence, unmet_needs
from model_check.verdicts.environment import faults_of
from model_check.verdicts.table_file import read_table, table_file
from model_check.wording.clauses import meaning_of
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from model_check.explicit.resources import Resources
    from model_check.explicit.search import Progress
    from model_check.verdicts.table import Minimal, Table
    from spec.constants import Constants, Instance
    from spec.language import Property

PortfolioReport = Callable[[str, "Progress"], None]
"""Called now and then with the instance that is being searched, as `odd (2 of 5)`, and how far its search is."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What searches of one world have found, and what that means: of one instance, or of a portfolio.

    Attributes
    ----------
    result : CheckResult
        Of all searches together. Each violation is the shortest that any instance shows, and says which; the numbers
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
    """

    result: CheckResult
    searched: tuple[CheckResult, ...]
    left_out: tuple[str, ...] = ()
    is_interrupted: bool = False
    cannot_occur: Mapping[Property, str] = field(default_factory=dict)
    known: Mapping[Property, Minimal] = field(default_factory=dict)

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
    def bounds(self) -> dict[str, int]:
        """The largest sizes that were searched."""
        sizes = [result.instance for result in self.searched]
        return {
            "transactions": max(size.transactions for size in sizes),
            "half_slots": max(size.half_slots for size in sizes),
            "op_slots": max(size.op_slots for size in sizes),
            "checks": max(size.check_max for size in sizes),
            "ticks": max(_longest(size) for size in sizes),
        }

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
        told["instances"] = [_instance_to_json(result) for result in self.searched]
        told["instances_left_out"] = list(self.left_out)
        told["bounds"] = self.bounds
        return told

    def _clause_to_json(self, row: ClauseResult) -> dict[str, Any]:
        meaning, known = meaning_of(row.name), self.known.get(row.clause)
        return {
            "instance": None if row.path is None else (row.instance or self.result.instance).name,
            "cannot_occur": self.cannot_occur.get(row.clause, ""),
            "broken_elsewhere": None if known is None else _known_to_json(known),
            "gravity": meaning.gravity,
            "harm": meaning.harm,
            "remedy": meaning.remedy,
        }


def judged(result: CheckResult, *, is_interrupted: bool = False) -> Judged:
    """What the search of one instance means."""
    return _judged(result, (result,), (), is_interrupted=is_interrupted)


def search_portfolio(
    profile: str,
    faults: Sequence[str] = (),
    *,
    properties: Sequence[str] = (),
    instances: Sequence[str] = (),
    threads: int | None = None,
    most_states: int | None = None,
    resources: Resources | None = None,
    report: PortfolioReport | None = None,
) -> Judged:
    """Search the instances of the portfolio, smallest first, until each chosen clause is violated, or all of them.

    Parameters
    ----------
    profile, faults, properties, resources
        See `model_check.check.check`; there are no checkpoints.
    instances
        Those of the plan of the table of verdicts when none is given.
    threads
        Of each search; all processors when None. No number and no path depends on it.
    most_states
        Where each search is cut short; where the plan says, when None.

    Raises
    ------
    ModelCheckError
        When a name is unknown.
    EvaluationError
        When a value leaves its declared range, or a counterexample does not replay.
    """
    clauses = chosen_clauses(TRANSACTIONAL_MESSAGES, properties)
    constants_for(profile, faults, load_instance("tiny"))  # an unknown name is named before anything is searched
    names = list(instances) or smallest_first(profile, faults)
    plan, searched, is_interrupted = table_of_verdicts().plan, list[CheckResult](), False
    for number, name in enumerate(names, start=1):
        violated = {row.clause for result in searched for row in result.clauses if row.path is not None}
        still_open = [clause for clause in clauses if clause not in violated]
        if is_interrupted or not still_open:
            break
        most = most_states or (plan[name].most_states if name in plan else None)
        found = check(
            profile,
            faults,
            name,
            properties=properties,
            threads=threads or os.cpu_count() or 1,
            most_states=most,
            until_violated=still_open,
            resources=resources,
            report=_named(report, f"{name} ({number} of {len(names)})"),
        )
        searched.append(found)
        is_at_its_limit = most is not None and found.distinct >= most
        is_decided = all(row.path is not None for row in found.clauses if row.clause in still_open)
        is_interrupted = not (found.complete or is_at_its_limit or is_decided)
    left_out = tuple(names[len(searched) :])
    rows = [_shortest([result.clauses[number] for result in searched]) for number in range(len(clauses))]
    rows = [_with_instances(row, searched, left_out if is_interrupted else ()) for row in rows]
    return _judged(_together(searched, tuple(rows)), tuple(searched), left_out, is_interrupted=is_interrupted)


@cache
def table_of_verdicts() -> Table:
    """The table that comes with the project."""
    return read_table(table_file())


def smallest_first(profile: str, faults: Sequence[str]) -> list[str]:
    """The instances of the plan, by the states that the table of verdicts has for this world, or for a part of it."""
    table = table_of_verdicts()

    def states(instance: str) -> int:
        entries = table.of(unturned(profile), instance)
        parts = (entry.distinct for name, entry in entries.items() if set(faults_of(name)) <= set(faults))
        return max(parts, default=0)

    return sorted(table.plan, key=states)


def instance_that_shows(profile: str, faults: Sequence[str], properties: Sequence[str]) -> str:
    """The one instance to ask: where most of the clauses are known to break, or could; the smallest one of several."""
    clauses = chosen_clauses(TRANSACTIONAL_MESSAGES, properties)
    table, chosen = table_of_verdicts(), set(faults)

    def fitness(instance: str) -> tuple[int, int]:
        constants = constants_for(profile, faults, instance)
        entries = table.of(profile, instance).items()
        broken = {clause for name, entry in entries if set(faults_of(name)) <= chosen for clause in entry.violated}
        names = {f"{clause.identifier}.{clause.clause}" for clause in clauses}
        return len(names & broken), sum(not unmet_needs(clause, constants) for clause in clauses)

    return max(smallest_first(profile, faults), key=fitness)


def known_violation(profile: str, faults: Sequence[str], clause: Property) -> Minimal | None:
    """The shortest violation of a clause that the table of verdicts has under some of these faults, if any.

    A profile that is not in the table, as one with a switch turned, has none.
    """
    breaking = table_of_verdicts().breaking(profile, f"{clause.identifier}.{clause.clause}")
    mine = [one for names, one in breaking.items() if set(names) <= set(faults)]
    return min(mine, key=lambda one: one.depth, default=None)


def _judged(
    result: CheckResult, searched: tuple[CheckResult, ...], left_out: tuple[str, ...], *, is_interrupted: bool
) -> Judged:
    worlds = [constants_for(result.profile, result.faults, one.instance) for one in searched]
    intact = [row.clause for row in result.clauses if row.path is None]
    reasons = {clause: _why_nowhere(clause, worlds) for clause in intact}
    better = {clause: known_violation(result.profile, result.faults, clause) for clause in intact}
    return Judged(
        result,
        searched,
        left_out,
        is_interrupted,
        {clause: why for clause, why in reasons.items() if why},
        {clause: known for clause, known in better.items() if known is not None},
    )


def _why_nowhere(clause: Property, worlds: Sequence[Constants]) -> str:
    """Why a clause cannot occur in any of these, in the words of the one that lacks least; empty if it can."""
    unmet = [unmet_needs(clause, constants) for constants in worlds]
    return in_a_sentence(min(unmet, key=len))


def _shortest(rows: Sequence[ClauseResult]) -> ClauseResult:
    """The shortest violation; without one, what an instance has left open, and which."""
    violated = [row for row in rows if row.path is not None]
    if violated:
        return min(violated, key=lambda row: row.depth or 0)
    return next((row for row in rows if row.verdict is Verdict.UNKNOWN), rows[0])


def _together(searched: Sequence[CheckResult], rows: tuple[ClauseResult, ...]) -> CheckResult:
    first, sizes = searched[0], [result.instance for result in searched]
    misses = [r.collision_probability for r in searched if r.collision_probability is not None]
    return replace(
        first,
        instance=replace(
            first.instance,
            name=", ".join(size.name for size in sizes),
            transactions=max(size.transactions for size in sizes),
            half_slots=max(size.half_slots for size in sizes),
            op_slots=max(size.op_slots for size in sizes),
        ),
        clauses=rows,
        unseen=tuple(w for w in first.unseen if all(w in result.unseen for result in searched)),
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


def _with_instances(row: ClauseResult, searched: Sequence[CheckResult], missed: Sequence[str]) -> ClauseResult:
    """What is not violated is unknown where a search was cut short or interrupted, and the reason says where."""
    if row.path is not None or (row.verdict is Verdict.HOLDS and not missed):
        return row
    cut = [f"{result.instance.name} ({result.distinct:,} states)" for result in searched if not result.complete]
    reason = f"none is found; cut short in {', '.join(cut)}"
    return replace(
        row, verdict=Verdict.UNKNOWN, reason=f"{reason}; interrupted before {', '.join(missed)}" if missed else reason
    )


def _named(report: PortfolioReport | None, name: str) -> Report | None:
    if report is None:
        return None
    return lambda progress: report(name, progress)


def _longest(size: Instance) -> int:
    return max(size.timeout, *size.immunities, size.check_interval, size.reserved_time)


def _instance_to_json(result: CheckResult) -> dict[str, Any]:
    size = result.instance
    return {
        "name": size.name,
        "transactions": size.transactions,
        "half_slots": size.half_slots,
        "op_slots": size.op_slots,
        "checks": size.check_max,
        "distinct": result.distinct,
        "generated": result.generated,
        "depth": result.depth,
        "complete": result.complete,
    }


def _known_to_json(known: Minimal) -> dict[str, Any]:
    return {"instance": known.instance, "environment": list(known.faults), "depth": known.depth}
