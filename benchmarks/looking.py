"""Something that is looked at every so often while something else runs."""

from __future__ import annotations

from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def looking(look: Callable[[], None], every_seconds: float) -> Iterator[None]:
    """Call a function on a thread until the block ends."""
    over = Event()

    def go_on() -> None:
        while not over.wait(every_seconds):
            look()

    thread = Thread(target=go_on, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
