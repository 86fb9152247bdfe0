"""Equal terms of one lowering are one object, so that code is written once for them."""

from __future__ import annotations

from model_check.front_end.lower import Lowering
from model_check.front_end.terms import Apply, Int, Read, apply, parts, with_values
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES


def test_equal_terms_are_the_same() -> None:
    constants = World.of("5.3.3", (), "tiny").constants
    lowering = Lowering(TRANSACTIONAL_MESSAGES, constants)
    actions = [lowering.action(step) for step in TRANSACTIONAL_MESSAGES.steps(constants)]
    guards = [conjunct.condition for action in actions for conjunct in action.guard]
    terms = [part for part in parts(tuple(guards)) if isinstance(part, Apply | Read)]
    assert len({id(term) for term in terms}) == len(set(terms))
    assert len(set(terms)) < len(terms) / 3


def test_a_part_that_is_there_twice_is_given_once() -> None:
    age = Read(("age",), None)
    both = apply("+", age, age)
    less = apply("-", both, Int(1))
    term = apply("<", both, less)
    assert list(parts((term, term), once=True)) == [term, both, age, less, Int(1)]
    assert list(parts(term)).count(age) == 4


def test_a_value_takes_the_place_of_a_field_wherever_it_is_read() -> None:
    age = Read(("age",), None)
    grown = apply("+", age, Int(1))
    assert with_values(apply("<", grown, apply("+", grown, Read(("more",), None))), {("age",): 2}) == apply(
        "<", Int(3), apply("+", Int(3), Read(("more",), None))
    )
