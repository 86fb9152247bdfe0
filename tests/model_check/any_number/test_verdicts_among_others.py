"""What many transactions break, one among others breaks, in no more steps; the numbers are those of another search."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from model_check.clauses import name_of
from model_check.engines import COMPILED
from model_check.instances import load_instance
from model_check.question import Question
from model_check.world import World
from tests.sampled import sampled

if TYPE_CHECKING:
    from model_check.engines import Explored


def searched(world: World) -> Explored:
    return COMPILED.search(Question(world=world, paths=()), threads=1)


def broken(explored: Explored) -> dict[str, int]:
    return {name_of(clause): depth for clause, depth in explored.depths.items()}


@pytest.mark.parametrize("instance", sampled(["small", "skewed", "odd"], 2))
@pytest.mark.parametrize("profile", sampled(["4.9.7", "4.5.1"], 2))
@pytest.mark.parametrize("faults", [(), ("slow_local",)])
def test_what_many_break_is_broken_among_others_in_no_more_steps(
    instance: str, profile: str, faults: tuple[str, ...]
) -> None:
    many = World.of(profile, faults, instance)
    places = {name: getattr(many.instance, name) + 2 for name in ("half_slots", "op_slots")}
    one = many.on(replace(many.instance, name="among others", transactions=1, crowded=1, **places))
    of_many, of_one = searched(many), searched(one)
    assert of_many.numbers.complete
    assert of_one.numbers.complete
    assert of_many.depths
    fewest = broken(of_one)
    assert [name for name, depth in broken(of_many).items() if fewest.get(name, depth + 1) > depth] == []


@pytest.mark.parametrize(("profile", "faults", "distinct"), [("fixed", (), 6_527), ("fixed", ("crash",), 22_652)])
def test_a_crowd_has_the_numbers_of_the_study(profile: str, faults: tuple[str, ...], distinct: int) -> None:
    """A search of a patch of the specification, in CPython, had them before."""
    found = searched(World.of(profile, faults, "crowd"))
    assert (found.numbers.distinct, found.why_unknown) == (distinct, "")
    assert broken(found) == {"R1.too_many_copies": 20}


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("faults", "distinct"), [(("crash",), 37_093), (("crash", "late_end"), 272_840), (("crash", "slow_local"), 160_568)]
)
def test_crashes_without_a_bound_are_decided(faults: tuple[str, ...], distinct: int) -> None:
    """470,501 states in all, as before."""
    instance = replace(load_instance("crowd"), name="crashes", crashes=-1)
    found = searched(World.of("fixed", faults, instance))
    assert (found.numbers.distinct, found.why_unknown) == (distinct, "")
    assert broken(found).keys() == {"R1.too_many_copies"}
