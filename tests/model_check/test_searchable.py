"""An instance that no engine can search is refused at once; every one that comes with the specification can be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model_check.check import check
from model_check.engines import ENGINES
from model_check.errors import ModelCheckError
from model_check.instances import MOST_STEPS, instance_names, load_instance, require_searchable
from model_check.question import Question
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

LARGEST = replace(load_instance("tiny"), name="largest", transactions=62, half_slots=62, op_slots=62, reach=62)


@pytest.mark.parametrize("engine", ["numba", "cpython"])
def test_the_largest_sizes_are_refused_in_words(engine: str) -> None:
    with pytest.raises(ModelCheckError, match="instance largest: more than 2,000 steps may be taken in it; make its"):
        check(Question.of("5.3.3", (), LARGEST), ENGINES[engine])


@pytest.mark.parametrize("name", instance_names())
def test_what_comes_with_the_specification_can_be_searched(name: str) -> None:
    constants = World.of("5.5.1", ("crash",), load_instance(name)).constants
    require_searchable(TRANSACTIONAL_MESSAGES, constants)
    assert len(list(TRANSACTIONAL_MESSAGES.steps(constants))) <= MOST_STEPS
