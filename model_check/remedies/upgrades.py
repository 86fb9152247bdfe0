"""What an upgrade brings and mends: the defects of the catalogue by release, gravest first."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any, Final

from files.content import parse_toml
from model_check.defects.affected import arises
from model_check.defects.catalogue import Where, catalogue
from model_check.wording.clauses import kinds

KIND_OF_PROPERTY: Final = {
    "L1": "lost_for_good",
    "S8": "lost_for_good",
    "S2": "wrongly_delivered",
    "S3": "wrongly_delivered",
    "S4": "wrongly_delivered",
    "S5": "wrongly_delivered",
    "S1": "delivered_twice",
    "S6": "altered",
    "L3": "stuck",
    "L2": "discarded_early",
    "L5": "not_carried_out",
    "S7": "record_lost",
    "S10": "record_lost",
    "S9": "checked_again",
    "R1": "extra_load",
    "L4": "extra_load",
    "M1": "extra_load",
}
"""Which kind of harm it is that a guarantee is broken; of a defect that breaks several, the gravest counts."""

LEAST_GRAVE: Final = "busy"
"""The kind of harm up to which a defect that a broker always shows is named wherever an upgrade is recommended."""


@cache
def said_of_defects() -> dict[str, dict[str, Any]]:
    """`defects.toml`: of the defects that no search finds what to do, and of some the kind of harm."""
    return parse_toml(resources.files("model_check.remedies").joinpath("defects.toml").read_text(encoding="utf-8"))


def gravity_of(identifier: str) -> int:
    """How grave a defect is, as `Meaning.gravity`: 0 is the gravest.

    Examples
    --------
    >>> gravity_of("B13"), gravity_of("B02") == kinds().index("delivered_twice"), kinds()[gravity_of("A17")]
    (0, True, 'busy')
    """
    given = said_of_defects().get(identifier, {}).get("kind")
    if given:
        return kinds().index(given)
    broken = catalogue()[identifier].properties
    return min((kinds().index(KIND_OF_PROPERTY[name]) for name in broken), default=len(kinds()) - 1)


def is_always_there(identifier: str) -> bool:
    """Whether it needs no fault: a search finds it in the quiet world, or a broker shows it in every run."""
    search = catalogue()[identifier].search
    if search is not None:
        return not search.world.environment
    return bool(said_of_defects().get(identifier, {}).get("always"))


def by_gravity(identifier: str) -> tuple[int, bool, str]:
    """A key to sort defects by: gravest first, of equally grave ones those that need no fault."""
    return gravity_of(identifier), not is_always_there(identifier), identifier


def brought(before: str, after: str) -> tuple[str, ...]:
    """The defects that a broker gets as it goes from one release to another, gravest first.

    Examples
    --------
    >>> brought("5.3.3", "5.5.1"), brought("5.5.1", "5.5.1")
    (('B52', 'A17', 'A57'), ())
    """
    return tuple(sorted((one for one in catalogue() if arises(one, before, after)), key=by_gravity))


def said_of_an_upgrade(before: str, after: str) -> str:
    """The grave defects that an upgrade brings to every broker, with what a user sees; empty if there are none.

    Examples
    --------
    >>> said_of_an_upgrade("5.3.3", "5.5.0")
    'which brings A17 (one core is busy for nothing)'
    >>> said_of_an_upgrade("5.3.3", "5.3.4")
    ''
    """
    least = kinds().index(LEAST_GRAVE)
    grave = [one for one in brought(before, after) if is_always_there(one) and gravity_of(one) <= least]
    by_effect: dict[str, list[str]] = {}
    for one in grave:
        by_effect.setdefault(catalogue()[one].effect, []).append(one)
    effects = ", ".join(f"{' '.join(ids)} ({effect})" for effect, ids in by_effect.items())
    return f"which brings {effects}" if effects else ""


def without_a_search() -> tuple[str, ...]:
    """The defects that `defects.toml` has to speak of."""
    return tuple(name for name, one in catalogue().items() if one.where is not Where.SEARCH)
