"""What a repair switch says that it repairs, and no search on record has shown: a claim, which is searched.

The entry of a switch is written by whoever proposes the repair. A defect counts as repaired only where the catalogue
names the profile that is rid of it (`repaired_in`, `also_repaired_in`), which a test searches.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from model_check.check import check
from model_check.defects.catalogue import catalogue
from model_check.defects.resemblance import repairs_of
from model_check.instances import switches_of, unturned
from model_check.switches import switch_records

if TYPE_CHECKING:
    from spec.language import Property


@dataclass(frozen=True, slots=True)
class Claim:
    """What came of a claim where the catalogue finds the defect.

    Attributes
    ----------
    switch, defect : str
    profile, instance, environment, clause : str
        What was searched: the world in which the catalogue finds the defect, with the switch; empty where no search of
        the catalogue is about it.
    depth : int or None
        Steps after which the clause is broken there all the same.
    """

    switch: str
    defect: str
    profile: str = ""
    instance: str = ""
    environment: str = ""
    clause: str = ""
    depth: int | None = None

    def __str__(self) -> str:
        says = f"{self.switch} says that it repairs {self.defect}"
        if not self.profile:
            return f"{says}, which no search finds"
        where = f"{self.clause} in {self.profile}, {self.environment}, on {self.instance}"
        if self.depth is None:
            return f"{says}, and is not on record for it; {where}: not broken"
        return f"{says}, and does not; {where}: broken after {self.depth} steps"

    def to_json(self) -> dict[str, Any]:
        """The claim as plain data."""
        return asdict(self)


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


def searched_claims(clause: Property, profile: str) -> tuple[Claim, ...]:
    """The claims of the switches that a profile turns on, about defects that the clause resembles, each searched.

    Raises
    ------
    ModelCheckError
        When there is no such profile.
    """
    before, after = asdict(switches_of(unturned(profile))), asdict(switches_of(profile))
    turned = [name for name in after if after[name] and not before[name]]
    return tuple(
        _searched(name, defect) for name in turned for defect in unshown_claims(name) if defect in clause.resembles
    )


def _searched(switch: str, defect: str) -> Claim:
    search = catalogue()[defect].search
    if search is None:
        return Claim(switch, defect)
    profile = search.profile + "".join(f"+{name}" for name in (*_needed(switch), switch))
    found = check(profile, search.faults, search.instance, properties=[search.clause], until_violated=True)
    return Claim(switch, defect, profile, search.instance, search.environment, search.clause, found.clauses[0].depth)


def _needed(switch: str) -> list[str]:
    """The repairs without which it does nothing."""
    return [name for name in switch_records()[switch].needs if switch_records()[name].kind == "repair"]
