"""Over all versions and environments, the rules that are never put to use are those of `results/uncovered.toml`."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from model_check.coverage_matrix import (
    OWN_FILE,
    Accepted,
    CoverageMatrix,
    Expected,
    cover_matrix,
    coverage_page,
    read_expected,
)
from model_check.errors import BadFile
from model_check.guard_coverage import Uncovered
from model_check.instances import load_instance
from model_check.world import World
from spec.constants import FAULTS
from spec.profiles import PROFILES, distinct
from tests.model_check.checked import untraced

if TYPE_CHECKING:
    from pathlib import Path

TINY = load_instance("tiny")


def matrix(instance: str, expected: Expected, most_states: int) -> CoverageMatrix:
    with untraced():
        return cover_matrix(load_instance(instance), expected, most_states=most_states)


@pytest.mark.sweep
@pytest.mark.parametrize("instance", ["tiny"])
def test_every_rule_is_put_to_use_or_accepted_with_its_reason(instance: str) -> None:
    result = matrix(instance, read_expected(load_instance(instance)), 200_000)
    assert (result.unexplained, result.outdated) == ((), ())
    given = tomllib.loads(OWN_FILE.read_text(encoding="utf-8"))
    environments = 1 + len(FAULTS) + len(given["pairs"])
    assert len(result.searches) == len(distinct(PROFILES)) * environments + len(given["world"])
    assert all(states > 0 for states in result.coverage.witnessed.values())


@pytest.mark.parametrize("instance", ["tiny"])
def test_a_gap_without_a_reason_and_a_reason_without_a_gap_are_both_told(tmp_path: Path, instance: str) -> None:
    given = read_expected(load_instance(instance))
    left_out, *others = given.accepted
    lonely = Accepted(Uncovered("tick", "no such rule"), "It was renamed.")
    rows: list[dict[str, Any]] = [
        {"action": one.what.action, "rule": one.what.rule, "reason": one.reason} for one in (*others, lonely)
    ]
    rows.append({**rows[-1], "reason": "It is elsewhere.", "instances": ["small"]})
    lines = [[f"{key} = {json.dumps(value)}" for key, value in row.items() if value is not None] for row in rows]
    file = tmp_path / "uncovered.toml"
    file.write_text("\n".join("\n".join(["[[accepted]]", *row]) for row in lines), encoding="utf-8")
    result = matrix(instance, read_expected(load_instance(instance), file), 500)
    assert left_out.what in result.unexplained
    assert result.outdated == (lonely,)
    assert not result.is_explained
    told = result.to_json()
    assert told["outdated"] == [{"action": "tick", "rule": "no such rule", "reason": "It was renamed."}]
    assert [world["profile"] for world in told["worlds"]] == [
        p for p in distinct(PROFILES) for _ in range(1 + len(FAULTS))
    ]
    assert [world["environment"] for world in told["worlds"]][:2] == [[], [FAULTS[0]]]
    page = coverage_page(result, 500)
    assert f"| `{left_out.what.action}` | {left_out.what.rule} | **not accepted** |" in page
    assert f"| `{given.accepted[1].what.action}` | {given.accepted[1].what.rule} | {given.accepted[1].reason} |" in page


def test_a_world_turns_its_switches_and_faults_on_and_is_on_the_instance_that_it_names(tmp_path: Path) -> None:
    file = tmp_path / "uncovered.toml"
    row = "[[world]]\nprofile = '4.5.1'\nfaults = ['crash']\nswitches = ['batches_ops']\n"
    file.write_text(f"{row}{row}instance = 'small'")
    *_, unnamed, named = read_expected(TINY, file).worlds
    assert (unnamed, named) == tuple(
        World.of("4.5.1+batches_ops", ["crash"], instance) for instance in ("tiny", "small")
    )
    constants = unnamed.constants
    assert (constants.crash, constants.batches_ops, constants.slow_round) == (True, True, False)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("pairs = [['crash', 'flood']]", "no fault 'flood'; there are "),
        ("[[world]]\nprofile = '3.2.6'", "no profile '3.2.6'; there are "),
        ("[[world]]\nprofile = '5.3.3'\nswitches = ['repaired']", "no switch 'repaired'; there are "),
        ("[[accepted]]\naction = 'tick'", "what is accepted has an action and a reason; this has not: "),
        ("[[accepted]]\naction = 'tick'\nwhy = 'so'", "no key of what is accepted 'why'; there are "),
        ("pears = []", "no key 'pears'; there are pairs, world, accepted"),
        ("pairs = [", "Invalid value"),
    ],
)
def test_a_bad_file_is_told_in_one_line(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "uncovered.toml"
    file.write_text(text)
    with pytest.raises(BadFile) as error:
        read_expected(TINY, file)
    assert str(error.value).startswith(f"{file}: ")
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="No such file"):
        read_expected(TINY, tmp_path / "none.toml")
