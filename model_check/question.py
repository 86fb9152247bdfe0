"""What an engine is asked of a world, and by which means it searches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

from model_check.clauses import chosen_clauses
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from model_check.explicit.exploration import Report
    from model_check.explicit.state_store.resources import Resources
    from model_check.world import Profile
    from spec.constants import Instance
    from spec.language import Machine, Property


class Means(TypedDict, total=False):
    """How an engine searches, with no influence on what it finds.

    Attributes
    ----------
    threads : int
        Of the compiled search; no number and no path depends on it.
    report : callable or None
        Called now and then with how far the search is.
    resources : Resources or None
        Memory, disk and checkpoints of the compiled search; the other engines have none.
    """

    threads: int
    report: Report | None
    resources: Resources | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What an engine is asked.

    Attributes
    ----------
    clauses : tuple of Property
        Of which a verdict is wanted; all of the machine's by default.
    until : tuple of Property
        The search may end behind the depth at which all of these are violated, if there are any; depths and paths are
        those of the whole search.
    paths : tuple of Property or None
        Clauses whose path is wanted, should they be violated; of all when None.
    most_states : int or None
        Stop when so many are stored.
    most_steps : int
        To this depth a bounded engine looks for violations.
    coverage : bool
        Count over the states found which conjuncts were the first to be false.
    machine, constants
        The specification, or one with more assumptions, and its constants where these are more than the world's.
    """

    world: World
    clauses: tuple[Property, ...] = ()
    until: tuple[Property, ...] = ()
    paths: tuple[Property, ...] | None = None
    most_states: int | None = None
    most_steps: int = 30
    coverage: bool = False
    machine: Machine = field(default=TRANSACTIONAL_MESSAGES)
    constants: object = None

    @classmethod
    def of(
        cls,
        profile: str | Profile,
        faults: Iterable[str] = (),
        instance: str | Instance = "tiny",
        *,
        properties: Sequence[str] = (),
        until_violated: bool = False,
        **more: Any,
    ) -> Question:
        """The question of these names; see `World.of`, and `chosen_clauses` of the properties.

        Raises
        ------
        ModelCheckError
            When a name is unknown; names what there is, and what may have been meant.
        """
        clauses = chosen_clauses(properties, more.get("machine", TRANSACTIONAL_MESSAGES))
        until = clauses if until_violated else ()
        return cls(world=World.of(profile, faults, instance), clauses=clauses, until=until, **more)

    @property
    def asked(self) -> tuple[Property, ...]:
        """The clauses, all of the machine's where none is named."""
        return self.clauses or self.machine.clauses

    @property
    def c(self) -> object:
        """The constants that actions see."""
        return self.constants or self.world.constants

    def wants_path(self, clause: Property) -> bool:
        """Whether the path of a violation is asked for."""
        return self.paths is None or clause in self.paths
