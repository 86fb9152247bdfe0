"""Fingerprints that stand for states: the same answers, and a probability that can be believed."""

from __future__ import annotations

from math import expm1

import pytest

from model_check.explicit.exploration import expected_collisions
from model_check.explicit.search import Exploration, explore
from model_check.explicit.state_store.resources import Resources
from model_check.verdicts.table import table_of_verdicts
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def crashing(instance: str, bits: int | None = None, threads: int = 1) -> Exploration:
    """All states of 5.3.3 with crashes, or as many fingerprints of them."""
    constants = World.of("5.3.3", ["crash"], instance).constants
    return explore(
        TRANSACTIONAL_MESSAGES, constants, threads=threads, resources=Resources(fingerprint_bits=bits) if bits else None
    )


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("profile", ["4.5.1", "5.3.3"])
def test_on_what_fits_they_agree_with_the_exact_search(profile: str, threads: int) -> None:
    constants = World.of(profile, ["crash"], "tiny").constants
    exact = explore(TRANSACTIONAL_MESSAGES, constants)
    by_fingerprints = explore(
        TRANSACTIONAL_MESSAGES, constants, threads=threads, resources=Resources(fingerprint_bits=64)
    )
    assert exact.collision_probability is None
    assert by_fingerprints.collision_probability == pytest.approx(exact.distinct**2 / 2**65, rel=1e-4)
    for found in (exact, by_fingerprints):
        assert found.complete
    assert by_fingerprints.sizes == exact.sizes
    assert by_fingerprints.generated == exact.generated
    assert by_fingerprints.seen_at == exact.seen_at
    bits = range(len(exact.seen_at))
    assert by_fingerprints.paths_to(bits) == exact.paths_to(bits) == {bit: exact.path_to(bit) for bit in bits}


def test_a_table_of_fingerprints_grows_and_loses_none() -> None:
    world = World.of("5.3.3", ["crash"], "small")
    entry = table_of_verdicts().of(world.profile, world.instance)[world.environment]
    found = crashing("small", 64, threads=2)
    assert (found.distinct, found.generated) == (entry.distinct, entry.generated)
    assert found.collision_probability == pytest.approx(found.distinct**2 / 2**65, rel=1e-4)


def test_narrow_fingerprints_miss_states_about_as_often_as_is_said() -> None:
    """One that collides takes those with it that are only found behind it."""
    total = crashing("tiny").distinct
    for bits in (16, 18, 20, 22):
        expected = expected_collisions(total, bits)
        missed = total - crashing("tiny", bits).distinct
        assert expected / 4 < missed < 4 * expected, (bits, missed, expected)
    assert crashing("tiny", 40).distinct == total


def test_the_probability_grows_with_states_and_shrinks_with_bits() -> None:
    told = {
        (name, bits): crashing(name, bits).collision_probability or 0.0
        for name in ("tiny", "small")
        for bits in (20, 40, 64)
    }
    few, many = crashing("tiny").distinct, crashing("small", 64).distinct
    assert told["small", 20] > 0.999
    assert told["tiny", 40] == pytest.approx(-expm1(-(few**2) / 2**41), rel=1e-3)
    assert told["small", 40] == pytest.approx(-expm1(-(many**2) / 2**41), rel=1e-3)
    assert told["small", 64] < 1e-8
