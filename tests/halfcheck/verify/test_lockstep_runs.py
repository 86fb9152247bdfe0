"""Does the main job run the two in lockstep, and does it stop where they differ?"""

from __future__ import annotations

from functools import cache

import pytest

from fuzz.lockstep.pairing import Pairing
from fuzz.mutants.kill_table import MUTANTS
from fuzz.search import coverage
from halfcheck.commands.verify import _lockstep
from halfcheck.errors import ExitCode, exit_code_of
from halfcheck.verify.parts import lockstep
from model_check.cpython import explore
from model_check.errors import EvaluationError
from model_check.world import Profile
from spec.constants import FAULTS
from spec.profiles import VERSIONS, distinct
from tests.model_check.checked import at_full_speed
from tests.sampled import sampled

EXPLORED = cache(at_full_speed(explore))
"""Each instance is searched once."""


@pytest.fixture(autouse=True)
def _count_at_full_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the schedules stands the exhaustive count of a small instance, here of its quiet world."""
    monkeypatch.setattr(coverage, "_COUNTED_FAULTS", dict.fromkeys(VERSIONS, ()))
    monkeypatch.setattr(coverage, "explore", EXPLORED)


@pytest.mark.untraced
@pytest.mark.parametrize("profile", sampled(distinct(VERSIONS), 3))
def test_a_sound_pair_agrees_and_its_coverage_is_told(profile: str) -> None:
    told = _lockstep(lockstep((Profile.of(profile), 3, 20)))
    assert [told[name] for name in ("profile", "environment", "examples", "agrees")] == [profile, FAULTS, 20, True]
    assert 20 < told["steps"] <= 20 * 50
    assert 0 < told["conjuncts_seen"] < told["conjuncts"]
    assert 0 < told["states_seen"] < told["states"]
    not_seen = told["conjuncts"] - told["conjuncts_seen"] + told["actions"] - told["actions_seen"]
    assert not_seen == len(told["unseen"])
    assert told["command"] == f"halfcheck fuzz --profile {profile} --examples 20 --steps 50 --seed 3"


def test_the_seed_chooses_the_schedules() -> None:
    first, again, other = (lockstep((Profile.of("5.3.3"), seed, 5)) for seed in (3, 3, 4))
    assert first.done.steps == again.done.steps
    assert first.coverage.unseen != other.coverage.unseen


def test_a_pair_that_differs_ends_with_75_and_names_the_step_and_the_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken = next(mutant for mutant in MUTANTS if mutant.name == "check count forgotten").pairing
    monkeypatch.setattr(Pairing, "of", lambda *given: broken)
    with pytest.raises(EvaluationError) as difference:
        lockstep((Profile.of("5.3.3"), 7, 50))
    assert exit_code_of(difference.value) == ExitCode.EVALUATION_ERROR
    told = str(difference.value)
    assert told.startswith("specification and broker differ in 5.3.3: step ")
    assert "half[1].check_times is 1 in the specification, 0 in the broker" in told
    assert told.endswith("see halfcheck fuzz --profile 5.3.3 --examples 50 --steps 50 --seed 7")
