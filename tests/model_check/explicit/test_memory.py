from __future__ import annotations

import mmap
from typing import TYPE_CHECKING

import numpy as np

from model_check.explicit.state_store import reserved_memory as memory

if TYPE_CHECKING:
    import pytest


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
        if size > most + memory.HUGE_PAGE:
            raise OSError(size)
        return mmap_of(number, size, flags=flags)

    mmap_of = mmap.mmap
    monkeypatch.setattr(mmap, "mmap", refuse)
    assert len(memory.zeros_up_to(1 << 30, 1, np.int64)) == most // 8


def test_huge_pages_that_were_set_aside_are_taken_up_to_the_last_whole_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MAP_HUGE_PAGES", 0)  # usual pages, so that none need to be set aside here
    monkeypatch.setattr(memory, "huge_pages", lambda: 4 * memory.HUGE_PAGE)
    array = memory.zeros(8 * memory.HUGE_PAGE, np.uint8)
    assert array.ctypes.data % memory.HUGE_PAGE == 0
    first = 2 * memory.HUGE_PAGE
    assert memory.take_huge_pages(array, first, first + 3 * memory.HUGE_PAGE + 5) == 3 * memory.HUGE_PAGE
    assert memory.take_huge_pages(array, first, first + 5 * memory.HUGE_PAGE) == 0  # fewer are free
    assert memory.take_huge_pages(array, first + 4096, first + 3 * memory.HUGE_PAGE) == 0
    assert memory.take_huge_pages(array, first, first + memory.HUGE_PAGE - 1) == 0
    array[:] = 7
    assert array.min() == 7


def test_what_somebody_else_took_meanwhile_is_usual_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = memory.zeros(memory.SMALL, np.uint8)
    monkeypatch.setattr(memory, "huge_pages", lambda: 1 << 60)
    whole = memory.zeros(1 << 37, np.uint8)  # more than any machine has set aside
    assert memory.take_huge_pages(whole, 0, len(whole)) == 0
    whole[:3] = mine[:3] = 5
    assert not whole[3:10].any()
