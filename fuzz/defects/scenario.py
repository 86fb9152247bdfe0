"""What a scenario is: a story that a broker of any version can play, and what is seen of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Fact = int | str | tuple[int, ...] | tuple[str, ...] | None


class ScenarioError(Exception):
    """A scenario went another way than its story: the broker refused a message, a round was not due or did not end."""

    exit_code: int = 75


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen when a scenario was played.

    Attributes
    ----------
    symptom
        Whether a user would suffer the defect.
    facts
        What was measured, in words and numbers: the store's records, the broker's answers, what a round did.
    """

    symptom: bool
    facts: Mapping[str, Fact]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One defect as a story.

    Attributes
    ----------
    identifier
        The id in the catalogue.
    story
        What happens, in a sentence or two.
    property_id
        The guarantee that it breaks.
    play
        Plays it on a new broker of a profile (:func:`reference.versions.versions.switches_of`).
    affected, repaired_in
        The profile that has the defect, and one that is rid of it.
    also_in
        Other profiles that have it.
    """

    identifier: str
    story: str
    property_id: str
    play: Callable[[str], Seen]
    affected: str
    repaired_in: str
    also_in: tuple[str, ...] = ()


def scenario(
    identifier: str, property_id: str, *, affected: str, repaired_in: str, also_in: str = "", story: str = ""
) -> Callable[[Callable[[str], Seen]], Scenario]:
    """Make a scenario of a function that plays it; the first line of its docstring is the story, if none is given."""

    def declare(play: Callable[[str], Seen]) -> Scenario:
        told = story or (play.__doc__ or "").partition("\n")[0]
        return Scenario(identifier, told, property_id, play, affected, repaired_in, tuple(also_in.split()))

    return declare
