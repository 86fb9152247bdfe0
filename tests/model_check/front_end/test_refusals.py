"""What the language does not have is refused with the file and the line, rather than read as something else."""

# ruff: noqa: C416, F821, F841, PLW2901, RUF060, SIM108 - bad code is what these functions are for

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

import pytest

from model_check.check import check
from model_check.engines import ENGINES
from model_check.errors import NotInTheLanguage
from model_check.front_end.lower import Lowering
from model_check.question import Question
from model_check.tla.module import export
from spec.language import Bits, remove, require
from tests.model_check.front_end.constructs import Sizes, State, machine_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from spec.language import Machine


def while_loop(s: State, c: Sizes) -> None:
    while s.is_on:  # here
        s.is_on = False


def list_comprehension(s: State, c: Sizes) -> None:
    s.a = len([i for i in range(c.places)])  # here


def list_display(s: State, c: Sizes) -> None:
    numbers = [1, 2]  # here


def conjunct_after_a_write(s: State, c: Sizes) -> None:
    s.a = 1
    require(s.is_on, "it is on")  # here


def conjunct_in_a_branch(s: State, c: Sizes) -> None:
    if s.a == 1:
        require(s.is_on, "it is on")  # here


def unknown_name(s: State, c: Sizes) -> None:
    s.a = nowhere  # type: ignore[name-defined]  # here


def unknown_field(s: State, c: Sizes) -> None:
    s.colours = 1  # type: ignore[attr-defined]  # here


def unknown_field_of_a_record(s: State, c: Sizes) -> None:
    s.cell[0].colour = 1  # type: ignore[attr-defined]  # here


def alias_of_a_record(s: State, c: Sizes) -> None:
    cell = s.cell[s.place]  # here
    s.place = 0
    cell.value = 1


def alias_of_the_state(s: State, c: Sizes) -> None:
    state = s  # here


def change(cell: Any) -> None:
    cell.value = 1


def record_as_an_argument(s: State, c: Sizes) -> None:
    change(s.cell[s.place])  # here


def value_of(cell: Any) -> Any:
    return cell.value


def record_as_an_argument_of_a_value(s: State, c: Sizes) -> None:
    s.b = value_of(s.cell[s.place])  # here


def array_of_records_without_an_index(s: State, c: Sizes) -> None:
    s.b = s.cell.value  # type: ignore[attr-defined]  # here


def record_with_two_indices(s: State, c: Sizes) -> None:
    s.b = s.cell[0][1].value  # type: ignore[index]  # here


def range_that_is_not_constant(s: State, c: Sizes) -> None:
    for i in range(s.a):  # here
        s.box.numbers[i] = 0


def generator_range_that_is_not_constant(s: State, c: Sizes) -> None:
    s.is_on = any(s.left.has(i) for i in range(s.a))  # here


def generator_with_a_condition(s: State, c: Sizes) -> None:
    s.is_on = any(s.left.has(i) for i in range(c.places) if i > 0)  # here


def set_of_other_numbers(s: State, c: Sizes) -> None:
    s.left = Bits.of(i + 1 for i in range(c.places) if s.right.has(i))  # here


def set_of_a_whole_range(s: State, c: Sizes) -> None:
    s.left = Bits.of(i for i in range(c.places))  # here


def generator_over_two_ranges(s: State, c: Sizes) -> None:
    s.is_on = any(s.left.has(i) and s.right.has(j) for i in range(c.places) for j in range(c.places))  # here


def sum_of_numbers(s: State, c: Sizes) -> None:
    s.is_on = sum(s.box.numbers[i] for i in range(c.places)) > 3  # here


def loop_over_a_field(s: State, c: Sizes) -> None:
    for value in s.box.numbers:  # here
        s.a = value


def reassigned_local(s: State, c: Sizes) -> None:
    x = s.a
    x = s.box.numbers[0]  # here
    s.a = x


def reassigned_constant_in_a_branch(s: State, c: Sizes) -> None:
    x = 0
    if s.is_on:
        x = 1  # here
    s.a = x


def augmented_local(s: State, c: Sizes) -> None:
    x = s.a
    x += 1  # here


def reassigned_parameter(s: State, c: Sizes) -> None:
    c = s.a  # type: ignore[assignment]  # here


def local_of_a_branch_used_behind_it(s: State, c: Sizes) -> None:
    if s.is_on:
        x = s.a
    else:
        x = s.box.numbers[0]
    s.a = x  # here


