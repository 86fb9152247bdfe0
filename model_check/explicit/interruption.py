"""Deferred Ctrl-C: a search is interrupted where it is whole, between two calls of the kernels."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def interruption() -> Iterator[Callable[[], None]]:
    """Give a function that raises KeyboardInterrupt if Ctrl-C was pressed since; until it is called, nothing does.

    Where another handler was set, or outside of the main thread, nothing is changed.
    """
    pressed: list[int] = []

    def raise_if_pressed() -> None:
        if pressed:
            pressed.clear()
            raise KeyboardInterrupt

    def note(number: int, _frame: Any) -> None:
        pressed.append(number)

    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield raise_if_pressed
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield raise_if_pressed
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
