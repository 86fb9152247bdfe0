"""Looking from beside how far a job has come, because Spark blocks until it ends."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread


@contextmanager
def watched(look: Callable[[], None], every_seconds: float) -> Iterator[None]:
    """Look now and then while the block runs."""
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
