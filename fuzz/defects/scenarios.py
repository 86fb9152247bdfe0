"""All scenarios by the id of their defect."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from fuzz.defects import (
    aborted_rounds,
    acting_slaves,
    clients,
    compressed_bodies,
    counts_of_halves,
    queues,
    records,
    threads_and_channels,
    waiting_halves,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fuzz.defects.scenario import Scenario

CHAPTERS: Final = (
    aborted_rounds,
    acting_slaves,
    clients,
    compressed_bodies,
    counts_of_halves,
    queues,
    records,
    threads_and_channels,
    waiting_halves,
)


@cache
def scenarios() -> Mapping[str, Scenario]:
    """The scenarios in the order of their ids, one a defect.

    Examples
    --------
    >>> scenarios()["A06"].affected
    '4.5.1'
    """
    found = [scenario for chapter in CHAPTERS for scenario in chapter.SCENARIOS]
    return {scenario.identifier: scenario for scenario in sorted(found, key=lambda scenario: scenario.identifier)}
