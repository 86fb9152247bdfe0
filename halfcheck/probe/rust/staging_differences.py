"""Stages differences on a broker that was started for them, whichever of the two it is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from itertools import groupby
from typing import TYPE_CHECKING, Protocol

from halfcheck.probe.rust.configuration import SETTINGS
from halfcheck.probe.rust.difference import Difference, Staged, staged
from halfcheck.probe.rust.stage import Stage
from wire.probe.player import Operator

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wire.client.channel import Address


class Broker(Operator, Protocol):
    """One that runs, and that this process may end."""

    @property
    def address(self) -> Address:
        """Where it listens."""


Starts = Callable[[Mapping[str, str]], AbstractContextManager[Broker]]
"""Gives a broker with settings, which runs while the context lasts."""


def stage_all(differences: Sequence[Difference], starts: Starts, name: str) -> Iterator[Staged]:
    """Stage differences, on as few brokers as their settings allow; what spoils a broker comes last.

    Parameters
    ----------
    name
        What the broker is called in the lines on stderr.

    Raises
    ------
    RealBrokerError
        A broker does not start.
    """
    by_settings = sorted(differences, key=lambda each: (each.settings, each.is_last))
    for settings, group in groupby(by_settings, key=lambda each: each.settings):
        told = {**SETTINGS, **dict(settings)}
        with starts(told) as broker:
            for difference in group:
                stage = Stage(broker.address, longest_s(told), broker)
                try:
                    result = staged(difference, stage)
                finally:
                    stage.close()
                seen = sum(step.differs for step in result.steps)
                print(f"{name}: {difference.name}: {seen} of {len(result.steps)} steps differ", file=sys.stderr)
                yield result


def longest_s(settings: Mapping[str, str]) -> float:
    """How many seconds a broker with such settings may take to what it does by itself: at most until a discard."""
    timeout, interval, batch = (
        int(settings[name]) for name in ("transactionTimeOut", "transactionCheckInterval", "transactionOpBatchInterval")
    )
    rounds = 2 * int(settings["transactionCheckMax"]) + 3
    return (timeout + rounds * interval + 2 * batch) / 1_000 + 3