def loop_name_used_behind_the_loop(s: State, c: Sizes) -> None:
    for i in range(c.places):
        s.box.numbers[i] = 0
    s.a = i  # here


def loop_name_that_hides_another(s: State, c: Sizes) -> None:
    for i in range(c.places):
        for i in range(c.places):  # here
            s.box.numbers[i] = 0


def clock_set_back(s: State, c: Sizes) -> None:
    s.now -= 1  # here


def clock_that_jumps(s: State, c: Sizes) -> None:
    s.now += 2  # here


def clock_assigned(s: State, c: Sizes) -> None:
    s.now = 0  # here


def number_as_a_condition(s: State, c: Sizes) -> None:
    if s.a:  # here
        s.a = 0


def set_as_a_condition(s: State, c: Sizes) -> None:
    require(not s.left, "it is empty")  # type: ignore[truthy-bool]  # here


def or_of_numbers(s: State, c: Sizes) -> None:
    s.a = s.box.numbers[0] or s.box.numbers[1]  # here


def sum_of_sets(s: State, c: Sizes) -> None:
    s.left = s.left + s.right  # type: ignore[operator]  # here


def union_of_numbers(s: State, c: Sizes) -> None:
    s.a = s.a | 1  # here


def set_compared_with_a_number(s: State, c: Sizes) -> None:
    s.is_on = s.left == 1  # here


def sets_in_an_order(s: State, c: Sizes) -> None:
    s.is_on = s.left < s.right  # type: ignore[operator]  # here


def set_from_a_mask(s: State, c: Sizes) -> None:
    s.left = Bits(3)  # here


def multiplication(s: State, c: Sizes) -> None:
    s.a = s.a * 2  # here


def chained_comparison_of_sets(s: State, c: Sizes) -> None:
    s.is_on = s.left == s.right < s.left  # type: ignore[operator]  # here


def member_of_a_field(s: State, c: Sizes) -> None:
    s.is_on = s.a in s.box.numbers  # here


def tuple_of_fields(s: State, c: Sizes) -> None:
    s.is_on = s.a in (s.b, 1)  # here


def tuple_of_nothing(s: State, c: Sizes) -> None:
    s.is_on = s.a in ()  # here


def set_in_a_tuple(s: State, c: Sizes) -> None:
    s.is_on = s.left in (1, 2)  # here


def least_of_three(s: State, c: Sizes) -> None:
    s.a = min(s.a, s.b, 2)  # here


def least_of_an_array(s: State, c: Sizes) -> None:
    s.a = min(s.box.numbers)  # here


def greatest_of_sets(s: State, c: Sizes) -> None:
    s.left = max(s.left, s.right)  # type: ignore[call-overload]  # here


def place_that_is_not_in_this_instance(s: State, c: Sizes) -> None:
    s.box.numbers[3] = 1  # here


def removal_of_a_place_that_is_computed(s: State, c: Sizes) -> None:
    remove(s.cell, s.box.numbers[0])  # here


def removal_from_an_array_of_numbers(s: State, c: Sizes) -> None:
    remove(s.box.numbers, 0)  # type: ignore[arg-type]  # here


def return_from_an_action(s: State, c: Sizes) -> None:
    if s.is_on:
        return  # here
    s.a = 1


def two_targets(s: State, c: Sizes) -> None:
    s.a, s.b = s.b, s.a  # here


def assignment_to_a_constant(s: State, c: Sizes) -> None:
    c.places = 4  # type: ignore[misc]  # here


def call_of_a_builtin(s: State, c: Sizes) -> None:
    print(s.a)  # here


def text(s: State, c: Sizes) -> None:
    s.a = "one"  # type: ignore[assignment]  # here


def attempt(s: State, c: Sizes) -> None:
    try:  # here
        s.a = 1
    finally:
        s.b = 1


