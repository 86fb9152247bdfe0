"""`halfcheck odds`: its table, its JSON, its file for Storm, and what it refuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from halfcheck.app import run
from halfcheck.errors import ExitCode

if TYPE_CHECKING:
    from pathlib import Path

QUIET = ["odds", "--profile", "4.5.1", "--instance", "tiny"]


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def test_the_likeliest_clause_stands_first_with_its_digits_and_what_bounds_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["odds", "--profile", "5.3.3", "--faults", "crash", "--property", "S1"]) == ExitCode.OK
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].startswith("RocketMQ 5.3.3 with crash, instance tiny (1 transaction), weights weighted: how likely")
    assert lines[2].split()[:3] == ["S1.lost_op", "0.135305766402", "7"]
    assert lines[3].split()[:3] == ["S1.late_op", "0.0750128676636", "13"]
    assert lines[2].rstrip().endswith("a delivered message is delivered again, as the record that settles it was lost")
    assert "all reachable states: 98,391, 256,156 transitions; solved to " in out
    assert "of an instance: 2 mishaps of the broker in a run at most, queues of 3 halves and 2 op messages" in out
    assert "halfcheck: no --instance is given: tiny is taken, the smallest" in err


def test_json_has_each_number_walks_and_splitting_beside(capsys: pytest.CaptureFixture[str]) -> None:
    asked = [*QUIET, "--property", "R1", "--within", "30", "--walks", "4000", "--json"]
    assert run(asked) == ExitCode.OK
    answer = json.loads(capsys.readouterr().out)
    assert (answer["profile"], answer["environment"], answer["steps"], answer["whole"]) == ("4.5.1", [], 30, True)
    row = answer["clauses"]["R1.pulls_nothing"]
    assert 0 < row["within"]["probability"] <= row["ever"]["probability"] < 1
    assert row["ever"]["unknown"] == 0
    low, high = row["sampled"]["interval_95"]
    assert low < row["within"]["probability"] < high
    assert row["sampled"]["walks"] == 4000
    assert answer["weights"]["actions"]["tick"] == 12
    assert "R1.forks" in answer["never"]
    assert not {*answer["never"]} & {*answer["clauses"]}


def test_weights_change_the_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "w.toml"
    file.write_text("[weights]\ntick = 1\n")
    found = []
    for more in ([], ["--weights", str(file)]):
        assert run([*QUIET, "--property", "R1.pulls_nothing", "--json", *more]) == ExitCode.OK
        answer = json.loads(capsys.readouterr().out)
        found.append(answer["clauses"]["R1.pulls_nothing"]["ever"]["probability"])
    assert abs(found[0] - found[1]) > 0.05


def test_a_search_cut_short_says_from_what_to_what_and_ends_with_255(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*QUIET, "--property", "R1.pulls_nothing", "--max-states", "500"]) == ExitCode.OTHER
    out = capsys.readouterr().out
    assert " to 1 " in out or " to 0." in out
    assert "CUT SHORT: not all reachable states" in out


def test_the_chain_is_written_for_storm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "chain.drn"
    assert run([*QUIET, "--property", "R1", "--export", str(file)]) == ExitCode.OK
    text = file.read_text()
    assert text.startswith("// RocketMQ 4.5.1 in the quiet world on tiny; weights: weighted\n@type: DTMC\n")
    assert " R1_pulls_nothing" in text
    assert [path.name for path in tmp_path.iterdir()] == ["chain.drn"]


@pytest.mark.parametrize(
    ("options", "code", "refusal"),
    [
        (["--walks", "10"], ExitCode.BAD_OPTION, "--walks 10: give --within STEPS, too, as a walk has an end"),
        (["--populations", "5"], ExitCode.BAD_OPTION, "--populations 5: give --within STEPS, too"),
        (["--within", "9", "--populations", "2"], ExitCode.BAD_OPTION, "--populations 2: give 3 at least"),
        (["--within", "99999", "--populations", "5"], ExitCode.BAD_OPTION, "--within 99999: expected at most 10000"),
        (["--within", "0"], ExitCode.BAD_OPTION, "--within"),
        (["--export", "chain.tra"], ExitCode.BAD_OPTION, "chain.tra: expected the name of a file that ends in .drn"),
        (["--weights", "none.toml"], ExitCode.BAD_CONTENT, "weights file none.toml: No such file or directory"),
        (["--property", "S77"], ExitCode.BAD_OPTION, "no property 'S77'"),
        (["--seed", "-1", "--within", "5", "--walks", "5"], ExitCode.BAD_OPTION, "seed -1 is not a number from 0 to"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    options: list[str], code: ExitCode, refusal: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*QUIET, *options]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert refusal in err


def test_an_instance_that_forgets_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["odds", "--profile", "4.5.1", "--instance", "lasting"]) == ExitCode.BAD_OPTION
    assert "instance lasting forgets what is over" in capsys.readouterr().err
