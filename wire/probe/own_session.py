"""A command in a session of its own, which leaves no process behind that was interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


@contextmanager
def in_own_session(
    command: Sequence[str], *, environment: Mapping[str, str] | None = None, said: IO[bytes] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A process that reads nothing; if it still runs behind the context, it is killed with all that it has started.

    Ctrl-C at this terminal reaches neither it nor a broker that it has started in the background.

    Parameters
    ----------
    said
        Takes what it prints; else that goes where this process prints.
    """
    process = None
    try:
        with _interruptions_held():
            process = subprocess.Popen(  # noqa: S603 - what the user has given to run, or cargo
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=None if said is None else subprocess.STDOUT,
                start_new_session=True,
            )
        yield process
    finally:
        if process is not None and process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def _interruptions_held() -> Iterator[None]:
    """Ctrl-C and SIGTERM that come in here act behind it; only the main thread hears of them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {number: signal.signal(number, lambda n, _: came.append(n)) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for first in came[:1]:
        signal.raise_signal(first)
