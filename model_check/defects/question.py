"""What a defect is asked: whether it shows in a world where it is, and no more in one that is rid of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from model_check.clauses import name_of

if TYPE_CHECKING:
    from model_check.world import Profile, World
    from spec.constants import Instance
    from spec.language import Property, Response


@dataclass(frozen=True, slots=True, kw_only=True)
class DefectQuestion:
    """The part that all questions about defects have.

    Attributes
    ----------
    world : World
        Where the defect is. In the catalogue, `profile`, `instance` and `faults`.
    repaired_in : Profile or None
        The profile in which it is gone, on the same instance in the same environment, if there is one.
    shows : tuple of str
        Steps that make what is found one of this defect, in their order: names of actions, with all their parameters or
        with none, such as `put_back_immune_half` or `store_real_message h=2`; `write_op | buffer_op` is either.
    takes_long : bool
        The searches take more than 20 s: `make defects` makes them, the tests do not.
    """

    world: World
    repaired_in: Profile | None = None
    shows: tuple[str, ...] = ()
    takes_long: bool = False

    @property
    def subject(self) -> str:
        """The name of the property that is asked about."""
        raise NotImplementedError

    @property
    def command(self) -> str:
        """The command that asks it of the affected profile."""
        return f"halfcheck check {self.world.options} --property {self.subject}"

    @property
    def other_world(self) -> World | None:
        """Where the second search is made, if there is one: in the profile that is rid of it."""
        return None if self.repaired_in is None else self.world.in_profile(self.repaired_in)


@dataclass(frozen=True, slots=True, kw_only=True)
class DefectSearch(DefectQuestion):
    """The question whose answer is a defect.

    Attributes
    ----------
    clause : Property
        The clause that is violated.
    also_in : tuple of Profile
        Other profiles in which the same clause is violated, on the same instance in the same environment.
    also_repaired_in : tuple of Profile
        Other profiles in which it is gone, by other repairs; `tests/model_check/test_switches.py` searches them.
    most_states : int or None
        Where the repaired profile's search is cut short.
    later_on : Instance or None
        Where it is not a profile that is rid of it but a larger instance that shows it later: the same profile breaks
        the clause there, too, with more steps.
    """

    clause: Property
    shows: tuple[str, ...]
    also_in: tuple[Profile, ...] = ()
    also_repaired_in: tuple[Profile, ...] = ()
    most_states: int | None = None
    later_on: Instance | None = None

    @property
    def subject(self) -> str:
        """The name of the clause."""
        return name_of(self.clause)

    @property
    def other_world(self) -> World | None:
        """Where the second search is made, if there is one: where it is repaired, or where it shows later."""
        if self.repaired_in is not None:
            return self.world.in_profile(self.repaired_in)
        return None if self.later_on is None else self.world.on(self.later_on)


@dataclass(frozen=True, slots=True, kw_only=True)
class LassoSearch(DefectQuestion):
    """A defect as a run for ever, or why it is none; `shows` are steps of the cycle.

    The instance forgets, and its runs are endless: a name, or a file with its path in the repository; `endless` if none
    is given.

    Attributes
    ----------
    response : Response
        What never comes: such as `P8.halves`.
    vanishes : str
        Why no run for ever shows the defect, in a sentence; the response holds then. Empty where there is a lasso.
    """

    response: Response
    vanishes: str = ""

    @property
    def subject(self) -> str:
        """The name of the response."""
        return self.response.name
