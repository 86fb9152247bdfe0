"""The yardstick's counts, which Stateright gives, too (`benchmarks/explicit`)."""

from __future__ import annotations

import pytest

from benchmarks.machines.small_check_service.machine import SMALL_CHECK_SERVICE
from benchmarks.machines.small_check_service.state import Constants
from model_check import cpython
from model_check.counterexample.steps import replay
from model_check.explicit import search as explicit_search


@pytest.fixture(autouse=True, params=["small_check_service"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_compiled_search_gives_the_known_counts(threads: int) -> None:
    found = explicit_search.explore(SMALL_CHECK_SERVICE, Constants(), threads=threads)
    assert found.complete
    assert (found.distinct, found.generated) == (5_433_666, 23_033_558)
    assert found.depth == 36  # steps; Stateright counts the 37 states on the way
    assert found.compiled.packing.words == 2
    assert found.seen_at == (None, 9)


def test_both_readings_agree_on_one_transaction() -> None:
    constants = Constants(transactions=1, half_slots=2, op_slots=1)
    compiled, judge = (search.explore(SMALL_CHECK_SERVICE, constants) for search in (explicit_search, cpython))
    assert (compiled.distinct, compiled.generated, compiled.depth) == (16_482, 61_384, 20)
    assert (judge.distinct, judge.generated, judge.depth) == (16_482, 61_384, 20)
    assert judge.violations == {}
    assert compiled.path_to(0) is None
    (witness,) = SMALL_CHECK_SERVICE.witnesses
    path = compiled.path_to(1)
    assert path is not None
    assert path == judge.path_to(judge.witnesses[witness])
    assert witness in replay(SMALL_CHECK_SERVICE, constants, path).witnessed
