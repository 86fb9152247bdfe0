"""Weights from the table and from files, and the files that are refused."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from model_check.errors import BadFile
from model_check.probabilities.weights import read_weights, usual
from model_check.walks.choices import fault_actions, usual_weights

if TYPE_CHECKING:
    from pathlib import Path


def test_without_a_file_they_are_those_of_weighted_walks() -> None:
    assert {name: weight * usual().unit for name, weight in usual().whole.items()} == usual_weights()
    assert usual().to_json()["actions"]["tick"] == 12


def test_a_file_gives_weights_and_mean_ticks_and_leaves_the_rest(tmp_path: Path) -> None:
    file = tmp_path / "w.toml"
    file.write_text("fault = 0.01\n[weights]\ntick = 6\ncrash = 1e-4\n[mean_ticks]\ncommit_locally = 2.5\n")
    weights = read_weights(file)
    given = {name: weight * weights.unit for name, weight in weights.whole.items()}
    assert given["crash"] == Fraction(1, 10_000)
    assert given["commit_locally"] == Fraction(6) / Fraction("2.5")
    assert {given[name] for name in fault_actions() if name != "crash"} == {Fraction(1, 100)}
    others = usual_weights().keys() - {*fault_actions(), "tick", "commit_locally"}
    assert {name: given[name] for name in others} == {name: usual_weights()[name] for name in others}
    assert all(isinstance(weight, int) for weight in weights.whole.values())


def test_ordinary_is_the_weight_of_all_that_are_no_faults(tmp_path: Path) -> None:
    file = tmp_path / "w.toml"
    file.write_text("ordinary = 1\n")
    whole = read_weights(file).whole
    assert {whole[name] for name in whole.keys() - {*fault_actions()}} == {1}
    assert whole["crash"] == 1
    assert whole["lose_end"] == 2


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("[weights]\ncrsh = 1\n", r"no action 'crsh'; did you mean crash\?$"),
        ("weight = 1\n", r"no key 'weight'; did you mean weights\? There are ordinary, fault, weights, mean_ticks$"),
        ("[weights]\ncrash = 0\n", r"weights\.crash = 0 is not a positive number; leave a fault that is not to happen"),
        ("[weights]\ncrash = -1.5\n", r"weights\.crash = -1\.5 is not a positive number"),
        ("[weights]\ncrash = inf\n", r"weights\.crash = inf is not a positive number"),
        ("[weights]\ncrash = nan\n", r"weights\.crash = nan is not a positive number"),
        ("[weights]\ncrash = true\n", r"weights\.crash = True is not a positive number"),
        ('[mean_ticks]\ncrash = "2"\n', r"mean_ticks\.crash = '2' is not a positive number"),
        ("fault = 0\n", r"fault = 0 is not a positive number"),
        ("weights = 1\n", r"weights = 1 is no table: write \[weights\]"),
        ("[weights]\ncrash = 1\n[mean_ticks]\ncrash = 1\n", r"crash has a weight and mean_ticks: give one of them$"),
        ("[mean_ticks]\ntick = 1\n", r"mean_ticks\.tick: time is what the others wait for; give weights\.tick$"),
        ("[weights]\ncrash = 1e-13\n", r"the weights are too far apart, or have too many digits: tick is 1e\+14 times"),
        ("[weights\n", r"not TOML: "),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_in_one_line(tmp_path: Path, text: str, refusal: str) -> None:
    file = tmp_path / "w.toml"
    file.write_text(text)
    with pytest.raises(BadFile, match=refusal) as refused:
        read_weights(file)
    assert str(refused.value).startswith(f"weights file {file}: ")
    assert str(refused.value).count(str(file)) == 1
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"^weights file .*w\.toml: No such file or directory$"):
        read_weights(tmp_path / "w.toml")
