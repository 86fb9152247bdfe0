"""Does the reference broker do what the specification says, in every version and with every fault?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis.configuration import set_hypothesis_home_dir, storage_directory

from fuzz.lockstep import fuzzed_instances as instances
from fuzz.lockstep.pairing import Mismatch, Pairing
from fuzz.lockstep.script import run_text
from fuzz.search.coverage import GuardCoverage, Guards
from fuzz.search.examples import Fuzzing, fuzz
from model_check.errors import ModelCheckError
from reference.proxy.transaction_data import TransactionData, TransactionDataManager
from spec.constants import FAULTS
from spec.profiles import VERSIONS, distinct
from tests.sampled import sampled

if TYPE_CHECKING:
    from pathlib import Path


def fuzzed(
    profile: str,
    faults: tuple[str, ...],
    *,
    examples: int,
    steps: int = 50,
    seed: int = 7,
    instance: str = instances.FUZZED.name,
) -> tuple[Fuzzing, GuardCoverage]:
    pairing = Pairing.of(profile, faults, instance)
    coverage = GuardCoverage(Guards.of(pairing))
    return fuzz(pairing, examples=examples, steps=steps, random_seed=seed, note=coverage.note), coverage


@pytest.mark.untraced
def test_hypothesis_leaves_nothing_in_the_folder_that_somebody_works_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HYPOTHESIS_STORAGE_DIRECTORY", raising=False)
    monkeypatch.setenv("HALFCHECK_CACHE", str(tmp_path))
    set_hypothesis_home_dir(None)
    fuzzed("4.5.1", (), examples=1, steps=1)
    assert storage_directory("constants", intent_to_write=False).path == tmp_path / "hypothesis" / "constants"
    set_hypothesis_home_dir(None)


@pytest.mark.untraced
@pytest.mark.parametrize("profile", sampled(distinct(VERSIONS), 3))
@pytest.mark.parametrize("examples", [50, pytest.param(500, marks=pytest.mark.sweep)])
def test_specification_and_broker_agree_in_the_world_with_all_faults(profile: str, examples: int) -> None:
    done, coverage = fuzzed(profile, FAULTS, examples=examples, steps=100)
    assert done.failure is None
    assert done.examples == examples
    assert done.steps > 48 * examples
    assert len(coverage.never_enabled) < (6 if examples == 500 else 20)


@pytest.mark.untraced
@pytest.mark.parametrize("profile", sampled(["5.5.1", "4.9.7", "5.3.3"], 3))
@pytest.mark.parametrize("examples", [40, pytest.param(1_000, marks=pytest.mark.sweep)])
def test_specification_and_broker_agree_behind_proxies(profile: str, examples: int) -> None:
    done, coverage = fuzzed(
        profile, FAULTS, examples=examples, steps=100, instance=instances.FUZZED_BEHIND_PROXIES.name
    )
    assert done.failure is None
    assert done.examples == examples
    direct = {"commit_locally", "roll_back_locally", "roll_back_unrun", "answer_check_too_early"}
    assert not direct & coverage.guards.allowed
    through = {"commit_through_proxy", "answer_check_through_proxy", "commit_unknown_to_proxy", "restart_proxy"}
    assert through <= coverage.enabled.keys()


def test_a_proxy_that_takes_the_oldest_entry_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As before 5.0.0 (A50, #4638)."""
    monkeypatch.setattr(
        TransactionDataManager,
        "add",
        _added_first,  # the newest comes first, so that the oldest is taken
    )
    done, _ = fuzzed("5.3.3", FAULTS, examples=200, instance=instances.FUZZED_BEHIND_PROXIES.name)
    assert done.failure is not None
    assert "the half that the proxy names" in str(done.failure.mismatch)


def _added_first(self: TransactionDataManager, group: str, transaction_id: str, half: int, place: int) -> None:
    data = TransactionData(self._clock.now + self._expire_ms, half, place)
    self._entries.setdefault((group, transaction_id), []).insert(0, data)


@pytest.mark.untraced
@pytest.mark.parametrize("profile", sampled(distinct(VERSIONS), 2))
def test_specification_and_broker_agree_in_the_quiet_world(profile: str) -> None:
    done, _ = fuzzed(profile, (), examples=40)
    assert done.failure is None
    assert done.examples == 40


def test_the_same_seed_gives_the_same_run_and_another_seed_another() -> None:
    runs = [fuzzed("5.3.3", FAULTS, examples=20, seed=seed) for seed in (3, 3, 4)]
    assert runs[0][1].refused == runs[1][1].refused
    assert runs[0][0].steps == runs[1][0].steps
    assert runs[0][1].refused != runs[2][1].refused


def test_a_mismatch_names_step_variable_and_both_values_in_one_line() -> None:
    pair = run_text(Pairing.of("5.3.3", ()), "send_half t=0 immunity=-1")
    pair.state.half[0].check_times = 2
    with pytest.raises(Mismatch) as found:
        pair.compare()
    assert (
        str(found.value)
        == "step 1, send_half t=0 immunity=-1: half[0].check_times is 2 in the specification, 0 in the broker"
    )


def test_an_instance_whose_batch_has_no_size_in_characters_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = replace(instances.FUZZED, op_batch_size=3)
    monkeypatch.setattr(instances, "FUZZED", wide)
    with pytest.raises(ModelCheckError, match="use at most 10 slots"):
        instances.fuzzed_world("5.3.3", ())
