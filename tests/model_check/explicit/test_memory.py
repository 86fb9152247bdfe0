from __future__ import annotations

import mmap
from typing import TYPE_CHECKING

import numpy as np

from model_check.explicit import memory

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
        if size > most:
            raise OSError(size)
        return mmap_of(number, size, flags=flags)

    mmap_of = mmap.mmap
    monkeypatch.setattr(mmap, "mmap", refuse)
    assert len(memory.zeros_up_to(1 << 30, 1, np.int64)) == most // 8
