"""Is each counterexample minimal? That the known defects are among them is asked in `tests/defects/`."""

from __future__ import annotations

import pytest

from model_check.counterexample.steps import replay
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.checked import checked


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


PROFILES = ("4.5.1", "4.9.7", "5.3.3", "5.4.0", "5.5.0")


@pytest.mark.parametrize("environment", ["quiet", "crash", "slow_local"])
@pytest.mark.parametrize("profile", PROFILES)
def test_every_counterexample_replays_and_cannot_be_cut(profile: str, environment: str) -> None:
    result = checked(profile, environment, "tiny")
    constants = World.of(profile, result.world.environment, "tiny").constants
    for found in result.rows:
        if found.path is not None:
            whole, cut = (replay(TRANSACTIONAL_MESSAGES, constants, path) for path in (found.path, found.path[:-1]))
            assert found.clause in whole.violated
            assert found.clause not in cut.violated
            assert [event.step for event in whole.events] == list(found.path)
