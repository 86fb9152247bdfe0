"""Rounds that repeat, folded: a schedule of fifteen equal rounds reads as the first and how many more there are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from model_check.broker_conf.timed_path import ROUND_BEGAN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.broker_conf.words import Told

LEAST_FOLDED = 2
"""Fewer rounds like the one before are told in full."""


@dataclass(frozen=True, slots=True)
class FoldedRounds:
    """Rounds that are like the one told before them.

    Attributes
    ----------
    count : int
    milliseconds : int
        When the last of them begins.
    steps : tuple of Told
        All of their steps.
    """

    count: int
    milliseconds: int
    steps: tuple[Told, ...]

    @property
    def words(self) -> str:
        """What stands for them."""
        return f"{self.count} more rounds like this, up to here"


def folded(told: Sequence[Told]) -> list[Told | FoldedRounds]:
    """The steps, with each run of rounds that only differ in their numbers folded behind the first of them.

    A round goes from its begin to the next one's; two are alike when the same happens in them at the same distances.
    """
    starts = [number for number, step in enumerate(told) if step.step.action.event == ROUND_BEGAN]
    if not starts:
        return list(told)
    ends = [*starts[1:], len(told)]
    rounds = [tuple(told[start:end]) for start, end in zip(starts, ends, strict=True)]
    shown: list[Told | FoldedRounds] = list(told[: starts[0]])
    for _, alike in groupby(rounds, key=_shape):
        first, *more = alike
        shown.extend(first)
        if len(more) >= LEAST_FOLDED:
            shown.append(FoldedRounds(len(more), more[-1][0].milliseconds, tuple(s for one in more for s in one)))
        else:
            shown.extend(step for one in more for step in one)
    return shown


def _shape(steps: Sequence[Told]) -> tuple[tuple[int, str], ...]:
    """What happens in a round, and how long after its begin; numbers of halves and checks aside."""
    began = steps[0].milliseconds
    return tuple((step.milliseconds - began, re.sub(r"\d+", "n", step.words)) for step in steps)
