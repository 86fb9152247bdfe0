"""What is left of a broken clause where a turned switch of the profile repairs a defect that breaks it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from model_check.answers.minimal_repairs import find_minimal_repairs
from model_check.clauses import name_of
from model_check.defects.claims import searched_claims
from model_check.defects.resemblance import repaired_by_hand

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from model_check.answers.minimal_repairs import MinimalRepairs, RepairsProgress
    from model_check.defects.claims import RepairClaim
    from model_check.finding import Violated
    from model_check.world import World
    from spec.constants import Instance
    from spec.language import Property

MOST_MORE_REPAIRS: Final = 2
"""So many repairs at once are tried beside those that a profile has, to say with which of them a clause holds."""


@dataclass(frozen=True, slots=True)
class LeftOfRepairs:
    """What is left of a clause.

    Attributes
    ----------
    repaired, through : tuple of str
        The defects that are repaired, as a search on record shows, and those through which it is still broken.
    claims : tuple of RepairClaim
        What switches say that they repair, and what a search says to that.
    more : MinimalRepairs
        What it takes besides.
    """

    clause: Property
    repaired: tuple[str, ...]
    through: tuple[str, ...]
    claims: tuple[RepairClaim, ...]
    more: MinimalRepairs

    @property
    def name(self) -> str:
        """Of the clause."""
        return name_of(self.clause)

    def __str__(self) -> str:
        verb = "is" if len(self.repaired) == 1 else "are"
        repaired = [f"{_and(self.repaired)} {verb} repaired"] if self.repaired else []
        through = f"still broken through {_and(self.through)}" if self.through else "still broken"
        return f"{self.name}: {'; '.join([*repaired, *map(str, self.claims), through, self._holds_with])}"

    @property
    def _holds_with(self) -> str:
        certain = [" ".join(one.repairs) for one in self.more.sets if one.certain]
        where = f"(searched in {', '.join(one.name for one in self.more.instances)})"
        if certain:
            return f"holds with {' or '.join(certain)} besides {where}"
        if self.more.sets:
            doubtful = " or ".join(" ".join(one.repairs) for one in self.more.sets)
            return f"no violation is found with {doubtful} besides, CUT SHORT {where}"
        return f"{no_more_than(self.more.most_repairs)} besides mends it"

    def to_json(self) -> dict[str, Any]:
        """What is left as plain data."""
        return {
            "repaired": list(self.repaired),
            "claims": [one.to_json() for one in self.claims],
            "broken_through": list(self.through),
            "holds_with": [list(one.repairs) for one in self.more.sets if one.certain],
            "instances": [one.name for one in self.more.instances],
        }


def left_of_repairs(
    row: Violated,
    world: World,
    *,
    instances: Sequence[Instance] = (),
    threads: int | None = None,
    report: Callable[[RepairsProgress], None] | None = None,
) -> LeftOfRepairs | None:
    """What is left of a broken clause of which a turned switch repairs a defect, or says so; None where none does.

    Parameters
    ----------
    row, world
        The violation, and the profile and environment in which it was searched for.
    instances
        Where more repairs are tried; the portfolio when none is given.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C in a search.
    """
    repaired = repaired_by_hand(row.clause, world.profile)
    claims = searched_claims(row.clause, world.profile)
    if not (repaired or claims):
        return None
    more = find_minimal_repairs(
        world.profile,
        world.environment,
        row.clause,
        instances=instances,
        most_repairs=MOST_MORE_REPAIRS,
        threads=threads,
        report=report,
    )
    return LeftOfRepairs(row.clause, repaired, row.resembles, claims, more)


def no_more_than(most: int) -> str:
    """That so many repairs at once do not do, as the subject of a sentence."""
    return "no single repair" if most == 1 else f"no set of at most {most} repairs"


def _and(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
