"""The coverage tool does not look where nothing of this project is to be seen, and looks again afterwards."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numba
import pytest

from tests.model_check.checked import at_full_speed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

Files = list[str]


@pytest.fixture
def called() -> Iterator[Files]:
    """The files of the functions that a tracer sees called."""
    files: Files = []

    def note(frame: FrameType, event: str, _argument: object) -> None:
        files.append(frame.f_code.co_filename)

    before = sys.gettrace()
    sys.settrace(note)
    yield files
    sys.settrace(before)


def take_a_line() -> None:
    """Something that a tracer sees."""


def test_numba_compiles_untraced_and_what_follows_is_traced(called: Files) -> None:
    increment = numba.njit(lambda x: x + 1)
    assert increment(1) == 2
    assert not [file for file in called if file.endswith("numba/core/compiler.py")]
    called.clear()
    take_a_line()
    assert called == [take_a_line.__code__.co_filename]


@pytest.mark.untraced
def test_a_test_that_is_marked_is_not_traced(called: Files) -> None:
    take_a_line()
    assert take_a_line.__code__.co_filename not in called


def test_a_function_at_full_speed_is_not_traced_and_the_test_around_it_is(called: Files) -> None:
    assert at_full_speed(sys.gettrace)() is None
    called.clear()
    take_a_line()
    assert called == [take_a_line.__code__.co_filename]
