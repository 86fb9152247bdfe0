"""What many transactions break, one among others breaks, in no more steps; two engines give the same numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model_check.check import check
from model_check.engines import COMPILED, CPYTHON
from model_check.instances import load_instance
from model_check.question import Question
from model_check.world import World


@pytest.mark.parametrize("instance", ["small", "skewed", "odd"])
@pytest.mark.parametrize("profile", ["4.5.1", "4.9.7"])
@pytest.mark.parametrize("faults", [(), ("slow_local",)])
def test_what_many_break_is_broken_among_others_in_no_more_steps(
    instance: str, profile: str, faults: tuple[str, ...]
) -> None:
    many = World.of(profile, faults, instance)
    places = {name: getattr(many.instance, name) + 2 for name in ("half_slots", "op_slots")}
    one = many.on(replace(many.instance, name="among others", transactions=1, crowded=1, **places))
    of_many, of_one = (check(Question(world=world, paths=())) for world in (many, one))
    assert of_many.numbers.complete
    assert of_one.numbers.complete
    assert of_many.violated
    assert [
        (row.name, row.depth)
        for clause, row in of_many.violated.items()
        if clause not in of_one.violated or of_one.violated[clause].depth > row.depth
    ] == []


@pytest.mark.parametrize(
    ("profile", "faults", "distinct", "broken"),
    [("fixed", (), 6_527, {"R1.too_many_copies": 20}), ("fixed", ("crash",), 22_652, {"R1.too_many_copies": 20})],
)
def test_a_crowd_has_the_numbers_of_the_study(
    profile: str, faults: tuple[str, ...], distinct: int, broken: dict[str, int]
) -> None:
    found = check(Question.of(profile, faults, "crowd"))
    assert (found.numbers.distinct, found.undecided) == (distinct, "")
    assert {row.name: row.depth for row in found.violated.values()} == broken
    assert found.unseen == ()


def test_two_engines_agree_on_one_among_others() -> None:
    instance = replace(load_instance("crowd"), name="few", check_max=1, half_slots=6, op_slots=4)
    question = Question(world=World.of("4.5.1", (), instance))
    compiled, plain = check(question, COMPILED), check(question, CPYTHON)
    assert compiled.numbers.size_to_json() == plain.numbers.size_to_json()
    assert [(row.name, row.path) for row in compiled.violated.values()] == [
        (row.name, row.path) for row in plain.violated.values()
    ]
