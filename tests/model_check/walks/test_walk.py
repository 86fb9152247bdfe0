from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest

from model_check.errors import EvaluationError, ModelCheckError
from model_check.walks.walk import Walker
from model_check.world import Environment, World
from spec.events import EVENTS, FIELDS
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.walks.legal_walks import illegal_step, rows


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


EVERYTHING = "slow_local,lose_end,lose_check,duplicate_end,wrong_end,late_end,slow_round,slow_dispatch,crash"


@cache
def walker(profile: str, environment: str) -> Walker:
    return Walker(World.of(profile, Environment.named(environment), "tiny"))


def test_a_walk_depends_on_its_seed_and_number_and_not_on_the_block_it_is_made_in() -> None:
    walks = walker("5.3.3", "crash")
    whole = rows(walks.walk(7, 0, 30, 25))
    assert whole == rows(walks.walk(7, 0, 30, 25))
    assert whole == [row for first in range(30) for row in rows(walks.walk(7, first, 1, 25))]
    assert whole == rows(walks.walk(7, 0, 13, 25)) + rows(walks.walk(7, 13, 17, 25))
    assert whole != rows(walks.walk(8, 0, 30, 25))


def test_a_longer_walk_begins_with_the_shorter_one() -> None:
    walks = walker("5.3.3", "quiet")
    short = rows(walks.walk(3, 0, 20, 10))
    assert short == [row for row in rows(walks.walk(3, 0, 20, 40)) if row[1] < 10]


@pytest.mark.parametrize("number", [0, 3])
def test_a_step_that_leaves_a_declared_range_is_named(number: int) -> None:
    walks = walker("5.3.3", "crash")
    with pytest.raises(EvaluationError, match=rf"^{re.escape(str(walks._compiled.steps[number]))}: a value left its "):
        walks._checked(-1 - number)


def test_different_numbers_give_different_walks() -> None:
    columns = walker("5.3.3", "crash").walk(7, 0, 50, 30)
    actions = {tuple(columns["action"][columns["trace"] == trace].tolist()) for trace in range(50)}
    assert len(actions) == 50


def test_columns_have_the_names_and_types_of_the_vocabulary() -> None:
    walks = walker("5.3.3", "crash")
    columns = walks.walk(1, 100, 5, 10)
    assert list(columns) == [field.name for field in FIELDS]
    assert len({len(column) for column in columns.values()}) == 1
    assert walks.events == EVENTS
    assert walks.actions == tuple(action.name for action in TRANSACTIONAL_MESSAGES.actions)
    assert sorted(set(columns["trace"].tolist())) == [100, 101, 102, 103, 104]
    for field in FIELDS:
        if field.kind != "string":
            assert columns[field.name].dtype == np.dtype(field.kind), field.name


def test_no_walks_are_an_empty_table() -> None:
    columns = walker("5.3.3", "quiet").walk(1, 0, 0, 10)
    assert {len(column) for column in columns.values()} == {0}


@pytest.mark.parametrize(
    ("profile", "environment"),
    [
        ("4.5.1", "slow_local"),
        ("5.3.3", EVERYTHING),
        ("5.4.0", "quiet"),
        ("5.3.3", "clock_step,clock_skew,slow_round"),
        ("4.9.7", "power_loss,offset_regression,resume_discarded,put_failure,op_write_failure"),
        ("5.3.3", "acting_slave,offline_producer,null_half,undecodable_op,reorder"),
    ],
)
def test_every_walk_is_a_legal_path_with_the_observed_fields_of_the_cpython_reading(
    profile: str, environment: str
) -> None:
    columns = walker(profile, environment).walk(11, 0, 100, 45)
    assert illegal_step(columns, range(100), profile, environment) == ""
    went_back = EVENTS.index("clock_stepped_back") in columns["event"]
    assert went_back is ("clock_step" in environment)


def test_what_walks_violate_does_not_depend_on_those_beside_them_that_end_earlier() -> None:
    walks = walker("5.3.3", "power_loss")
    lengths = [len(walks.path(7, number, 100)) for number in range(30)]
    assert 0 < sum(length < 100 for length in lengths) < 15, "some end before others"
    whole, steps = walks.violated(7, 0, 30, 100)
    alone = [walks.violated(7, number, 1, 100) for number in range(30)]
    assert whole.tolist() == [some.tolist()[0] for some, _ in alone]
    assert steps == sum(steps for _, steps in alone)
    assert len({tuple(row) for row in whole.tolist()}) > 5


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_bad_seed_is_refused(seed: int) -> None:
    with pytest.raises(ModelCheckError, match=rf"^seed {seed} is not a number from 0 to 9223372036854775807$"):
        walker("5.3.3", "quiet").walk(seed, 0, 1, 1)


def test_the_largest_seed_is_taken() -> None:
    assert len(walker("5.3.3", "quiet").walk(2**63 - 1, 0, 1, 5)["trace"]) == 5


@pytest.mark.parametrize(("first", "count", "steps"), [(-1, 1, 1), (0, -1, 1), (0, 1, 0)])
def test_bad_sizes_are_refused(first: int, count: int, steps: int) -> None:
    with pytest.raises(ModelCheckError, match="give positive numbers"):
        walker("5.3.3", "quiet").walk(1, first, count, steps)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ModelCheckError, match=r"no profile '9\.9'"):
        Walker(World.of("9.9"))
