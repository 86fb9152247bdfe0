"""Views: what one transaction sees is the same in every instance, and tells everything where it is alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from model_check.walks.guided.views import Grain
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.walks.guided.worlds import graph, world

if TYPE_CHECKING:
    from model_check.walks.guided.views import Hashes
    from spec.language import Step

INSTANCES = ("tiny", "small", "medium")


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def views_after(instance: str, path: str) -> Hashes:
    """The views of the state behind some steps, shape (transactions + 1, grains)."""
    constants = World.of("5.3.3", (), instance).constants
    steps: dict[str, Step] = {str(step): step for step in TRANSACTIONAL_MESSAGES.steps(constants)}
    state = TRANSACTIONAL_MESSAGES.initial(constants)
    for words in filter(None, path.split("; ")):
        step = steps[words]
        step.action.function(state, constants, *step.arguments)
    there = world("quiet", instance)
    views: Hashes = there.views(there.compiled.packing.pack(state.canonical())[None, :])[0]
    return views


ALONE = (
    "",
    "send_half t=0 immunity=-1",
    "send_half t=0 immunity=-1; tick; begin_round; end_round_at_young_half",  # nothing of which is left but ages
    "send_half t=0 immunity=-1; commit_locally t=0; store_real_message h=0; buffer_op h=0; tick; write_op_batch",
)


@pytest.mark.parametrize("path", ALONE)
def test_a_transaction_alone_looks_the_same_in_every_instance(path: str) -> None:
    seen = [views_after(instance, path) for instance in INSTANCES]
    for grain in Grain:
        assert len({int(views[0, grain]) for views in seen}) == 1
        assert len({int(views[-1, grain]) for views in seen}) == 1


def test_views_of_different_states_and_grains_differ() -> None:
    seen = [views_after("tiny", path) for path in ALONE]
    by_grain = [{int(key) for views in seen for key in views[:, grain]} for grain in Grain]
    assert len(by_grain[Grain.AGES]) == 2 * len(ALONE)
    assert len(by_grain[Grain.QUEUES]) == len(by_grain[Grain.MESSAGES]) == 2 * (len(ALONE) - 1)
    assert len(set().union(*by_grain)) == sum(map(len, by_grain))
    assert 0 not in set().union(*by_grain)


def test_the_halves_of_another_transaction_are_not_seen_but_what_the_broker_does_is() -> None:
    first = "send_half t=0 immunity=-1"
    alone, beside = (views_after("medium", f"{some}tick; begin_round") for some in ("", f"{first}; "))
    assert beside[1].tolist() == alone[0].tolist()
    assert not set(beside[-1].tolist()) & set(alone[-1].tolist())
    idle = views_after("medium", f"{first}; tick")
    assert idle[1, Grain.MESSAGES] == beside[1, Grain.MESSAGES]
    assert idle[1, Grain.QUEUES] != beside[1, Grain.QUEUES]
    second = "roll_back_locally t=1; tick; begin_round"
    assert views_after("medium", f"{first}; send_half t=1 immunity=3; {second}")[1].tolist() == (
        views_after("medium", f"send_half t=0 immunity=3; {second.replace('t=1', 't=0')}")[0].tolist()
    )


def test_it_does_not_matter_which_transaction_it_is() -> None:
    one = views_after("medium", "send_half t=0 immunity=-1; send_half t=1 immunity=3; commit_locally t=0; tick")
    two = views_after("medium", "send_half t=0 immunity=3; send_half t=1 immunity=-1; commit_locally t=1; tick")
    assert one[-1].tolist() == two[-1].tolist()
    assert one[[1, 0]].tolist() == two[[0, 1]].tolist()
    assert one[0].tolist() != one[1].tolist()


def test_an_age_is_seen_by_the_finest_grain_only() -> None:
    young, old = views_after("tiny", ALONE[1]), views_after("tiny", f"{ALONE[1]}; tick")
    assert (young == old).tolist() == [[True, True, False]] * 2


def test_where_there_is_one_transaction_its_finest_view_tells_all_states_apart() -> None:
    whole = graph("crash", 1_000_000)
    views = whole.space.views(whole.states)
    counts = [len(np.unique(views[:, 0, grain])) for grain in Grain]
    assert counts[Grain.AGES] == len(whole.states)
    assert counts[Grain.MESSAGES] < counts[Grain.QUEUES] / 4 < counts[Grain.AGES] / 4
    assert [len(np.unique(views[:, 1, grain])) for grain in Grain] == counts
