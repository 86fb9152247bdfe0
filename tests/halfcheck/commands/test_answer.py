"""What `halfcheck check` says first, at several widths; and which instance it takes where it needs one."""

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import jsonschema
import pytest

from halfcheck.app import run
from halfcheck.errors import ExitCode
from halfcheck.printing.check import MOST_COUNTEREXAMPLES, print_answer
from model_check.answers.answer import answer_of
from model_check.check import check
from model_check.clauses import clauses_by_name
from model_check.engines import CPYTHON
from model_check.finding import SCHEMA
from model_check.instances import load_instance
from model_check.question import Question
from model_check.wording.clauses import meaning_of
from spec.profiles import VERSIONS, distinct
from tests.sampled import sampled

pytestmark = pytest.mark.xdist_group(name="tiny")


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    run(["check", *arguments])
    return capsys.readouterr().out.splitlines()


def name_in(line: str) -> str:
    return re.split("[ ,]", line, maxsplit=1)[0]


@pytest.mark.parametrize("profile", sampled(distinct(VERSIONS), 3))
def test_b01_is_named_in_the_first_lines_for_each_release(profile: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--profile", profile, "--property", "S1"]) == ExitCode.SAFETY_VIOLATED
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"RocketMQ {profile} in the quiet world, instances ")
    assert lines[0].endswith(f"{3 if profile == '4.5.1' else 2} of 16 guarantees are broken, gravest first")
    assert lines[1].startswith("S1.immune_half (B01")
    assert meaning_of(clauses_by_name()["S1.immune_half"]).harm in lines[1]
    assert "make the consumer idempotent" in lines[1]


def test_what_is_broken_stands_first_then_schedules_then_what_stands(capsys: pytest.CaptureFixture[str]) -> None:
    lines = answer(capsys, "--profile", "4.9.7", "--instance", "tiny")
    places = [
        next(place for place, line in enumerate(lines) if marker in line)
        for marker in (
            "S1.immune_half (B01), 16 steps in tiny",
            " is violated: ",
            " cannot occur here",
            " hold, to the bounds",
        )
    ]
    assert places == sorted(places)
    assert places[0] == 1
    broken = [name_in(line) for line in lines[1 : places[1] - 1] if ", steps" not in line and " steps in " in line]
    gravities = [meaning_of(clauses_by_name()[name]).gravity for name in broken]
    assert gravities == sorted(gravities)
    assert sum(" is violated: " in line for line in lines) >= MOST_COUNTEREXAMPLES
    assert sum(line.startswith("halfcheck replay ") for line in lines) == MOST_COUNTEREXAMPLES


def test_all_lists_each_guarantee_and_each_schedule(capsys: pytest.CaptureFixture[str]) -> None:
    short = answer(capsys, "--profile", "4.9.7", "--instance", "tiny")
    told = answer(capsys, "--profile", "4.9.7", "--instance", "tiny", "--all")
    assert not any("S5.no_commit_arrived" in line for line in short)
    assert any(line.startswith("S5.no_commit_arrived") for line in told)
    assert any("the fault twin_send or slow_proxy: S1.twin_half" in line for line in told)
    violated = [line.partition(" ")[0] for line in told if " is violated: " in line]
    assert sorted(violated) == sorted(name_in(line) for line in told if " steps in tiny: " in line)


def test_equal_schedules_are_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    told = answer(capsys, "--profile", "4.5.1", "--instance", "tiny", "--property", "L2")
    assert [line.partition(" ")[0] for line in told if " is violated: " in line] == [
        "L2.immunity_burns_checks",
        "L2.never_asked",
    ]
    assert sum(line.startswith("halfcheck replay ") for line in told) == 1


