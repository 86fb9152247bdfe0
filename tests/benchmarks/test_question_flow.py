"""A question goes straight from the command line to the search."""

from __future__ import annotations

import pytest

from benchmarks.flow.__main__ import QUESTIONS
from benchmarks.flow.question_flow import SEARCH, Way, followed
from halfcheck.commands.check import command
from model_check.world import World

MOST_RETURNS = 20


@pytest.mark.parametrize("name", QUESTIONS)
def test_it_comes_back_to_few_modules_that_it_has_left(name: str) -> None:
    with followed() as way:
        command(**QUESTIONS[name])
    assert way.stays[-1] == SEARCH
    assert way.returns <= MOST_RETURNS
    assert len(way.modules) < 20


def test_a_stay_is_counted_once_and_a_return_each_time() -> None:
    assert Way(["a", "b", "a", "c", "b"]).returns == 2
    with followed() as way:
        assert World.of("5.3.3").constants.transactions == 1
    assert way.stays == [], "what a world says of itself is no way"
