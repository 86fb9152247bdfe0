"""Is a found schedule short, repeatable, and does its test fail on the broken pair and pass on the sound one?"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from fuzz.lockstep.pairing import Mismatch, Pairing
from fuzz.lockstep.script import run, run_text, write
from fuzz.mutants.kill_table import MUTANTS
from fuzz.search.campaign import NAME, run_campaign, write_test
from spec.constants import FAULTS
from tests.model_check.checked import untraced

if TYPE_CHECKING:
    from pathlib import Path

    from fuzz.mutants.mutant import Mutant
    from fuzz.search.campaign import Campaign


def mutant(name: str) -> Mutant:
    return next(mutant for mutant in MUTANTS if mutant.name == name)


@cache
def campaign(name: str) -> Campaign:
    return run_campaign(mutant(name).pairing, examples=300, steps=50, random_seed=9)


def test_the_schedule_is_as_short_as_it_can_be() -> None:
    failure = campaign("original forgotten").failure
    assert failure is not None
    steps, question = write(failure.script)
    assert steps == "send_half t=0 immunity=3; tick; begin_round; put_back_immune_half"
    assert question == ""
    assert str(failure.mismatch).startswith("step 4, put_back_immune_half: half[1].original is 0 in the specification")


def test_a_schedule_may_end_with_a_question() -> None:
    with untraced():
        failure = campaign("batch interval ignored").failure
    assert failure is not None
    steps, question = write(failure.script)
    assert question == "write_op_batch"
    with pytest.raises(Mismatch, match="op messages written"):
        run_text(mutant("batch interval ignored").pairing, steps, question)
    run(Pairing.of("5.3.3", FAULTS), failure.script)


@pytest.mark.parametrize("name", ["check count forgotten", "batch interval ignored", "late END accepted"])
def test_the_written_test_fails_on_the_mutant_and_passes_on_the_sound_broker(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with untraced():
        found = campaign(name)
    assert found.failure is not None
    text = write_test(tmp_path / "new", found.pairing, found.failure).read_text(encoding="utf-8")
    namespace: dict[str, Any] = {}
    exec(compile(text, NAME, "exec"), namespace)  # noqa: S102
    the_test = namespace["test_the_broker_does_what_the_specification_says"]
    the_test()
    broken = mutant(name).pairing
    monkeypatch.setattr(Pairing, "of", lambda profile, faults, instance: replace(broken, world=found.pairing.world))
    with pytest.raises(Mismatch):
        the_test()
    assert [path.name for path in (tmp_path / "new").iterdir()] == [NAME]
