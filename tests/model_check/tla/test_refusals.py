"""What has no translation is refused with the file and the line, never left out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from model_check.errors import NotInTheLanguage
from model_check.tla.module import export
from spec.language import (
    LONG_AGO,
    Bits,
    Machine,
    action,
    always,
    among,
    declared_action,
    declared_always,
    remove,
    require,
)
from tests.model_check.tla.awkward_machine import AWKWARD, Cell, Colour, Constants, State

if TYPE_CHECKING:
    from collections.abc import Callable


def exported(function: Callable[..., Any], constants: object = None, **parameters: Any) -> str:
    declared = declared_action(action(**parameters)(function))
    machine = Machine("odd", State, (declared,), (), ())
    return export(machine, constants or Constants()).module


def while_loop(s: State, c: Constants) -> None:
    while s.total < c.most:
        s.total += 1


def tuple_target(s: State, c: Constants) -> None:
    s.total, s.step = s.step, s.total


def product(s: State, c: Constants) -> None:
    s.total = s.step * 2


def tuple_of_fields(s: State, c: Constants) -> None:
    require(s.total in (s.step, 1), "it is one of them")


def tuple_of_another_sort(s: State, c: Constants) -> None:
    require(s.total in (Colour.RED, Colour.BLUE), "it is one of them")


def tuple_of_nothing(s: State, c: Constants) -> None:
    require(s.total in (), "it is one of them")  # noqa: RUF060


def least_of_colours(s: State, c: Constants) -> None:
    s.cell[0].colour = min(s.cell[0].colour, s.cell[1].colour)


def least_of_three(s: State, c: Constants) -> None:
    s.total = min(s.total, s.step, 1)


def number_as_truth(s: State, c: Constants) -> None:
    require(s.total, "there is some")  # type: ignore[arg-type]


def enumeration_as_number(s: State, c: Constants) -> None:
    s.total = s.cell[0].colour


def two_enumerations(s: State, c: Constants) -> None:
    require(s.cell[0].colour == Other.RED, "the colours are not of one kind")  # type: ignore[comparison-overlap]


def read_long_ago(s: State, c: Constants) -> None:
    require(s.box.opened_at == LONG_AGO, "it was never opened")


def clock_back(s: State, c: Constants) -> None:
    s.now -= 1


def clock_set(s: State, c: Constants) -> None:
    s.now = 3


def clock_not_last(s: State, c: Constants) -> None:
    s.now += 1
    s.total = 0


def guard_after_write(s: State, c: Constants) -> None:
    s.total = 0
    require(s.step == 0, "too late")


def guard_in_branch(s: State, c: Constants) -> None:
    if s.step == 0:
        require(s.total == 0, "only sometimes")


def rule_without_words(s: State, c: Constants) -> None:
    require(s.step == 0, Colour.RED.name)


def record_alias(s: State, c: Constants) -> None:
    cell = s.cell[0]
    cell.number = 0


def whole_array(s: State, c: Constants) -> None:
    s.box.link = s.box.link


def name_twice(s: State, c: Constants) -> None:
    a = s.total
    a = a + 1
    s.total = a


def unknown_field(s: State, c: Constants) -> None:
    s.size = 1  # type: ignore[attr-defined]


def unknown_constant(s: State, c: Constants) -> None:
    s.total = c.size  # type: ignore[attr-defined]


def foreign_function(s: State, c: Constants) -> None:
    s.total = abs(s.step)


def filtered(s: State, c: Constants) -> None:
    require(any(s.cell[i].number > 0 for i in range(c.cells) if i > 0), "one counts")


def stepped(s: State, c: Constants) -> None:
    for i in range(0, c.cells, 2):
        s.cell[i].number = 0


def sum_of_numbers(s: State, c: Constants) -> None:
    s.total = sum(s.cell[i].number for i in range(c.cells))


def united_by_plus(s: State, c: Constants) -> None:
    s.box.members = s.box.members + Bits()  # type: ignore[operator]


def endless(s: State, c: Constants) -> None:
    endless(s, c)


def deleted(s: State, c: Constants) -> None:
    del s.total


def record_as_argument(s: State, c: Constants) -> None:
    take_a_record(s.cell[0])


def take_a_record(cell: Cell) -> None:
    cell.number = 0


def removed(s: State, c: Constants) -> None:
    remove(s.cell, 0)


class Other(IntEnum):
    RED = 0


CASES = [
    (while_loop, "not a statement of the language"),
    (tuple_target, "not an expression of the language"),
    (product, "not an expression of the language"),
    (tuple_of_fields, "a tuple lists constants"),
    (tuple_of_another_sort, "Colour where a number is wanted"),
    (tuple_of_nothing, "not an expression of the language"),
    (least_of_colours, "Colour where a number is wanted"),
    (least_of_three, "not a function of the specification"),
    (number_as_truth, "a number where a truth is wanted"),
    (enumeration_as_number, "Colour where a number is wanted"),
    (two_enumerations, "Other where Colour is wanted"),
    (read_long_ago, "LONG_AGO where a number is wanted"),
    (clock_back, "box.opened_at is an instant without slack"),
    (clock_set, "the clock only goes on by `+= 1`"),
    (clock_not_last, "the clock goes on last, or not at all"),
    (guard_after_write, "a conjunct of the guard follows a write"),
    (guard_in_branch, "a conjunct of the guard stands alone, not in a branch"),
    (rule_without_words, "a conjunct is a condition and its rule in words"),
    (record_alias, "not a number, a truth value, a set or a member of an enumeration"),
    (whole_array, "an array or a record is written field by field"),
    (name_twice, "a is given a value twice"),
    (unknown_field, "the state has no size"),
    (unknown_constant, "not a constant that is a number or a switch"),
    (foreign_function, "abs is not known here"),
    (filtered, "any takes one generator of truth values over a range"),
    (stepped, "loops go over a range, one by one"),
    (sum_of_numbers, "a number where a truth is wanted"),
    (united_by_plus, "sets are united with |"),
    (endless, "endless calls itself"),
    (deleted, "not a statement of the language"),
    (record_as_argument, "a parameter cannot be a Cell"),
    (removed, "a step removes no record"),
]


@pytest.mark.parametrize(("function", "why"), CASES, ids=lambda case: getattr(case, "__name__", None))
def test_what_is_not_in_the_language_is_refused_where_it_stands(function: Callable[..., Any], why: str) -> None:
    with pytest.raises(NotInTheLanguage) as caught:
        exported(function)
    place, line, said = str(caught.value).split(":", 2)
    assert Path(place) == Path(__file__)
    assert why in said
    first = min(function.__code__.co_firstlineno, take_a_record.__code__.co_firstlineno)
    assert first <= int(line) <= max(function.__code__.co_firstlineno, take_a_record.__code__.co_firstlineno) + 4


def test_a_function_that_gives_a_value_does_nothing_else() -> None:
    def claim(s: State, c: Constants) -> bool:
        assert c.turbo
        return s.total == 0

    with pytest.raises(
        NotInTheLanguage, match=r"test_refusals\.py:\d+: assert c\.turbo: a function that gives a value only"
    ):
        export(replace(AWKWARD, clauses=(declared_always(always("X", clause="x")(claim)),)), Constants())


def choose(s: State, c: Constants, start: int) -> None:
    require(s.total == start, "the choice is the total")


@pytest.mark.parametrize("starts", [(1, 1), (-2, -2), ("a",)])
def test_a_list_of_choices_that_a_configuration_cannot_write_is_refused(starts: tuple[int, ...]) -> None:
    with pytest.raises(NotInTheLanguage, match="starts = "):
        exported(choose, Constants(starts=starts), start=among("starts"))


@dataclass(frozen=True, kw_only=True)
class OddConstants(Constants):
    """A derived constant that is no sum."""

    @property
    def long_cut(self) -> int:
        """A rest."""
        return self.cut % 2 + 2


def test_a_derived_constant_that_is_not_understood_is_refused() -> None:
    with pytest.raises(NotInTheLanguage, match=r"test_refusals\.py:\d+: self\.cut % 2: a derived constant is a sum"):
        export(AWKWARD, OddConstants())