@pytest.mark.parametrize("width", [60, 80, 160])
def test_no_line_is_longer_than_the_terminal_and_none_is_a_single_word(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    told = answer(capsys, "--profile", "4.9.7", "--instance", "tiny", "--property", "S1", "--property", "L2")
    prose = told[: next(place for place, line in enumerate(told) if not line)]
    assert len(prose) > 3
    assert all(len(line.rstrip()) <= width for line in told if not line.startswith("halfcheck replay "))
    first = next(place for place, line in enumerate(prose) if " steps in " in line)
    assert all(re.match(r"[A-Z]\d+\.\w+ |    \S", line) for line in prose[first:])
    full = [line for line, after in pairwise(prose) if after.startswith("    ")]
    assert all(len(line.split()) > 1 for line in full)


def test_an_instance_that_cannot_see_a_defect_says_where_it_is_seen(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run(
            [
                "check",
                "--profile",
                "4.9.7",
                "--instance",
                "tiny",
                "--property",
                "R1.too_many_copies",
                "--faults",
                "crash",
            ]
        )
        == 0
    )
    told = capsys.readouterr().out.splitlines()
    assert told[0].endswith("none of 1 guarantee is broken here, and 1 in other instances")
    assert told[1].startswith("R1.too_many_copies (A08, A09, B50) holds in tiny (it needs room for one copy more than")
    assert "; broken in odd with crash, 8 steps: " in told[1]
    assert not any("cannot occur here" in line or "to the bounds" in line for line in told)


def test_what_is_broken_elsewhere_names_no_defect_that_the_release_is_rid_of(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The clause resembles A03, which 4.6.0 mended."""
    told = answer(capsys, "--profile", "5.3.3", "--instance", "tiny", "--property", "L4.left_behind")
    assert told[1].startswith("L4.left_behind (A10, B44, B48, B49) holds in tiny; broken in large@2x3x2, 15")


def test_an_interrupted_portfolio_does_not_say_that_all_is_broken(capsys: pytest.CaptureFixture[str]) -> None:
    found = check(Question.of("4.9.7", (), "tiny", properties=["S5"]), CPYTHON)
    print_answer(replace(answer_of(found), left_out=(load_instance("odd"),), is_interrupted=True))
    told = capsys.readouterr().out
    assert "not searched, as the search was interrupted: odd" in told
    assert "all that was asked for is broken" not in told


def test_of_a_switched_profile_no_table_is_quoted(capsys: pytest.CaptureFixture[str]) -> None:
    told = answer(capsys, "--profile", "4.9.7+settles_once", "--instance", "tiny", "--property", "R1.too_many_copies")
    assert not any("broken in" in line for line in told)
    assert any("1 cannot occur here" in line for line in told)


def test_the_json_of_the_portfolio_has_the_shape_that_others_build_on(capsys: pytest.CaptureFixture[str]) -> None:
    run(["check", "--profile", "4.9.7", "--property", "S1.immune_half", "--property", "S10", "--json"])
    told = json.loads(capsys.readouterr().out)
    jsonschema.validate(told, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert told["properties"]["S1"]["clauses"]["immune_half"]["instance"] == "tiny"
    assert told["properties"]["S10"]["cannot_occur"].startswith("needs the fault ")
    assert [one["name"] for one in told["instances"]] == ["crowd", "crowd_odd", "tiny"]
    assert told["bounds"]["transactions"] == 1
    assert [one["instance"] for one in told["searched_together"]] == ["tiny"]
    assert {"odd", "deep", "small", "skewed", "lasting", "pair", "trio"} < set(told["instances_left_out"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["check", "--property", "S1.immune_half", "--engine", "cpython", "--max-states", "9"],
            "tiny is taken, as --engine cpython searches one; it shows most of S1.immune_half",
        ),
        (["faults", "--most", "0", "--max-states", "9"], "small is taken, as the sets of one are searched"),
        (["check", "--property", "S1.immune_half", "--checkpoint", "saved"], "tiny is taken, as --checkpoint keeps"),
        (
            ["replay", "--steps", "send_half t=0 immunity=3"],
            "tiny is taken, the smallest in which the steps can be taken",
        ),
        (
            ["replay", "--steps", "send_half t=0 immunity=5"],
            "odd is taken, the smallest in which the steps can be taken",
        ),
        (["export", "--tla", ".", "--property", "S1.immune_half"], "tiny is taken, as the configuration is of one"),
    ],
)
def test_it_is_said_which_instance_is_taken_where_one_is_needed(
    arguments: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("chosen"))
    monkeypatch.setattr("model_check.verdicts.searches.cache_file", lambda: Path("cached"))
    run(arguments)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("halfcheck: no --instance is given: ")
    assert said in line


def test_a_counterexample_of_the_portfolio_is_replayed_on_its_own_instance(
    capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("found")
    asked = ["check", "--profile", "5.3.3", "--property", "S1.immune_half", "--json"]
    run([*asked, "--write", str(folder / "b01.itf.json")])
    (folder / "b01.json").write_text(capsys.readouterr().out)
    for name in ("b01.json", "b01.itf.json"):
        assert run(["replay", str(folder / name)]) == ExitCode.SAFETY_VIOLATED
        assert "S1.immune_half is violated" in capsys.readouterr().out
