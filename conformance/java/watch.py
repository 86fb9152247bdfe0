"""A watch over a process that is asked: it is killed when an answer does not come, as a class may loop for ever."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

MOST_SECONDS: Final = 120
"""So long an answer may take; none takes a second."""
_LOOKS_PER_LIMIT: Final = 8


class Watch:
    """The watch over one process, by a thread that ends with it.

    Attributes
    ----------
    has_killed
        Whether an answer did not come.
    """

    def __init__(self, process: subprocess.Popen[bytes], most_seconds: float = MOST_SECONDS) -> None:
        self.has_killed = False
        self.most_seconds = most_seconds
        self._process = process
        self._since: float | None = None
        self._is_over = threading.Event()
        threading.Thread(target=self._look, daemon=True).start()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """An answer is waited for in the block."""
        self._since = monotonic()
        yield
        self._since = None

    def end(self) -> None:
        """Look no more."""
        self._is_over.set()

    def _look(self) -> None:
        while not self._is_over.wait(self.most_seconds / _LOOKS_PER_LIMIT):
            since = self._since
            if since is not None and monotonic() - since > self.most_seconds:
                self.has_killed = True
                self._process.kill()
                return
