"""Questions to an engine about a world, and the means by which it searches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from model_check.clauses import chosen_clauses
from model_check.world import Profile, World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from model_check.explicit.exploration import Report
    from model_check.explicit.state_store.resources import Resources
    from spec.constants import Instance
    from spec.language import Machine, Property


class Means(TypedDict, total=False):
    """How an engine searches, with no influence on what it finds."""

    threads: int
    """Of the compiled search; no number and no path depends on it."""
    report: Report | None
    """Called now and then with how far the search is."""
    resources: Resources | None
    """Memory, disk and checkpoints of the compiled search; the other engines have none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question to an engine."""

    world: World
    clauses: tuple[Property, ...] = ()
    """Of which a verdict is wanted; all of the machine's by default."""
    until: tuple[Property, ...] = ()
    """The search may end behind the depth at which all of these are violated, if there are any; depths and paths are
    those of the whole search."""
    paths: tuple[Property, ...] | None = None
    """Clauses whose path is wanted, should they be violated; of all when None."""
    most_states: int | None = None
    """Stop when so many are stored."""
    most_steps: int = 30
    """To this depth a bounded engine looks for violations."""
    coverage: bool = False
    """Count over the states found which conjuncts were the first to be false."""
    given: Machine | None = None
    """A machine with more assumptions, instead of the world's."""
    constants: object = None
    """The constants of the machine where these are more than the world's."""

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

        Raises `ModelCheckError`, which names what there is, and what may have been meant, when a name is unknown.
        """
        clauses = chosen_clauses(properties, more.get("machine", TRANSACTIONAL_MESSAGES))
        until = clauses if until_violated else ()
        return cls(world=World.of(profile, faults, instance), clauses=clauses, until=until, **more)

    @property
    def asked(self) -> tuple[Property, ...]:
        """The clauses, all of the machine's where none is named."""
        return self.clauses or self.machine.clauses

    @property
    def machine(self) -> Machine:
        """The specification that is searched."""
        return self.given or self.world.machine

    @property
    def c(self) -> object:
        """The constants that actions see."""
        return self.constants or self.world.constants

    def wants_path(self, clause: Property) -> bool:
        """Whether the path of a violation is asked for."""
        return self.paths is None or clause in self.paths
