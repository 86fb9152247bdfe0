"""What a repair switch says that it repairs, and no search on record has shown: a claim, which is searched.

The entry of a switch is written by whoever proposes the repair. A defect counts as repaired only where the catalogue
names the profile that is rid of it (`repaired_in`, `also_repaired_in`), which a test searches.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from model_check.check import check
from model_check.clauses import name_of
from model_check.defects.catalogue import catalogue
from model_check.defects.resemblance import repairs_of
from model_check.question import Question
from model_check.switches import switch_records
from model_check.world import Profile

if TYPE_CHECKING:
    from model_check.world import World
    from spec.language import Property


@dataclass(frozen=True, slots=True)
class RepairClaim:
    """What came of a claim where the catalogue finds the defect.

    Attributes
    ----------
    switch, defect : str
    world : World or None
        The world in which the catalogue finds the defect, with the switch; None where no search of the catalogue is
        about it.
    clause : Property or None
        What was asked of it.
    depth : int or None
        Steps after which the clause is broken there all the same.
    """

    switch: str
    defect: str
    world: World | None = None
    clause: Property | None = None
    depth: int | None = None

    def __str__(self) -> str:
        says = f"{self.switch} says that it repairs {self.defect}"
        if self.world is None or self.clause is None:
            return f"{says}, which no search finds"
        world = self.world
        where = f"{name_of(self.clause)} in {world.profile}, {world.environment.name}, on {world.instance.name}"
        if self.depth is None:
            return f"{says}, and is not on record for it; {where}: not broken"
        return f"{says}, and does not; {where}: broken after {self.depth} steps"

    def to_json(self) -> dict[str, Any]:
        """The claim as plain data."""
        world = self.world
        return {
            "switch": self.switch,
            "defect": self.defect,
            "profile": "" if world is None else world.profile.name,
            "instance": "" if world is None else world.instance.name,
            "environment": "" if world is None else world.environment.name,
            "clause": "" if self.clause is None else name_of(self.clause),
            "depth": self.depth,
        }


def unshown_claims(switch: str) -> tuple[str, ...]:
    """The defects that the entry of a switch names as repaired by it, although no search on record has shown that.

    Examples
    --------
    >>> unshown_claims("heeds_settled_originals"), unshown_claims("keeps_check_open")
    ((), ())
    """
    record = switch_records()[switch]
    if record.kind != "repair":
        return ()
    mine = dict.fromkeys((*_needed(switch), switch), True)
    return tuple(one for one in record.defects if not any(turns.items() <= mine.items() for turns in repairs_of(one)))


def searched_claims(clause: Property, profile: Profile) -> tuple[RepairClaim, ...]:
    """The claims of the switches that a profile turns on, about defects that the clause resembles, each searched."""
    before, after = asdict(Profile.of(profile.unturned).switches), asdict(profile.switches)
    turned = [name for name in after if after[name] and not before[name]]
    return tuple(
        _searched(name, defect) for name in turned for defect in unshown_claims(name) if defect in clause.resembles
    )


def _searched(switch: str, defect: str) -> RepairClaim:
    search = catalogue()[defect].search
    if search is None:
        return RepairClaim(switch, defect)
    world = search.world.in_profile(search.world.profile.turn(*(f"+{name}" for name in (*_needed(switch), switch))))
    found = check(Question(world=world, clauses=(search.clause,), until=(search.clause,)))
    return RepairClaim(switch, defect, world, search.clause, found[search.clause].depth)


def _needed(switch: str) -> list[str]:
    """The repairs without which it does nothing."""
    return [name for name in switch_records()[switch].needs if switch_records()[name].kind == "repair"]
