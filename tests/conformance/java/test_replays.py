"""Do the real classes take the counterexamples, and is what is left out or different told?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from conformance.java.real_classes import RealClasses
from files.reading import read_text
from fuzz.lockstep.real_replays import RealOutcome, replay_on
from halfcheck.app import run
from halfcheck.verdicts.files import VerdictFiles
from halfcheck.verdicts.on_real_classes import PAGE, Replayed, page_of
from model_check.clauses import clauses_by_name, name_of
from model_check.counterexample.steps import read_path
from model_check.errors import ModelCheckError
from model_check.world import Profile, World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.conformance.java.wanting_maven import MARKS, RELEASE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from model_check.verdicts.counterexamples import MinimalCounterexample

pytestmark = MARKS

PROFILE = Profile.of(RELEASE)
EVERY = 9


@pytest.fixture(scope="module")
def real() -> Iterator[RealClasses]:
    with RealClasses(RELEASE) as classes:
        yield classes


def counterexamples() -> list[MinimalCounterexample]:
    return VerdictFiles().counterexamples(PROFILE)


def test_a_sample_of_the_page_is_what_the_classes_do(real: RealClasses) -> None:
    rows = [line.split(" | ") for line in read_text(PAGE).splitlines() if line.startswith("| ")]
    column = next(row for row in rows if row[0] == "| clause").index(RELEASE)
    shown = {(row[0].removeprefix("| "), row[1]): row[column].strip() for row in rows if len(row) > column}
    sample = counterexamples()[::EVERY]
    assert len(sample) > 10
    for one in sample:
        replay = replay_on(real, one.world(PROFILE), one.path(PROFILE), one.clause)
        row = page_of([Replayed(one, replay)])
        name, faults = name_of(one.clause), one.environment.name
        assert f"| {name} | {faults} | {shown[name, faults]} |" in row, one


def test_a_message_that_is_delivered_twice_is_shown_with_its_places(real: RealClasses) -> None:
    one = next(each for each in counterexamples() if name_of(each.clause) == "S1.immune_half")
    replay = replay_on(real, one.world(PROFILE), one.path(PROFILE), one.clause)
    assert replay.outcome is RealOutcome.TAKEN
    ((transaction, places),) = replay.delivered
    assert transaction == 0
    log = next(real.folder.glob("*/commitlog/*")).read_bytes()
    assert [log[place : place + 200].count(b"\x06Orders\x00") for place in places] == [1, 1]


def test_a_shutdown_is_taken_step_by_step(real: RealClasses) -> None:
    one = next(each for each in counterexamples() if each.environment.name == "graceful_stop")
    replay = replay_on(real, one.world(PROFILE), one.path(PROFILE), one.clause)
    assert (replay.outcome, replay.reason) == (RealOutcome.TAKEN, "")


def test_what_the_lockstep_cannot_do_is_left_out_and_says_so(real: RealClasses) -> None:
    world = World.of(RELEASE, ("role_change", "retention"), "tiny")
    replay = replay_on(real, world, read_path(TRANSACTIONAL_MESSAGES, world.constants, "truncate_all"))
    why = "truncate_all: the reference broker has no controller mode, in which a running broker truncates its log"
    assert (replay.outcome, replay.reason) == (RealOutcome.LEFT_OUT, why)


def test_a_schedule_that_breaks_nothing_is_no_counterexample(real: RealClasses) -> None:
    world = World.of(RELEASE, (), "tiny")
    path = read_path(TRANSACTIONAL_MESSAGES, world.constants, "send_half t=0 immunity=-1; tick")
    clause = clauses_by_name()["S1.immune_half"]
    replay = replay_on(real, world, path, clause)
    assert (replay.outcome, replay.reason) == (RealOutcome.DIFFERENT, "S1.immune_half holds at its end")


def test_one_among_others_is_refused(real: RealClasses) -> None:
    with pytest.raises(ModelCheckError, match="no broker takes steps of theirs"):
        replay_on(real, World.of(RELEASE, (), "crowd"), ())


def test_the_command_tells_both(capsys: pytest.CaptureFixture[str]) -> None:
    one = next(each for each in counterexamples() if name_of(each.clause) == "S1.immune_half")
    assert run(["replay", "--real", RELEASE, "--instance", one.instance.name, "--steps", one.steps, "--json"]) == 12
    told = json.loads(capsys.readouterr().out)
    assert told["profile"] == RELEASE
    assert "S1.immune_half" in told["violated"]
    assert (told["real"]["outcome"], told["real"]["steps"]) == ("taken", len(one.steps.split(";")))
    assert len(told["real"]["delivered"]["0"]) == 2
    assert run(["replay", "--real", RELEASE, "--instance", one.instance.name, "--steps", one.steps]) == 12
    told = capsys.readouterr().out
    assert f"RocketMQ's own classes of {RELEASE} take all of it: {len(one.steps.split(';'))} steps" in told
    assert "transaction 0 is delivered 2 times: at " in told
