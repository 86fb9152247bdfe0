"""What a defect is asked: whether it shows in a world where it is, and no more in one that is rid of it."""

from __future__ import annotations

from dataclasses import dataclass

from model_check.wording.faults import in_world


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The part that all questions have.

    Attributes
    ----------
    profile : str
        Where the defect is: a profile, possibly with switches turned (`model_check.instances.switches_of`).
    repaired_in : str
        The profile in which it is gone, on the same instance in the same environment; empty if there is none.
    instance : str
    faults : tuple of str
    shows : tuple of str
        Steps that make what is found one of this defect, in their order: names of actions, with all their parameters or
        with none, such as `put_back_immune_half` or `store_real_message h=2`; `write_op | buffer_op` is either.
    takes_long : bool
        The searches take more than 20 s: `make defects` makes them, the tests do not.
    """

    profile: str
    repaired_in: str = ""
    instance: str
    faults: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    takes_long: bool = False

    @property
    def subject(self) -> str:
        """The property that is asked about."""
        raise NotImplementedError

    @property
    def environment(self) -> str:
        """The faults as one word: `quiet` or `crash,lose_end`."""
        return ",".join(self.faults) or "quiet"

    @property
    def command(self) -> str:
        """The command that asks it of the affected profile."""
        faults = f" --faults {','.join(self.faults)}" if self.faults else ""
        asked = f"--profile {self.profile} --instance {self.instance}{faults} --property {self.subject}"
        return f"halfcheck check {asked}"

    def world(self, profile: str, instance: str = "") -> str:
        """Where it is asked, in words; the instance is its own unless another one is given."""
        return f"{profile} {in_world(self.faults)} on {instance or self.instance}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Search(Question):
    """The question whose answer is a defect.

    Attributes
    ----------
    clause : str
        The clause that is violated, such as `S1.immune_half`.
    also_in : tuple of str
        Other profiles in which the same clause is violated, on the same instance in the same environment.
    also_repaired_in : tuple of str
        Other profiles in which it is gone, by other repairs; `tests/model_check/test_switches.py` searches them.
    most_states : int or None
        Where the repaired profile's search is cut short.
    later_on : str
        Where it is not a profile that is rid of it but a larger instance that shows it later: the same profile breaks
        the clause there, too, with more steps.
    """

    clause: str
    shows: tuple[str, ...]
    also_in: tuple[str, ...] = ()
    also_repaired_in: tuple[str, ...] = ()
    most_states: int | None = None
    later_on: str = ""

    @property
    def subject(self) -> str:
        """The clause."""
        return self.clause

    @property
    def property_id(self) -> str:
        """The property of which the clause is a part."""
        return self.clause.partition(".")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class LassoQuestion(Question):
    """A defect as a run for ever, or why it is none; `shows` are steps of the cycle.

    Attributes
    ----------
    instance : str
        It forgets, and its runs are endless: a name, or a file with its path in the repository.
    response : str
        What never comes: such as `P8.halves`.
    vanishes : str
        Why no run for ever shows the defect, in a sentence; the response holds then. Empty where there is a lasso.
    """

    instance: str = "endless"
    response: str
    vanishes: str = ""

    @property
    def subject(self) -> str:
        """The response."""
        return self.response
