"""Commands on one transaction among any number of others: they speak of it as it is, or refuse it in one line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from halfcheck.app import run
from halfcheck.errors import ExitCode
from model_check.engines import COMPILED
from model_check.finding import Bounds, Finding, Holds
from model_check.instances import load_instance
from model_check.question import Question
from model_check.verdicts.same_searches import idle_faults
from model_check.verdicts.searches import CachedSearches
from model_check.world import NO_FAULTS, Profile, World
from spec.transactional_messages import AMONG_OTHERS

if TYPE_CHECKING:
    from pathlib import Path

    from spec.constants import Instance

FEW: Final = replace(load_instance("crowd"), name="few", check_max=1, half_slots=3, op_slots=2, immunities=(-1,))
OF_OTHERS: Final = "send_half t=0 immunity=-1; begin_round_among_others to=0"


@pytest.mark.parametrize(
    "command",
    [
        "simulate --instance crowd --trace 1",
        "simulate --instance crowd --choice guided --trace 1",
        "simulate --instance crowd --of broker --trace 1",
        "fuzz --instance crowd --examples 1",
        "coverage --instance crowd",
        "repairs --instance crowd --profile 5.5.1",
        "switches settles_once --instance crowd",
    ],
)
def test_what_others_have_no_part_in_is_refused_in_one_line(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(command.split()) == ExitCode.BAD_OPTION
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("halfcheck: instance crowd has one transaction among any number of others, and ")
    assert line.endswith(": give crowd@1x8x6, or another instance")


def written(file: Path, instance: Instance) -> Path:
    """The instance as a file."""
    sizes = {name: list(v) if isinstance(v, tuple) else v for name, v in vars(instance).items() if name != "name"}
    file.write_text("\n".join(f"{name} = {value}" for name, value in sizes.items()))
    return file


def test_nothing_must_happen_in_the_end_among_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["liveness", "--instance", "crowd"]) == ExitCode.BAD_OPTION
    assert "instance crowd has no endless runs: give endless" in capsys.readouterr().err
    mine = written(tmp_path / "mine.toml", replace(load_instance("crowd"), endless=1))
    for command in (["liveness"], ["export", "--tla", str(tmp_path / "tla")]):
        assert run([*command, "--instance", str(mine)]) == ExitCode.BAD_OPTION
        told = capsys.readouterr().err
        assert "they may end each of its rounds" in told
        assert told.endswith(": give one with crowded = 0, or another instance\n")


def test_steps_of_others_are_replayed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", "--instance", "crowd", "--profile", "fixed", "--steps", OF_OTHERS]) == ExitCode.OK
    assert "begin_round_among_others to=0" in capsys.readouterr().out
    assert run(["replay", "--profile", "fixed", "--steps", OF_OTHERS]) == ExitCode.OK
    assert "crowd is taken, the smallest in which the steps can be taken" in capsys.readouterr().err
    two = "send_half t=0 immunity=-1; send_half t=1 immunity=-1"
    assert run(["replay", "--instance", "crowd", "--profile", "fixed", "--steps", two]) == ExitCode.BAD_OPTION
    assert "step 2 is 'send_half t=1 immunity=-1', which is no step of this instance" in capsys.readouterr().err


def test_steps_of_a_broker_are_taken_where_no_others_are(capsys: pytest.CaptureFixture[str]) -> None:
    many_halves = "; ".join(f"send_half t={t} immunity=-1" for t in range(3))
    assert run(["replay", "--profile", "fixed", "--steps", many_halves]) == ExitCode.OK
    assert "crowd" not in capsys.readouterr().err


def test_the_export_has_the_actions_of_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = str(written(tmp_path / "few.toml", FEW))
    assert run(["export", "--tla", str(tmp_path), "--instance", few, "--profile", "fixed"]) == ExitCode.OK
    module, config = (tmp_path / f"TransactionalMessages.{end}" for end in ("tla", "cfg"))
    assert capsys.readouterr().out.split() == [str(module), str(config)]
    assert "BeginRoundAmongOthers" in module.read_text()
    first, *_ = config.read_text().splitlines()
    assert first.endswith(f"instance {few}: one transaction among any number of others.")


def test_instances_are_said_to_be_among_others(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["instances"]) == ExitCode.OK
    told = [line.split()[0] for line in capsys.readouterr().out.splitlines() if "among others" in line]
    assert told == ["crowd", "crowd_lasting", "crowd_odd"]
    assert run(["instances", "crowd"]) == ExitCode.OK
    assert f"{len(AMONG_OTHERS.steps(World.of('5.5.1', (), 'crowd').constants)):,} steps" in capsys.readouterr().out


def test_a_fault_that_is_counted_for_others_alone_is_not_idle() -> None:
    world = World(Profile.of("fixed"), NO_FAULTS, load_instance("crowd"))
    assert "op_write_failure" not in idle_faults(world.machine, world.profile, world.instance)


def test_verdicts_among_others_are_not_cached(tmp_path: Path) -> None:
    for size, is_cached in ((FEW, False), (load_instance("tiny"), True)):
        question = Question(world=World.of("fixed", (), size))
        numbers = COMPILED.search(question).numbers
        holds = tuple(Holds(clause, (Bounds.of(size, numbers),)) for clause in question.asked)
        cached = CachedSearches(tmp_path / f"{size.crowded}.jsonl")
        cached.add(question, Finding(question.world, holds, numbers))
        assert (cached.answer(question) is not None) == is_cached
