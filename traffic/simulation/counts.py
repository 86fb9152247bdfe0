"""The counts of a run, which can be added up over independent replications, and written as plain data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from math import exp, log
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

_PER_FACTOR_E: Final = 100
"""Cells of a histogram from one value to e times that: each is one per cent wide."""
_LEAST: Final = 1e-3
_NOTHING: Final = -1_000_000

MEASURES: Final = (
    "doubled",
    "lost",
    "discarded",
    "delivered_after_rollback",
    "delivered_after_discard",
    "checked_needlessly",
)
"""What befalls transactions, split by cause."""


@dataclass(slots=True)
class Histogram:
    """How often which value came, to one per cent of the value.

    Examples
    --------
    >>> waits = Histogram()
    >>> for value in range(1, 101):
    ...     waits.add(value)
    >>> round(waits.quantile(0.5)), round(waits.quantile(0.99)), waits.total
    (50, 99, 100)
    """

    cells: Counter[int] = field(default_factory=Counter)
    total: int = 0
    sum: float = 0.0
    most: float = 0.0

    def add(self, value: float) -> None:
        """Count a value, 0 or more."""
        self.cells[int(log(value) * _PER_FACTOR_E) if value > _LEAST else _NOTHING] += 1
        self.total += 1
        self.sum += value
        if value > self.most:
            self.most = value

    def quantile(self, share: float) -> float:
        """The value below which a share of all lies; 0 where nothing was counted."""
        wanted, seen = share * self.total, 0
        for cell in sorted(self.cells):
            seen += self.cells[cell]
            if seen >= wanted:
                return (
                    0.0
                    if cell == _NOTHING
                    else min(exp((cell + (0.5 if cell >= 0 else -0.5)) / _PER_FACTOR_E), self.most)
                )
        return 0.0

    @property
    def mean(self) -> float:
        """The mean of all values; 0 where nothing was counted."""
        return self.sum / self.total if self.total else 0.0

    def __add__(self, other: Histogram) -> Histogram:
        return Histogram(
            self.cells + other.cells, self.total + other.total, self.sum + other.sum, max(self.most, other.most)
        )

    def to_json(self) -> dict[str, Any]:
        """As plain data; :meth:`of_json` reads it."""
        cells = {str(cell): count for cell, count in sorted(self.cells.items())}
        return {"total": self.total, "sum": self.sum, "most": self.most, "cells": cells}

    @classmethod
    def of_json(cls, given: Mapping[str, Any]) -> Self:
        """The histogram of :meth:`to_json`."""
        cells = Counter({int(cell): count for cell, count in given["cells"].items()})
        return cls(cells, given["total"], given["sum"], given["most"])


@dataclass(slots=True)
class TrafficCounts:
    """What a run has counted; the sum of two is that of both together.

    Times are milliseconds of virtual time, sizes bytes.
    """

    transactions: int = 0
    """Transactions that were begun: a producer was there to send a half."""
    without_producer: int = 0
    """Transactions that nobody could begin, as all producers were away."""
    acknowledged: int = 0
    """Halves of which the producer knows that they are stored."""
    sends_failed: int = 0
    """Transactions whose half could not be sent in all attempts, as the producer knows it."""
    sent_again: int = 0
    """Attempts behind the first."""
    twin_halves: int = 0
    """Halves that were stored beside one of the same message."""
    decided_commit: int = 0
    """Local transactions that ended in a commit."""
    delivered: int = 0
    """Messages that the consumer got, each transaction once."""
    open_at_end: int = 0
    """Transactions that were under way when the simulation ended."""
    checks: int = 0
    """Check requests that the broker sent."""
    unasked: int = 0
    """Halves that were put back for a check when no producer was there to be asked."""
    put_back_for_immunity: int = 0
    ends_lost: int = 0
    """END_TRANSACTIONs that never arrived."""
    ends_refused: int = 0
    """END_TRANSACTIONs that the broker refused."""
    rounds: int = 0
    body_bytes: int = 0
    """Of each transaction's message, once."""
    log_bytes: int = 0
    """By which the commit log grew."""
    crashes: int = 0
    power_losses: int = 0
    restarts: int = 0
    deployments: int = 0
    broker_pauses: int = 0
    producer_pauses: int = 0
    disk_stalls: int = 0
    arriving_ms: float = 0.0
    """The time in which transactions were begun."""
    simulated_ms: float = 0.0
    """That, and the time until the last of them was over."""
    causes: dict[str, Counter[str]] = field(default_factory=lambda: {measure: Counter() for measure in MEASURES})
    """For each of `MEASURES`, how many transactions it befell, by cause: an id of the catalogue, or words; of needless
    checks how many checks they were."""
    commit_to_delivery_ms: Histogram = field(default_factory=Histogram)
    """From the commit of the local transaction until the consumer has the message, of each message's first delivery."""
    crash_to_settlement_ms: Histogram = field(default_factory=Histogram)
    """Of each half that was open when the broker crashed: from there until it was settled or discarded."""
    half_queue_depth: Histogram = field(default_factory=Histogram)
    """How many halves stood before each check round."""

    def befell(self, measure: str, cause: str) -> None:
        """Count one of `MEASURES` for a cause."""
        self.causes[measure][cause] += 1

    def total(self, measure: str) -> int:
        """How many one of `MEASURES` befell, whatever the cause."""
        return self.causes[measure].total()

    def __add__(self, other: TrafficCounts) -> TrafficCounts:
        summed: dict[str, Any] = {}
        for each in fields(self):
            mine, its = getattr(self, each.name), getattr(other, each.name)
            both = (
                {measure: mine[measure] + its[measure] for measure in MEASURES} if each.name == "causes" else mine + its
            )
            summed[each.name] = both
        return TrafficCounts(**summed)

    def to_json(self) -> dict[str, Any]:
        """As plain data, each field under its name; :meth:`of_json` reads it."""
        content: dict[str, Any] = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, Histogram):
                value = value.to_json()
            elif each.name == "causes":
                value = {measure: dict(sorted(value[measure].items())) for measure in MEASURES}
            content[each.name] = value
        return content

    @classmethod
    def of_json(cls, given: Mapping[str, Any]) -> Self:
        """The counts of :meth:`to_json`."""
        own = cls()
        for each in fields(own):
            value, now = given[each.name], getattr(own, each.name)
            if isinstance(now, Histogram):
                value = Histogram.of_json(value)
            elif each.name == "causes":
                value = {measure: Counter(value[measure]) for measure in MEASURES}
            setattr(own, each.name, value)
        return own
