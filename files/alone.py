"""A lock under which one process at a time makes a file or a folder that others want, too.

What takes seconds to make (compiled code, a download) is made once: whoever has waited finds it there. Where no lock
can be had, each process makes it for itself, which is why it has to appear by rename.
"""

from __future__ import annotations

import fcntl
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """While what stands at a path is made, no other process makes it, nor another thread of this one."""
    with ExitStack() as stack:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = path.with_name(f"{path.name}.lock")
            opened = stack.enter_context(lock.open("w"))
            fcntl.flock(opened, fcntl.LOCK_EX)  # ends with this process, too
            stack.callback(fcntl.flock, opened, fcntl.LOCK_UN)  # a child that was forked meanwhile has the file open
            stack.callback(lock.unlink, missing_ok=True)  # whoever waits for it finds what was made
        yield
