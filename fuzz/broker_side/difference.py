"""An answer of the broker that is not the one that the specification expects."""

from __future__ import annotations


class Difference(AssertionError):  # noqa: N818 (it is a finding, and reads as one)
    """What was answered, by its name, what was expected, and what came."""

    def __init__(self, variable: str, expected: str, given: str) -> None:
        super().__init__(variable, expected, given)
        self.found = variable, expected, given


def expect(variable: str, expected: object, given: object) -> None:
    """Raise `Difference` if an answer, as text, is not the expected one."""
    if str(expected) != str(given):
        raise Difference(variable, str(expected), str(given))
