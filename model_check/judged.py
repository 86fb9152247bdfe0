"""What searches of one world have found, and what that means: of one instance, or of several together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from model_check.check import SIZES, CheckResult, ClauseResult, Verdict
from model_check.instances import constants_for
from model_check.occurrence import why_it_cannot_occur
from model_check.verdicts.known import known_violation
from model_check.wording.clauses import meaning_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from model_check.verdicts.table import Minimal
    from spec.constants import Instance
    from spec.language import Property


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
        checks, ticks = max(size.check_max for size in sizes), max(_longest(size) for size in sizes)
        return {**_largest(sizes), "checks": checks, "ticks": ticks}

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


def judged_together(
    searched: Sequence[CheckResult], left_out: Sequence[str] = (), *, is_interrupted: bool = False
) -> Judged:
    """What the searches of several instances mean, which were all asked about the same clauses."""
    rows = [_shortest(rows) for rows in zip(*(result.clauses for result in searched), strict=True)]
    rows = [_with_instances(row, searched, left_out if is_interrupted else ()) for row in rows]
    sizes = [result.instance for result in searched]
    largest: dict[str, Any] = {"name": ", ".join(size.name for size in sizes), **_largest(sizes)}
    result = replace(together(searched, rows), instance=replace(sizes[0], **largest))
    return _judged(result, tuple(searched), tuple(left_out), is_interrupted=is_interrupted)


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


def _judged(
    result: CheckResult, searched: tuple[CheckResult, ...], left_out: tuple[str, ...], *, is_interrupted: bool
) -> Judged:
    worlds = [constants_for(result.profile, result.faults, one.instance) for one in searched]
    intact = [row.clause for row in result.clauses if row.path is None]
    reasons = {clause: why_it_cannot_occur(clause, *worlds) for clause in intact}
    better = {clause: known_violation(result.profile, result.faults, clause) for clause in intact}
    return Judged(
        result,
        searched,
        left_out,
        is_interrupted,
        {clause: why for clause, why in reasons.items() if why},
        {clause: known for clause, known in better.items() if known is not None},
    )


def _shortest(rows: Sequence[ClauseResult]) -> ClauseResult:
    """The shortest violation; without one, what an instance has left open, and which."""
    violated = [row for row in rows if row.path is not None]
    if violated:
        return min(violated, key=lambda row: row.depth or 0)
    return next((row for row in rows if row.verdict is Verdict.UNKNOWN), rows[0])


def _with_instances(row: ClauseResult, searched: Sequence[CheckResult], missed: Sequence[str]) -> ClauseResult:
    """What is not violated is unknown where a search was cut short or interrupted, and the reason says where."""
    if row.path is not None or (row.verdict is Verdict.HOLDS and not missed):
        return row
    cut = [f"{result.instance.name} ({result.distinct:,} states)" for result in searched if not result.complete]
    reason = f"none is found; cut short in {', '.join(cut)}"
    return replace(
        row, verdict=Verdict.UNKNOWN, reason=f"{reason}; interrupted before {', '.join(missed)}" if missed else reason
    )


def _largest(sizes: Sequence[Instance]) -> dict[str, int]:
    return {name: max(getattr(size, name) for size in sizes) for name in SIZES}


def _longest(size: Instance) -> int:
    return max(size.timeout, *size.immunities, size.check_interval, size.reserved_time)


def _instance_to_json(result: CheckResult) -> dict[str, Any]:
    return {**result.sizes_to_json(), "checks": result.instance.check_max, **result.numbers_to_json()}


def _known_to_json(known: Minimal) -> dict[str, Any]:
    return {"instance": known.instance, "environment": list(known.faults), "depth": known.depth}
