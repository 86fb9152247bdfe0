"""The answer to "how often?": each measure per million transactions and per day, split by cause, and the times."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from traffic.rates.intervals import RateEstimate, batch_mean, rate_of, share_of
from traffic.simulation.counts import MEASURES, Histogram, TrafficCounts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MILLION: Final = 1_000_000
_SECONDS_A_DAY: Final = 86_400
_NOT_SHARES: Final = ("checked_needlessly",)
"""What may befall a transaction more than once."""

QUANTILES: Final = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}
TIMES: Final = ("commit_to_delivery_ms", "crash_to_settlement_ms", "half_queue_depth")
MISHAPS: Final = (
    "crashes",
    "power_losses",
    "restarts",
    "deployments",
    "broker_pauses",
    "producer_pauses",
    "disk_stalls",
)


@dataclass(frozen=True, slots=True)
class Rate:
    """One measure, or one cause of it."""

    counted: int
    each: RateEstimate | None
    """For each transaction; None where there was none."""
    per_second: float
    """Transactions a second."""

    @property
    def per_million(self) -> RateEstimate | None:
        """For a million transactions."""
        return None if self.each is None else self.each.times(MILLION)

    @property
    def per_day(self) -> RateEstimate | None:
        """For a day at the workload's rate."""
        return None if self.each is None else self.each.times(self.per_second * _SECONDS_A_DAY)


@dataclass(frozen=True, slots=True)
class MeasureRates:
    """One measure and its causes, the most frequent first."""

    measure: str
    whole: Rate
    causes: tuple[tuple[str, Rate], ...]


@dataclass(frozen=True, slots=True)
class Quantiles:
    """One kind of time, or of depth: its quantiles, with intervals where the replications say something of them."""

    name: str
    counted: int
    mean: float
    at: dict[str, tuple[float, RateEstimate | None] | None]
    """By the quantile's name; None where too few were counted for it."""


class TrafficAnswer:
    """What the counts of replications say.

    Attributes
    ----------
    total
        The sum of all counts.
    measures
        What befalls transactions, in the order of `MEASURES`.
    times
        Of `TIMES`.
    """

    def __init__(self, replications: Sequence[TrafficCounts], per_second: float) -> None:
        self.per_second = per_second
        self.replications = tuple(replications)
        self.total = sum(replications[1:], replications[0])
        self._transactions = [counts.transactions for counts in replications]
        self.measures = tuple(self._measure(measure) for measure in MEASURES)
        self.times = tuple(self._times(name) for name in TIMES)

    @property
    def checks_per_transaction(self) -> RateEstimate | None:
        """Check requests for each transaction."""
        return rate_of([counts.checks for counts in self.replications], self._transactions)

    @property
    def write_amplification(self) -> RateEstimate | None:
        """Bytes of the commit log for each byte of a message's body."""
        own = [counts.log_bytes / counts.body_bytes for counts in self.replications if counts.body_bytes]
        whole = self.total.log_bytes / self.total.body_bytes if self.total.body_bytes else 0.0
        return batch_mean(own, whole)

    def rates(self, measure: str) -> MeasureRates:
        """One of the measures."""
        return self.measures[MEASURES.index(measure)]

    def _measure(self, measure: str) -> MeasureRates:
        causes = self.total.causes[measure]
        split = tuple(
            (cause, self._rate(measure, [counts.causes[measure][cause] for counts in self.replications]))
            for cause, _ in sorted(causes.items(), key=lambda item: (-item[1], item[0]))
        )
        return MeasureRates(measure, self._rate(measure, [each.total(measure) for each in self.replications]), split)

    def _rate(self, measure: str, counted: Sequence[int]) -> Rate:
        estimate = rate_of if measure in _NOT_SHARES else share_of
        return Rate(sum(counted), estimate(counted, self._transactions), self.per_second)

    def _times(self, name: str) -> Quantiles:
        whole: Histogram = getattr(self.total, name)
        own: list[Histogram] = [getattr(counts, name) for counts in self.replications]
        at: dict[str, tuple[float, RateEstimate | None] | None] = {}
        for quantile, share in QUANTILES.items():
            least = round(1 / (1 - share))
            if whole.total < least:
                at[quantile] = None
                continue
            value = whole.quantile(share)
            values = [each.quantile(share) for each in own if each.total >= least]
            at[quantile] = value, batch_mean(values, value) if len(values) == len(own) else None
        return Quantiles(name, whole.total, whole.mean, at)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        numbers = {
            each.name: value
            for each in fields(self.total)
            if isinstance(value := getattr(self.total, each.name), int | float)
        }
        return {
            "replications": len(self.replications),
            "per_second": self.per_second,
            "counts": numbers,
            "measures": {rates.measure: _measure_to_json(rates) for rates in self.measures},
            "times": {
                times.name: {
                    "counted": times.counted,
                    "mean": times.mean,
                    **{name: None if found is None else _quantile_to_json(found) for name, found in times.at.items()},
                }
                for times in self.times
            },
            "checks_per_transaction": _estimate_to_json(self.checks_per_transaction),
            "write_amplification": _estimate_to_json(self.write_amplification),
        }


def _measure_to_json(rates: MeasureRates) -> dict[str, Any]:
    return {**_rate_to_json(rates.whole), "causes": {cause: _rate_to_json(rate) for cause, rate in rates.causes}}


def _rate_to_json(rate: Rate) -> dict[str, Any]:
    return {
        "counted": rate.counted,
        "per_million": _estimate_to_json(rate.per_million),
        "per_day": _estimate_to_json(rate.per_day),
    }


def _quantile_to_json(found: tuple[float, RateEstimate | None]) -> Mapping[str, Any]:
    value, interval = found
    return {"value": value, "interval": None if interval is None else [interval.low, interval.high]}


def _estimate_to_json(estimate: RateEstimate | None) -> Mapping[str, Any] | None:
    if estimate is None:
        return None
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high, "is_bound": estimate.is_bound}
