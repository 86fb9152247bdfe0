"""What one way of judging finds of one property in one run."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Found:
    """How many traces break the property; the first, and the shortest by the events up to the violation.

    Attributes
    ----------
    violations
        Traces that break the property.
    first
        The lowest number of such a trace; None if there is none.
    shortest, events
        The trace that breaks it after the fewest events, of several that with the lowest number, and after how many.
    """

    violations: int = 0
    first: int | None = None
    shortest: int | None = None
    events: int | None = None

    def __str__(self) -> str:
        """In words.

        Examples
        --------
        >>> str(Found(2, 4, 9, 12))
        '2 violating traces (the first: 4; the shortest: 9 with 12 events)'
        """
        shortest = "" if self.shortest is None else f"; the shortest: {self.shortest} with {self.events} events"
        return f"{self.violations} violating traces (the first: {self.first}{shortest})"


Verdicts = dict[tuple[int, str], Found]
"""Of each run, by its place, and each property."""
