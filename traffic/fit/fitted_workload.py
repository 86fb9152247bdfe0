"""Estimates of a workload's figures from what a store shows, each with its standard error.

A log-normal time or size is fitted by the mean and the deviation of its logarithms (maximum likelihood). The commits
that producers' own END_TRANSACTIONs made have a time in all releases, whether a check came before or not; so nothing
is cut off. Of what checks ended, the number of checks until then is geometric and cut off at ``transactionCheckMax``:
what stays open behind that many UNKNOWNs is told from what hangs by that.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import exp, log, sqrt
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Final

from scipy.optimize import brentq

from traffic.errors import BadWorkloadError

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence
    from pathlib import Path

    from traffic.fit.seen_traffic import SeenTraffic

LEAST_TRANSACTIONS: Final = 200
LEAST_COMMITS: Final = 100
"""With 100 the standard error of a p99 is a fifth to a half of it, as deviations of a local transaction go."""
_Z99: Final = 2.3263478740408408
_EVEN_BELOW: Final = 0.5
"""Waits of a Poisson stream have a deviation of their mean; below half of it they are called constant."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A figure and its standard error, in the same unit; an error of 0 for what was counted and not estimated."""

    value: float
    error: float


@dataclass(frozen=True, slots=True)
class FittedLogNormal:
    """The percentiles of a log-normal distribution, and of how many values they are."""

    p50: Fitted
    p99: Fitted
    count: int


@dataclass(frozen=True, slots=True)
class FittedWorkload:
    """What a store says of a workload; times are milliseconds."""

    seen: SeenTraffic
    per_second: Fitted
    is_poisson: bool
    body_bytes: FittedLogNormal
    local_ms: FittedLogNormal
    rollback: Fitted
    unknown: Fitted
    hangs: Fitted
    unknown_answers: Fitted | None
    """The share of checks that get UNKNOWN; None where no check ended anything."""


def fitted_workload(seen: SeenTraffic, store: Path) -> FittedWorkload:
    """Fit a workload.

    Raises
    ------
    BadWorkloadError
        The store is too small; says how many transactions are needed.
    """
    commits = len(seen.local_ms)
    if seen.transactions < LEAST_TRANSACTIONS or commits < LEAST_COMMITS:
        message = (
            f"{store}: {seen.transactions} transactions, {commits} of them committed by their producer: too few to fit "
            f"a workload, which takes {LEAST_TRANSACTIONS} and {LEAST_COMMITS}; take a store of more, or write the "
            "workload by hand (--example)"
        )
        raise BadWorkloadError(message)
    stored, count = sorted(seen.stored_at), seen.transactions
    span_ms = max(1, stored[-1] - stored[0])
    waits = [later - earlier for earlier, later in pairwise(stored)]
    per_second = 1_000 * (count - 1) / span_ms
    is_poisson = pstdev(waits) > _EVEN_BELOW * fmean(waits)
    unknown_answers, asked, hanging = _of_checks(seen.answered_at, seen.unanswered_after)
    hangs = _share(hanging, count)
    running = count - hanging
    return FittedWorkload(
        seen=seen,
        per_second=Fitted(per_second, per_second / sqrt(count) if is_poisson else 0.0),
        is_poisson=is_poisson,
        body_bytes=_log_normal([float(size) for size in seen.body_bytes]),
        local_ms=_log_normal(seen.local_ms),
        rollback=_share(seen.rolled_back, running),
        unknown=_share(asked, running),
        hangs=hangs,
        unknown_answers=unknown_answers,
    )


def _log_normal(values: Sequence[float]) -> FittedLogNormal:
    logs, count = [log(max(value, 1e-3)) for value in values], len(values)
    mean, deviation = fmean(logs), pstdev(logs)
    p50, p99 = exp(mean), exp(mean + _Z99 * deviation)
    spread = deviation / sqrt(count)
    return FittedLogNormal(Fitted(p50, p50 * spread), Fitted(p99, p99 * spread * sqrt(1 + _Z99 * _Z99 / 2)), count)


def _share(part: float, whole: float) -> Fitted:
    share = min(1.0, part / whole) if whole > 0 else 0.0
    return Fitted(share, sqrt(share * (1 - share) / whole) if whole > 0 else 0.0)


def _of_checks(answered_at: Counter[int], unanswered_after: Counter[int]) -> tuple[Fitted | None, float, float]:
    """The share of UNKNOWN among answers; how many transactions were left to checks, and how many hang."""
    settled, left = answered_at.total(), unanswered_after.total()
    if not settled:
        return None, 0.0, float(left)
    most = max((*answered_at, *unanswered_after))
    mean = sum(check * number for check, number in answered_at.items()) / settled
    share = _geometric_share(mean, most)
    error = sqrt(max(share, 1 / settled) * (1 - share) / (settled * max(mean, 1.0)))
    silent = min(float(left), settled * share**most / (1 - share**most))
    return Fitted(share, error), settled + silent, left - silent


def _geometric_share(mean: float, most: int) -> float:
    """The share of failures of a geometric number of tries whose mean is known, cut off behind so many.

    Examples
    --------
    >>> round(_geometric_share(1.0, 4), 3), round(_geometric_share(1.25, 50), 3)
    (0.0, 0.2)
    """

    def excess(share: float) -> float:
        weights = [share**check for check in range(most)]
        return sum((check + 1) * weight for check, weight in enumerate(weights)) / sum(weights) - mean

    if mean <= 1.0 or most < 2:
        return 0.0
    limit = 1 - 1e-6
    return limit if excess(limit) <= 0 else float(brentq(excess, 0.0, limit))
