"""Three pull requests as jars: is the right repair told from one that mends half, and from one that loses messages?

Maven must be there, which brings the jars and the source of 4.9.7 once.
"""

from __future__ import annotations

import io
import json
import subprocess
from contextlib import contextmanager, redirect_stdout
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from conformance.errors import JavaError
from conformance.java import real_classes
from conformance.java.given_jar import given_jar
from conformance.java.real_classes import RealClasses
from conformance.releases.jvm import javac_command
from fuzz.real_alone import builds, claims, hunt
from fuzz.real_alone import verdict as verdicts
from fuzz.real_alone.builds import Builds
from fuzz.real_alone.claims import ClauseOutcome, first_verdicts, with_neighbours
from fuzz.real_alone.playing import play
from fuzz.real_alone.schedules import as_played
from fuzz.real_alone.verdict import JarVerdict, judge_jar
from halfcheck.app import run
from halfcheck.commands import judge_jar as of_command
from model_check.clauses import name_of
from tests.conformance.java.made_jars import HALF, LOSING, RIGHT, made_jar
from tests.conformance.java.wanting_maven import MARKS, RELEASE
from tests.fuzz.real_alone.counterexamples import PROFILE, counterexamples_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from model_check.verdicts.counterexamples import MinimalCounterexample

pytestmark = MARKS

IMMUNE = counterexamples_of("S1.immune_half", "S9.immune_half")
SOME = [*IMMUNE, *counterexamples_of("S1.lost_op", "S8.copy_lost", "L1.discarded_without_a_record")]


