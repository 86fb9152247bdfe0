"""Fingerprints that stand for states: the same answers, and a probability that can be believed."""

from __future__ import annotations

import pytest

from benchmarks.machines.two_phase_commit import TWO_PHASE_COMMIT, Constants
from model_check.explicit.exploration import expected_collisions
from model_check.explicit.search import Exploration, explore
from model_check.explicit.state_store.resources import Resources
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def managers(count: int, bits: int, threads: int = 1) -> Exploration:
    constants = Constants(resource_managers=count)
    return explore(TWO_PHASE_COMMIT, constants, threads=threads, resources=Resources(fingerprint_bits=bits))


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
    found = managers(8, 64, threads=2)
    assert (found.distinct, found.generated) == (1_745_408, 18_507_778)
    assert found.collision_probability == pytest.approx(1_745_408**2 / 2**65, rel=1e-4)


def test_narrow_fingerprints_miss_states_about_as_often_as_is_said() -> None:
    """One that collides takes those with it that are only found behind it."""
    total = 8_832
    for bits in (16, 18, 20, 22):
        expected = expected_collisions(total, bits)
        missed = total - managers(5, bits).distinct
        assert expected / 4 < missed < 4 * expected, (bits, missed, expected)
    assert managers(5, 40).distinct == total


def test_the_probability_grows_with_states_and_shrinks_with_bits() -> None:
    told = {
        (count, bits): managers(count, bits).collision_probability or 0.0 for count in (5, 7) for bits in (20, 40, 64)
    }
    assert told[5, 20] > 0.999
    assert told[5, 40] == pytest.approx(8_832**2 / 2**41, rel=1e-3)
    assert told[7, 40] == pytest.approx(296_448**2 / 2**41, rel=0.03)
    assert told[7, 64] < 1e-8
