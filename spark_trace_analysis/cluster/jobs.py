"""The progress of a job that whoever began it waits for."""

from __future__ import annotations

from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def watched(look: Callable[[], None], every_seconds: float) -> Iterator[None]:
    """Report the progress of a job now and then, from another thread: who began it waits until it ends."""
    over = Event()

    def watch() -> None:
        while not over.wait(every_seconds):
            look()

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
