"""What only runs of any length break, cause by cause: with the repair of its defect a schedule breaks nothing more.

The schedules are those of the table of verdicts. Which defect each of them is, is said in docs/any-length.md.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from model_check.clauses import clauses_by_name
from model_check.counterexample.steps import read_path
from model_check.counterexample.unfolded import with_room_for
from model_check.defects.resemblance import still_breaks
from model_check.instances import load_instance
from model_check.world import Environment, World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES as MACHINE

PAGE = (Path(__file__).parents[2] / "docs" / "generated" / "verdicts.md").read_text(encoding="utf-8")
SCHEDULES = tomllib.loads(
    resources.files("model_check.verdicts.results").joinpath("schedules.toml").read_text(encoding="utf-8")
)["schedule"]

OWN = {
    "A02": {"op_end_commits_offset": False},
    "A07": {"undecodable_throws": False},
    "A08": {"keeps_progress": True},
    "A10": {"discards_instead_of_checking": True},
    "A29": {"joins_round_first": True},
    "B47": {"heeds_settled_originals": True},
    "B50": {"passes_what_is_gone": True},
    "B56": {"owns_prepared_offset": True},
}
"""A repair of one defect alone."""

OF_ALL_THAT_IS_SETTLED = {"settles_once": True}
"""The repair of B10, B16, B48 and B49, and of much else."""

CAUSES = {
    ("S9.unread_op", "4.5.1", "the quiet world"): {"B47"},
    ("S9.unread_op", "later", "the quiet world"): {"B47", "A10"},
    ("S9.forked_copy", "4.5.1", "offset_regression"): {"B16", "B47"},
    ("L4.left_behind", "later", "twin_send"): {"A10", "B48"},
    ("S1.forked_copy", "4.5.1", "undecodable_half"): {"A07", "A08"},
    ("R1.too_many_copies", "4.5.1", "undecodable_half"): {"A07", "A08"},
    ("L4.left_behind", "later", "preset_original"): {"A10", "B47", "B56"},
    ("S1.forked_copy", "later", "retention"): {"B50"},
    ("R1.forks", "4.5.1", "retention"): {"B50"},
    ("R1.too_many_copies", "later", "retention"): {"B50"},
}
"""What has to come together; a version that is not named is as the later ones."""


def causes(clause: str, faults: str, profile: str) -> set[str]:
    return CAUSES.get((clause, profile, faults)) or CAUSES[clause, "later", faults]


FOUND = [
    (clause, faults, profile, instance)
    for clause, faults, profile, instance in re.findall(
        r"^\| (\w+\.\w+) \| ([\w ]+) \| (\d\.\d\.\d) \| \d+ (\w+) \|$",
        PAGE.partition("What takes such a run")[2].partition("\n## ")[0],
        re.MULTILINE,
    )
]


def breaks(clause: str, faults: str, profile: str, instance: str, turns: dict[str, Any]) -> bool:
    environment = "quiet" if faults == "the quiet world" else faults
    (text,) = (
        one["steps"]
        for one in SCHEDULES
        if (one["clause"], one["environment"], one["instance"]) == (clause, environment, instance)
        and profile in one["profiles"]
    )
    sizes = with_room_for(load_instance(instance), text)
    constants = World.of(profile, Environment.named(environment), sizes).constants
    turned = replace(constants, **turns)
    return still_breaks(MACHINE, turned, clauses_by_name()[clause], read_path(MACHINE, constants, text))


def test_each_of_them_is_one_of_these() -> None:
    assert len(FOUND) == 28
    assert {causes(clause, faults, profile) is not None for clause, faults, profile, _ in FOUND} == {True}
    assert {(clause, faults) for clause, faults, *_ in FOUND} == {(clause, faults) for clause, _, faults in CAUSES}


@pytest.mark.parametrize(("clause", "faults", "profile", "instance"), FOUND)
def test_without_one_of_its_defects_the_schedule_breaks_nothing_and_without_another_it_does(
    clause: str, faults: str, profile: str, instance: str
) -> None:
    assert breaks(clause, faults, profile, instance, {})
    stopped = {name for name, turns in OWN.items() if not breaks(clause, faults, profile, instance, turns)}
    named = causes(clause, faults, profile)
    assert stopped == named & OWN.keys()
    if named - OWN.keys():
        assert not breaks(clause, faults, profile, instance, OF_ALL_THAT_IS_SETTLED)
