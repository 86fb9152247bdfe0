"""Two releases or profiles side by side: the clauses on which they differ, by the table of verdicts or by searches."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from model_check.clauses import name_of
from model_check.finding import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from model_check.answers.answer import Answer
    from model_check.asked import Asked
    from model_check.world import Environment
    from spec.constants import Instance
    from spec.language import Property

CANNOT_OCCUR = "cannot occur"
"""What a clause is that nothing can break in any instance that was searched."""


class ClauseChange(Enum):
    """What the second profile makes of a clause, the worst first."""

    BROKEN = "broken now"
    FOUND = "broken, and open before"
    SOONER = "broken sooner"
    OTHER = "not the same"
    THROUGH = "broken through others"
    LATER = "broken later"
    MENDED = "mended"


@dataclass(frozen=True, slots=True)
class ProfileVerdict:
    """One profile's verdict on a clause.

    Attributes
    ----------
    verdict : str
        `violated`, `holds`, `unknown` or `cannot occur`.
    depth : int or None
        Steps of the shortest violation.
    instance : Instance or None
        Where that is.
    resembles : tuple of str
        The defects that it shows.
    after_ms : int or None
        Of a configuration: when it is broken, in milliseconds since the start.
    """

    verdict: str
    depth: int | None = None
    instance: Instance | None = None
    resembles: tuple[str, ...] = ()
    after_ms: int | None = None

    @property
    def is_violated(self) -> bool:
        """Whether it is broken."""
        return self.verdict == Verdict.VIOLATED.value

    @property
    def when(self) -> int | None:
        """When it is broken: in milliseconds, or in steps, which of ticks that differ say nothing of each other."""
        return self.depth if self.after_ms is None else self.after_ms

    def to_json(self) -> dict[str, Any]:
        """The verdict as plain data."""
        content = {
            "verdict": self.verdict,
            "depth": self.depth,
            "instance": None if self.instance is None else self.instance.name,
            "resembles": list(self.resembles),
        }
        return content if self.after_ms is None else {**content, "after_ms": self.after_ms}


@dataclass(frozen=True, slots=True)
class Difference:
    """A clause on which two profiles differ."""

    clause: Property
    before: ProfileVerdict
    after: ProfileVerdict

    def to_json(self) -> dict[str, Any]:
        """The difference as plain data."""
        return {"change": self.change.value, "before": self.before.to_json(), "after": self.after.to_json()}

    @property
    def change(self) -> ClauseChange:
        """What it comes to."""
        if self.before.when is not None and self.after.when is not None:
            if self.after.when == self.before.when:
                return ClauseChange.THROUGH
            return ClauseChange.LATER if self.after.when > self.before.when else ClauseChange.SOONER
        if self.after.is_violated:
            return ClauseChange.FOUND if self.before.verdict == Verdict.UNKNOWN.value else ClauseChange.BROKEN
        is_mended = self.before.is_violated and self.after.verdict != Verdict.UNKNOWN.value
        return ClauseChange.MENDED if is_mended else ClauseChange.OTHER


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What is known of one side of a comparison.

    Attributes
    ----------
    asked : Asked
    environment : Environment
    sides : dict
        Clause → verdict, in the order of the machine.
    known, searched, cut_short : tuple of Instance
        Those that the table of verdicts has answered for, those that were searched, and which of these were
        not searched to their end.
    distinct, seconds
        Of both.
    answer : Answer or None
        The search, where there was one of all that is asked.
    """

    asked: Asked
    environment: Environment
    sides: Mapping[Property, ProfileVerdict]
    known: tuple[Instance, ...] = ()
    searched: tuple[Instance, ...] = ()
    cut_short: tuple[Instance, ...] = ()
    distinct: int = 0
    seconds: float = 0.0
    answer: Answer | None = field(default=None, compare=False)

    @property
    def open(self) -> tuple[Property, ...]:
        """What a search that was cut short has left open."""
        return tuple(clause for clause, side in self.sides.items() if side.verdict == Verdict.UNKNOWN.value)

    @property
    def is_violated(self) -> bool:
        """Whether anything is broken."""
        return any(side.is_violated for side in self.sides.values())


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is known of two profiles in the same environment.

    Attributes
    ----------
    before, after : Verdicts
    differences : tuple of Difference
        What became worse first.
    same : dict
        Each verdict with the clauses that have it in both, as soon and through the same defects.
    """

    before: Verdicts
    after: Verdicts
    differences: tuple[Difference, ...]
    same: dict[str, tuple[Property, ...]]

    @property
    def instances(self) -> tuple[Instance, ...]:
        """Those that either verdict is of."""
        sides = (self.before, self.after)
        return tuple(dict.fromkeys(one for side in sides for one in (*side.known, *side.searched)))

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left open."""
        return not (self.before.open or self.after.open)

    def to_json(self) -> dict[str, Any]:
        """The comparison as the plain data that scripts rely on (`halfcheck compare A B --json`)."""
        return {
            "profiles": [self.before.asked.name, self.after.asked.name],
            "environment": list(self.before.environment),
            "instances": [instance.name for instance in self.instances],
            "complete": self.is_complete,
            "differences": {name_of(one.clause): one.to_json() for one in self.differences},
            "same": {verdict: list(map(name_of, clauses)) for verdict, clauses in self.same.items()},
            "open": {"before": list(map(name_of, self.before.open)), "after": list(map(name_of, self.after.open))},
            "judged_by": {side.asked.name: side.asked.profile.name for side in (self.before, self.after)},
        }


def compared(before: Verdicts, after: Verdicts) -> Comparison:
    """What two sides say of the same clauses."""
    differences: list[Difference] = []
    same: dict[str, list[Property]] = {}
    for clause, mine in before.sides.items():
        other = after.sides[clause]
        if (mine.verdict, mine.when, mine.resembles) == (other.verdict, other.when, other.resembles):
            same.setdefault(mine.verdict, []).append(clause)
        else:
            differences.append(Difference(clause, mine, other))
    order = list(ClauseChange)
    differences.sort(key=lambda one: order.index(one.change))
    return Comparison(before, after, tuple(differences), {verdict: tuple(clauses) for verdict, clauses in same.items()})