REFUSED: tuple[Callable[..., None], ...] = (
    while_loop,
    list_comprehension,
    list_display,
    conjunct_after_a_write,
    conjunct_in_a_branch,
    unknown_name,
    unknown_field,
    unknown_field_of_a_record,
    alias_of_a_record,
    alias_of_the_state,
    record_as_an_argument,
    record_as_an_argument_of_a_value,
    array_of_records_without_an_index,
    record_with_two_indices,
    range_that_is_not_constant,
    generator_range_that_is_not_constant,
    generator_with_a_condition,
    set_of_other_numbers,
    set_of_a_whole_range,
    generator_over_two_ranges,
    sum_of_numbers,
    loop_over_a_field,
    reassigned_local,
    reassigned_constant_in_a_branch,
    augmented_local,
    reassigned_parameter,
    local_of_a_branch_used_behind_it,
    loop_name_used_behind_the_loop,
    loop_name_that_hides_another,
    clock_set_back,
    clock_that_jumps,
    clock_assigned,
    number_as_a_condition,
    set_as_a_condition,
    or_of_numbers,
    sum_of_sets,
    union_of_numbers,
    set_compared_with_a_number,
    sets_in_an_order,
    set_from_a_mask,
    multiplication,
    chained_comparison_of_sets,
    member_of_a_field,
    tuple_of_fields,
    tuple_of_nothing,
    set_in_a_tuple,
    least_of_three,
    least_of_an_array,
    greatest_of_sets,
    place_that_is_not_in_this_instance,
    removal_of_a_place_that_is_computed,
    removal_from_an_array_of_numbers,
    return_from_an_action,
    two_targets,
    assignment_to_a_constant,
    call_of_a_builtin,
    text,
    attempt,
)


@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__name__)
def test_it_is_refused_with_the_file_and_the_line(function: Callable[..., None]) -> None:
    lines, first = inspect.getsourcelines(function)
    (line,) = (first + i for i, text in enumerate(lines) if text.rstrip().endswith("# here"))
    machine = machine_of(function)
    with pytest.raises(NotInTheLanguage) as caught:
        Lowering(machine, Sizes()).action(machine.steps(Sizes())[0])
    assert re.match(rf"^{re.escape(__file__)}:{line}: .+: .+$", str(caught.value))
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 75


SIZES = Sizes()


def writes_and_then_refuses(s: State, c: Sizes) -> None:
    s.a = 3
    require(s.b < 3, "there is room")


def goes_through_an_array(s: State, c: Sizes) -> None:
    for cell in s.cell:
        cell.value = 0


def asks_for_a_remainder(s: State, c: Sizes) -> None:
    s.a = s.a % 2


def refusal_by(engine: str, machine: Machine, constants: Any = SIZES) -> str:
    try:
        if engine == "tla":
            export(machine, constants)
        else:
            check(Question.of("5.5.1", (), "tiny", given=machine, constants=constants), ENGINES[engine])
    except NotInTheLanguage as refused:
        return str(refused)
    return "not refused"


@pytest.mark.parametrize(
    "function",
    [*REFUSED, writes_and_then_refuses, goes_through_an_array, asks_for_a_remainder],
    ids=lambda f: f.__name__,
)
def test_no_engine_takes_what_another_one_refuses(function: Callable[..., None]) -> None:
    """CPython would go on from the state that an action has written before it refused."""
    machine = machine_of(function)
    refusals = {engine: refusal_by(engine, machine) for engine in (*ENGINES, "tla")}
    assert set(refusals.values()) == {refusals["numba"]}
    assert refusals["numba"].startswith(f"{__file__}:")


def test_a_conjunct_behind_a_write_and_a_loop_over_records_are_told_in_words() -> None:
    assert refusal_by("cpython", machine_of(writes_and_then_refuses)).endswith(
        "a conjunct of the guard follows a write"
    )
    assert "loops go over a range" in refusal_by("cpython", machine_of(goes_through_an_array))
    assert refusal_by("cpython", machine_of(return_from_an_action)).endswith(
        ": return: a function that changes the state ends at its end: put what follows into a branch"
    )


class Instance:
    """Lacks what `State` names."""

    places = 3


class WithoutHorizon:
    """Has no horizon for the clock."""

    places, cut, switch = 3, 3, False


@pytest.mark.parametrize("engine", [*ENGINES, "tla"])
@pytest.mark.parametrize(
    ("constants", "said"),
    [
        (Instance(), "State.cell.at: Instance has no constant 'cut', which its declaration names; it has places"),
        (WithoutHorizon(), "State.now: WithoutHorizon has no 'horizon', from which the clock goes on: give it one "),
    ],
)
def test_a_constant_that_a_field_names_and_the_instance_has_not_is_told_in_one_line(
    engine: str, constants: object, said: str
) -> None:
    refused = refusal_by(engine, machine_of(adds_one), constants)
    assert said in refused
    assert "\n" not in refused


def adds_one(s: State, c: object) -> None:
    s.a += 1
