"""Claims about any number of transactions: made where nothing differed when one among others was compared with many.

`comparisons.toml` has the result of each world, the quiet one and each fault alone. It is of one specification; of
another one nothing is claimed until `make any-number` has compared anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from model_check.any_number.compared_instances import ALL
from model_check.any_number.world_lines import WorldLines, read_world_lines, world_lines_as_toml
from model_check.clauses import name_of
from model_check.instances import load_instance
from model_check.occurrence import ROOM
from model_check.world import Environment, Profile, World

if TYPE_CHECKING:
    from spec.language import Property

COMPARISONS: Final = Path(__file__).with_name("comparisons.toml")

PROVED: Final = Path(__file__).with_name("proved.toml")

SPEAKS_OF_TWO: Final = ("S4.foreign_original",)
"""Clauses that need two transactions to be broken, of which one among others knows only itself."""

TIMES: Final = ("timeout", "check_interval", "round_limit", "op_batch_interval", "clock_steps")
"""The times that all instances share which were compared, in ticks."""

COMPARES_RANKS: Final = "L3."
"""Clauses of a round that is stuck where the one before it was: among others, ranks of two halves may be equal."""


@dataclass(frozen=True, slots=True)
class SimulationComparison:
    """The comparison of one world, all of its instances together."""

    states: int
    transitions: int
    pairs: int
    """Distinct pairs of a state's projection and its successor's."""
    is_complete: bool
    """Whether each search had all states."""
    broken: Mapping[str, int] = field(default_factory=dict)
    """By action how many pairs one among others cannot follow."""
    error: str = ""
    """Why no comparison was possible."""

    @property
    def is_clean(self) -> bool:
        """Whether a claim may be made."""
        return not self.broken and not self.error


Comparisons = dict[tuple[Profile, Environment], SimulationComparison]
"""By world; of profiles with the same switches the first has it."""


def why_no_claim(profile: Profile, environment: Environment) -> str:
    """Why nothing is claimed about any number of transactions in a world; empty where something is."""
    if lacking := lacking_room(environment):
        return f"no instance of one transaction among others has {lacking}"
    if is_proved(profile, environment):
        return ""
    if len(environment) > 1:
        why = f"one transaction among others was compared with many under no fault and one, not {len(environment)}"
        left_out = [set(environment) - set(faults) for faults in _proved_of(profile)]
        return f"{why}, and what is proved leaves out {', '.join(sorted(left_out[0]))}" if left_out else why
    found = comparisons().items()
    alike = (one for (each, faults), one in found if faults == environment and each.switches == profile.switches)
    compared = next(alike, None)
    if compared is None:
        return "one transaction among others was not compared with many in this profile"
    if compared.is_clean:
        return ""
    return (
        compared.error or f"one transaction among others does not follow each of many at {', '.join(compared.broken)}"
    )


@cache
def lacking_room(environment: Environment) -> str:
    """What a fault needs and no instance has in which one among others is compared with many; empty if each has it."""
    compared = [World.of("fixed", (), instance).constants for instance in ALL]
    lacking = (ROOM[fault][1] for fault in environment if fault in ROOM and not any(map(ROOM[fault][0], compared)))
    return next(lacking, "")


def is_proved(profile: Profile, environment: Environment) -> bool:
    """Whether each step is proved to be followed, whatever the times and the number of messages are."""
    return any(set(environment) <= set(faults) for faults in _proved_of(profile))


def _proved_of(profile: Profile) -> list[Environment]:
    """The faults of which any may be there in the proofs of a profile."""
    return [faults for each, faults in proved_worlds() if each.switches == profile.switches]


def why_not_in(world: World) -> str:
    """Why nothing is claimed in an instance: its times are not those that were compared; empty where they are.

    They decide, among other things, whether an op message may come too late for a round (`last_op_pulled_came_late`),
    which no action of others speaks of. Where each step is proved to be followed, no round lasts so long.
    """
    instance, compared = world.instance, dict[str, int]()
    if not is_proved(world.profile, world.environment):
        compared = {name: getattr(load_instance("small"), name) for name in TIMES}
    if instance.persist_interval > 0:  # at once, or at any time: both were compared
        compared["persist_interval"] = 0
    other = {name: value for name, value in compared.items() if getattr(instance, name) != value}
    if not other:
        return ""
    there = " and ".join(f"{name} = {value}" for name, value in other.items())
    return f"one transaction among others was compared with many where {there} only"


def why_not_claimed(clause: Property, profile: Profile) -> str:
    """Why a clause that one among others does not break may be broken by many all the same; empty if it can't be."""
    if name_of(clause) in SPEAKS_OF_TWO:
        return "it speaks of two transactions"
    if profile.is_version and name_of(clause).startswith(COMPARES_RANKS):
        return "it compares places of two rounds, which may be those of different transactions"
    return ""


@cache
def comparisons() -> Comparisons:
    """Those that come with the project; none where they are of another specification."""
    return {world: SimulationComparison(**given) for world, given in read_world_lines(COMPARISONS).items()}


@cache
def proved_worlds() -> WorldLines:
    """Where each step of many is proved to be followed; nothing where that is of another specification."""
    return read_world_lines(PROVED)


def proved_as_toml(worlds: WorldLines) -> str:
    """The text of the file; `proved_worlds` reads it back."""
    comment = "Where each step of many is proved to be followed, with any of the faults. Written by `make any-number`."
    return world_lines_as_toml(comment, worlds)


def comparisons_as_toml(results: Comparisons) -> str:
    """The text of the file; `comparisons` reads it back."""
    return world_lines_as_toml(
        "Whether one transaction among others follows each of many, by world. Written by `make any-number`.",
        {world: asdict(one) for world, one in results.items()},
    )
