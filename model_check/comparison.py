"""Two profiles side by side: the clauses whose verdict, or steps to a violation, or the defects in it, differ."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from model_check.check import Verdict
from model_check.portfolio import search_portfolio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.check import ClauseResult
    from model_check.portfolio import Judged

CANNOT_OCCUR = "cannot occur"
"""What a clause is that nothing can break in any instance that was searched."""


class Change(Enum):
    """What the second profile makes of a clause, the worst first."""

    BROKEN = "broken now"
    SOONER = "broken sooner"
    OTHER = "not the same"
    THROUGH = "broken through others"
    LATER = "broken later"
    MENDED = "mended"


@dataclass(frozen=True, slots=True)
class Side:
    """One profile's verdict on a clause.

    Attributes
    ----------
    verdict : str
        `violated`, `holds`, `unknown` or `cannot occur`.
    depth : int or None
        Steps of the shortest violation.
    instance : str or None
        Where that is.
    resembles : tuple of str
        The defects that it shows.
    """

    verdict: str
    depth: int | None
    instance: str | None
    resembles: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The verdict as plain data."""
        return {**asdict(self), "resembles": list(self.resembles)}


@dataclass(frozen=True, slots=True)
class Difference:
    """A clause on which two profiles differ."""

    clause: str
    before: Side
    after: Side

    @property
    def change(self) -> Change:
        """What it comes to."""
        violated = Verdict.VIOLATED.value
        if self.before.depth is not None and self.after.depth is not None:
            if self.after.depth == self.before.depth:
                return Change.THROUGH
            return Change.LATER if self.after.depth > self.before.depth else Change.SOONER
        if self.after.verdict == violated:
            return Change.BROKEN
        is_mended = self.before.verdict == violated and self.after.verdict != Verdict.UNKNOWN.value
        return Change.MENDED if is_mended else Change.OTHER


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two searches of the same instances in the same environment say.

    Attributes
    ----------
    before, after : Judged
        Of the two profiles.
    differences : tuple of Difference
        What became worse first.
    same : dict
        Each verdict with the clauses that have it in both, in the same number of steps and through the same defects.
    """

    before: Judged
    after: Judged
    differences: tuple[Difference, ...]
    same: dict[str, tuple[str, ...]]

    @property
    def instances(self) -> tuple[str, ...]:
        """Those that were searched for either."""
        searched = (*self.before.searched, *self.after.searched)
        return tuple(dict.fromkeys(result.instance.name for result in searched))

    def to_json(self) -> dict[str, Any]:
        """The comparison as the plain data that scripts rely on (`halfcheck check --compare A B --json`)."""
        return {
            "profiles": [self.before.result.profile, self.after.result.profile],
            "environment": list(self.before.result.faults),
            "instances": list(self.instances),
            "complete": self.before.result.complete and self.after.result.complete,
            "differences": {
                one.clause: {"change": one.change.value, "before": one.before.to_json(), "after": one.after.to_json()}
                for one in self.differences
            },
            "same": {verdict: list(clauses) for verdict, clauses in self.same.items()},
        }


def compare(before: str, after: str, faults: Sequence[str] = (), **question: Any) -> Comparison:
    """Search the same instances in two profiles; `question` is what `search_portfolio` takes besides.

    Raises
    ------
    ModelCheckError, EvaluationError
        As `search_portfolio`.
    KeyboardInterrupt
        After Ctrl-C in a search: half a comparison is none.
    """
    answers = []
    for profile in (before, after):
        answer = search_portfolio(profile, faults, compared_with=(before, after), **question)
        if answer.is_interrupted:
            raise KeyboardInterrupt
        answers.append(answer)
    return compared(*answers)


def compared(before: Judged, after: Judged) -> Comparison:
    """What two searches say of the same clauses."""
    differences, same = [], dict[str, list[str]]()
    for old, new in zip(before.result.clauses, after.result.clauses, strict=True):
        mine, other = _side(before, old), _side(after, new)
        if (mine.verdict, mine.depth, mine.resembles) == (other.verdict, other.depth, other.resembles):
            same.setdefault(mine.verdict, []).append(old.name)
        else:
            differences.append(Difference(old.name, mine, other))
    order = list(Change)
    differences.sort(key=lambda one: order.index(one.change))
    return Comparison(before, after, tuple(differences), {verdict: tuple(clauses) for verdict, clauses in same.items()})


def counted(differences: Sequence[Difference]) -> dict[Change, int]:
    """How many of each kind there are, the worst first."""
    numbers = Counter(one.change for one in differences)
    return {change: numbers[change] for change in Change if numbers[change]}


def _side(answer: Judged, row: ClauseResult) -> Side:
    verdict = CANNOT_OCCUR if row.clause in answer.cannot_occur else row.verdict.value
    instance = None if row.path is None else (row.instance or answer.result.instance).name
    return Side(verdict, row.depth, instance, row.resembles)
