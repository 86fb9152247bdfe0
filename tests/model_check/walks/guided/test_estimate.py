"""Estimates of a share from independent populations."""

from __future__ import annotations

from math import exp, gamma, pi, sqrt

import numpy as np
import pytest

from model_check.walks.guided.account import NORMAL_95, STUDENT_95, estimate


def within(t: float, degrees: int) -> float:
    """The chance that Student's t is between -t and t, by Simpson's rule."""
    x = np.linspace(0, t, 20_001)
    density = (1 + x**2 / degrees) ** (-(degrees + 1) / 2)
    density *= gamma((degrees + 1) / 2) / (sqrt(degrees * pi) * gamma(degrees / 2))
    weights = np.full(len(x), 2.0)
    weights[1::2] = 4.0
    weights[[0, -1]] = 1.0
    return float(2 * (density @ weights) * (x[1] - x[0]) / 3)


def test_the_table_is_that_of_student() -> None:
    for degrees, t in enumerate(STUDENT_95, start=1):
        assert within(t, degrees) == pytest.approx(0.95, abs=1e-4)
    assert within(NORMAL_95, 300) == pytest.approx(0.95, abs=1e-3)


def test_an_interval_is_around_the_mean_on_the_scale_of_the_logarithm() -> None:
    found = estimate([0.01, 0.03])
    assert (found.share, found.populations) == (0.02, 2)
    assert found.standard_error == pytest.approx(0.01)
    low, high = found.interval
    assert sqrt(low * high) < 0.02 or high == 1.0
    assert low == pytest.approx(0.02 * exp(-12.706 * 0.5))
    assert estimate([0.02, 0.02, 0.02]).interval == (0.02, 0.02)


@pytest.mark.parametrize("shares", [[0.5], [0.0, 0.0, 0.0]])
def test_where_nothing_can_be_told_the_interval_is_everything(shares: list[float]) -> None:
    assert estimate(shares).interval == (0.0, 1.0)


def test_it_covers_what_was_estimated() -> None:
    draws, held = np.random.default_rng(8), 0
    for _ in range(1_000):
        low, high = estimate(draws.normal(0.02, 0.002, 12).tolist()).interval
        held += low <= 0.02 <= high
    assert 930 <= held <= 970