@pytest.fixture(scope="module")
def jars(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("jars")
    return {patch: made_jar(patch, folder) for patch in (RIGHT, HALF, LOSING)}


@contextmanager
def by_looks(jvms: int = 1) -> Iterator[None]:
    """A clock that goes on by a second when it is looked at, once a schedule: a slow machine plays as many.

    So many JVMs have the classes of a jar.
    """
    clock = count()
    with pytest.MonkeyPatch.context() as patch:
        for module in (claims, hunt, verdicts):
            patch.setattr(module, "monotonic", lambda: float(next(clock)))
        for module in (builds, claims):
            patch.setattr(module, "AT_A_TIME", jvms)
        yield


def judged(jar: Path, counterexamples: list[MinimalCounterexample], seconds: float) -> JarVerdict:
    return judge_jar(given_jar(jar), counterexamples, seconds=seconds, seed=7, report=lambda _: None)


def test_the_right_repair_mends_its_clauses_and_breaks_nothing(jars: dict[str, Path]) -> None:
    with by_looks():
        verdict = judged(jars[RIGHT], SOME, 50)
    assert given_jar(jars[RIGHT]).release == RELEASE
    assert {each.name for each in verdict.of(ClauseOutcome.MENDED)} == {"S1.immune_half", "S9.immune_half"}
    assert all(each.played and not each.broken for each in verdict.of(ClauseOutcome.MENDED))
    assert all(each.is_as_released for each in verdict.of(ClauseOutcome.STILL))
    assert {each.name for each in verdict.of(ClauseOutcome.STILL)} == {
        "S1.lost_op", "S8.copy_lost", "L1.discarded_without_a_record",
    }  # fmt: skip
    assert verdict.is_good
    assert verdict.hunted.played


def test_half_a_repair_is_told_by_the_neighbours_and_not_by_the_counterexample(jars: dict[str, Path]) -> None:
    (settled,) = counterexamples_of("S9.immune_half")
    with by_looks(jvms=2), Builds(given_jar(jars[HALF])) as both:
        at_once = list(first_verdicts(both, PROFILE, [settled]))
        assert [each.outcome for each in at_once] == [ClauseOutcome.MENDED]
        (part,) = with_neighbours(both, PROFILE, at_once, 1_000, 7, lambda _: None)
    assert part.outcome is ClauseOutcome.PART
    assert 0 < part.broken < part.played
    assert part.schedule is not None
    assert {"t=1"} & {str(step).split(" ", 1)[-1] for step in part.schedule.steps}
    assert len(part.schedule.steps) < 22
    assert part.what.startswith("transaction 0: its producer is checked although")


@pytest.fixture(scope="module")
def losing(jars: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """What the command writes and prints of a repair that loses messages."""
    out, printed = tmp_path_factory.mktemp("losing") / "verdict", io.StringIO()
    with by_looks(), pytest.MonkeyPatch.context() as patch, redirect_stdout(printed):
        patch.setattr(of_command, "_counterexamples_of", lambda _: IMMUNE)
        assert run(["judge-jar", str(jars[LOSING]), "--minutes", "2", "--out", str(out), "--json"]) == 12
    return out, json.loads(printed.getvalue())


def test_a_repair_that_loses_messages_breaks_what_the_release_does_not(losing: tuple[Path, Any]) -> None:
    _, told = losing
    assert {each["outcome"] for each in told["clauses"]} == {"not broken any more"}
    (lost,) = (found for found in told["newly_broken"] if found["property"] == "L1")
    assert lost["faults"] == []
    assert lost["steps"].startswith("send_half ")
    assert len(lost["steps"].split(";")) <= 5
    assert "no round will ask for it" in lost["what"]
    assert told["good"] is False


def test_the_release_itself_is_seen_to_break_what_the_specification_says(jars: dict[str, Path]) -> None:
    """Whatever a client or the log shows of a clause: the observer says it of the published classes, too."""
    seen_of = {"S1", "S2", "S3", "S6", "S9", "S10", "L2"}
    clauses = {name_of(one.clause) for one in counterexamples_of_all() if one.clause.identifier in seen_of}
    with RealClasses(RELEASE) as real:
        for one in counterexamples_of(*clauses)[::3]:
            schedule = as_played(one, PROFILE)
            if schedule is not None:
                assert play(real, schedule).how(one.clause.identifier), (name_of(one.clause), one.environment.name)


def counterexamples_of_all() -> list[MinimalCounterexample]:
    from model_check.clauses import clause_names

    return counterexamples_of(*clause_names())


def test_the_command_writes_a_page_and_the_schedules(losing: tuple[Path, Any]) -> None:
    out, told = losing
    assert told["release"] == RELEASE
    assert json.loads((out / "verdict.json").read_text()) == told
    page = (out / "verdict.md").read_text()
    assert "rocketmq-broker.jar breaks what 4.9.7 does not: L1 (no transaction is lost for good), " in page
    (steps,) = (found["steps"] for found in told["newly_broken"] if found["property"] == "L1")
    assert f'--instance {out}/L1.toml --steps "{steps}"' in page
    assert run(["replay", "--profile", RELEASE, "--instance", str(out / "L1.toml"), "--steps", steps]) in (0, 12)


def test_replay_and_fuzz_take_a_jar(jars: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    one = IMMUNE[0]
    words = ["--instance", one.instance.name, "--steps", one.steps]
    assert run(["replay", "--jar", str(jars[RIGHT]), *words]) == 12
    told = capsys.readouterr()
    assert "no --real is given: rocketmq-broker.jar says that it is of 4.9.7" in told.err
    assert "rocketmq-broker.jar does otherwise: step " in told.out
    quiet = ["--faults", "lose_end", "--steps", "30", "--seed", "3"]
    assert run(["fuzz", "--jar", str(jars[LOSING]), "--examples", "60", *quiet]) == 12
    assert "in the reference broker, " in capsys.readouterr().out


def test_classes_with_other_stops_are_refused(jars: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_classes, "REWRITTEN", real_classes.REWRITTEN | {"stop: next half": 2})
    with pytest.raises(JavaError, match=r"rocketmq-broker\.jar: these classes are built otherwise"):
        judged(jars[RIGHT], IMMUNE[:1], 0)


def test_classes_that_the_harness_does_not_fit_are_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "BrokerController.java"
    source.write_text("package org.apache.rocketmq.broker; public class BrokerController {}")
    subprocess.run([*javac_command(), "-d", str(tmp_path / "classes"), str(source)], check=True)
    assert run(["judge-jar", "--minutes", "0", str(tmp_path / "classes"), "--real", RELEASE]) == 150
    told = capsys.readouterr().err.splitlines()[-1]
    assert "the harness can't be compiled for it and the jars behind it: " in told
    assert "constructor BrokerController" in told


@pytest.mark.sweep
@pytest.mark.parametrize(("patch", "is_good"), [(RIGHT, True), (HALF, False), (LOSING, False)])
def test_the_whole_table_of_verdicts_on_each(jars: dict[str, Path], patch: str, is_good: bool) -> None:
    verdict = judged(jars[patch], of_command._counterexamples_of(RELEASE), 180)
    assert verdict.is_good is is_good
    assert bool(verdict.mended_by_half) is (patch == HALF)
    assert bool(verdict.newly_broken) is (patch == LOSING)
