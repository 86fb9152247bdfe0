"""Over all versions and environments, the rules that are never put to use are those of `results/uncovered.toml`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from model_check.coverage.counts import Uncovered
from model_check.coverage.expected import Accepted, CoverageWorld, Expected, read_expected
from model_check.coverage.matrix import CoverageMatrix, cover_matrix
from model_check.coverage.page import coverage_page
from model_check.errors import BadFile
from spec.constants import FAULTS
from spec.profiles import PROFILES, distinct
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.checked import untraced

if TYPE_CHECKING:
    from pathlib import Path


def matrix(expected: Expected, instance: str, most_states: int) -> CoverageMatrix:
    with untraced():
        return cover_matrix(TRANSACTIONAL_MESSAGES, instance, expected, most_states=most_states)


@pytest.mark.sweep
@pytest.mark.parametrize("instance", ["tiny"])
def test_every_rule_is_put_to_use_or_accepted_with_its_reason(instance: str) -> None:
    expected = read_expected()
    result = matrix(expected, instance, 200_000)
    assert (result.unexplained, result.outdated) == ((), ())
    assert len(result.searches) == len(distinct(PROFILES)) * (1 + len(FAULTS) + len(expected.pairs)) + len(
        expected.worlds
    )
    assert all(states > 0 for states in result.coverage.witnessed.values())


@pytest.mark.parametrize("instance", ["tiny"])
def test_a_gap_without_a_reason_and_a_reason_without_a_gap_are_both_told(instance: str) -> None:
    given = read_expected()
    enough = replace(given, pairs=(), worlds=())
    lonely = Accepted(Uncovered("tick", "no such rule"), "It was renamed.", ())
    elsewhere = Accepted(Uncovered("tick", "no such rule"), "It was renamed.", ("small",))
    left_out = given.accepted[0]
    result = matrix(replace(enough, accepted=(*given.accepted[1:], lonely, elsewhere)), instance, 500)
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


def test_a_world_turns_its_switches_and_faults_on() -> None:
    constants = CoverageWorld("4.5.1", ("crash",), ("batches_ops",)).constants("tiny")
    assert (constants.crash, constants.batches_ops, constants.slow_round) == (True, True, False)
    assert str(CoverageWorld("4.5.1", (), ("batches_ops",))) == "4.5.1+batches_ops quiet"


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
        read_expected(file)
    assert str(error.value).startswith(f"{file}: ")
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="No such file"):
        read_expected(tmp_path / "none.toml")
