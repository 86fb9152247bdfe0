"""The question of endless runs that a defect is asked: whether it keeps something from ever happening."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LassoQuestion:
    """A defect as a run for ever, or why it is none.

    Attributes
    ----------
    profile : str
        Where the defect is: a profile, possibly with switches turned.
    repaired_in : str
        The profile in which the response holds, on the same instance in the same environment; empty where there is no
        lasso.
    instance : str
        It forgets, and its runs are endless: a name, or a file with its path in the repository.
    faults : tuple of str
    response : str
        What never comes: such as `P8.halves`.
    shows : tuple of str
        Steps of the cycle, in their order round it: names of actions, with all their parameters or with none.
    vanishes : str
        Why no run for ever shows the defect, in a sentence; the response holds then. Empty where there is a lasso.
    takes_long : bool
        `make defects` makes the searches, and `make sweeps`.
    """

    profile: str
    repaired_in: str = ""
    instance: str = "endless"
    faults: tuple[str, ...] = ()
    response: str
    shows: tuple[str, ...] = ()
    vanishes: str = ""
    takes_long: bool = False

    @property
    def environment(self) -> str:
        """The faults as one word: `quiet` or `crash,lose_end`."""
        return ",".join(self.faults) or "quiet"

    @property
    def command(self) -> str:
        """The command that asks it of the affected profile."""
        faults = f" --faults {','.join(self.faults)}" if self.faults else ""
        asked = f"--profile {self.profile} --instance {self.instance}{faults} --property {self.response}"
        return f"halfcheck check {asked}"
