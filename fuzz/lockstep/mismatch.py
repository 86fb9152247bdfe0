"""The first difference between the specification and the broker, in one line."""

from __future__ import annotations


class Mismatch(AssertionError):  # noqa: N818 (it is a finding, and reads as one)
    """The specification and the broker disagree.

    Attributes
    ----------
    number : int
        Place of the step in the script, from 1; a question that the broker was asked counts as the step before it.
    doing : str
        The step, or what the broker was asked.
    variable : str
        What differs: a slot of the state as `round.cursor` or `half[2].check_times`, or a part of an answer.
    spec, broker : str
        Its two values.
    """

    exit_code = 12

    def __init__(self, number: int, doing: str, variable: str, spec: str, broker: str) -> None:
        super().__init__(f"step {number}, {doing}: {variable} is {spec} in the specification, {broker} in the broker")
        self.number = number
        self.doing = doing
        self.variable = variable
        self.spec = spec
        self.broker = broker
