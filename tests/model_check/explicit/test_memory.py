from __future__ import annotations

import mmap

import numpy as np
import pytest

from model_check.explicit import memory, store
from model_check.explicit.search import explore
from model_check.yardsticks.two_phase_commit import TWO_PHASE_COMMIT, Constants


@pytest.fixture(autouse=True, params=["two_phase_commit"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def test_reserved_memory_is_zero_and_can_be_written() -> None:
    for length in (10, memory.SMALL):
        array = memory.zeros(length, np.int64)
        assert array.shape == (length,)
        assert not array.any()
        array[-1] = 7
        assert array[-1] == 7


def test_a_system_that_reserves_little_gives_what_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    most = 1 << 24

    def refuse(number: int, size: int, flags: int) -> mmap.mmap:
        if size > most:
            raise OSError(size)
        return mmap_of(number, size, flags=flags)

    mmap_of = mmap.mmap
    monkeypatch.setattr(mmap, "mmap", refuse)
    assert len(memory.zeros_up_to(1 << 30, 1, np.int64)) == most // 8


@pytest.mark.parametrize("threads", [1, 2])
def test_states_are_moved_when_a_region_is_full(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    constants = Constants(resource_managers=7)
    roomy = explore(TWO_PHASE_COMMIT, constants, threads=threads)
    monkeypatch.setattr(store, "physical_bytes", lambda: 0)
    moved = explore(TWO_PHASE_COMMIT, constants, threads=threads)
    assert moved.store.room < roomy.store.room
    assert moved.store.room > store.LEAST_ROOM
    assert (moved.distinct, moved.generated, moved.sizes) == (roomy.distinct, roomy.generated, roomy.sizes)
    assert set(map(bytes, moved.store.all_words())) == set(map(bytes, roomy.store.all_words()))
