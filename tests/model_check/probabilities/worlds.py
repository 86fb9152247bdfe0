"""What the tests of probabilities share: chains of small worlds, made once a worker."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from model_check.probabilities.chain import Chain, chain_of
from model_check.probabilities.weights import usual
from model_check.world import Environment, World

if TYPE_CHECKING:
    from model_check.probabilities.weights import Weights

WHOLE = 200_000
"""More states than tiny has in the worlds of the tests."""


@cache
def chain(profile: str, environment: str, most: int = WHOLE) -> Chain:
    return chain_with(profile, environment, usual(), most)


def chain_with(profile: str, environment: str, weights: Weights, most: int = WHOLE) -> Chain:
    return chain_of(World.of(profile, Environment.named(environment), "tiny"), weights, most)
