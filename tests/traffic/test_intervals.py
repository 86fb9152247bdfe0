"""Intervals hold what they say: exact tails where counts are independent, and their share of clustered draws."""

from __future__ import annotations

from math import comb
from random import Random

import pytest

from traffic.rates.intervals import batch_mean, rate_of, share_of


def tail(trials: int, share: float, least: int) -> float:
    """The probability of so many or more."""
    return sum(comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in range(least, trials + 1))


def test_the_share_of_one_replication_is_the_exact_interval_of_clopper_and_pearson() -> None:
    found = share_of([7], [50])
    assert found is not None
    assert tail(50, found.low, 7) == pytest.approx(0.025)
    assert 1 - tail(50, found.high, 8) == pytest.approx(0.025)


def test_what_was_never_seen_is_less_than_three_in_all() -> None:
    found = share_of([0] * 10, [100_000] * 10)
    assert found is not None
    assert found.is_bound
    assert (1 - found.high) ** 1_000_000 == pytest.approx(0.05)
    assert found.high == pytest.approx(3e-6, rel=2e-3)


def test_nothing_simulated_has_no_share() -> None:
    assert share_of([], []) is rate_of([0], [0]) is batch_mean([1.0], 1.0) is None


@pytest.mark.parametrize("clustered", [False, True])
def test_nineteen_of_twenty_intervals_hold_the_share_also_of_clustered_draws(clustered: bool) -> None:
    random, held, plain_held, share = Random(7), 0, 0, 0.02
    for _ in range(400):
        # in two of five replications, on the average, a crash befalls a twentieth of the transactions
        counts = []
        for _ in range(20):
            own = (0.05 if random.random() < 0.4 else 0.0) if clustered else share
            counts.append(sum(random.random() < own for _ in range(200)))
        found, plain = share_of(counts, [200] * 20), share_of([sum(counts)], [4000])
        assert found is not None
        assert plain is not None
        held += found.low <= share <= found.high
        plain_held += plain.low <= share <= plain.high
    assert held >= 0.88 * 400
    assert (plain_held < 0.6 * 400) == clustered, "without the replications' spread, clusters are taken for certainty"
