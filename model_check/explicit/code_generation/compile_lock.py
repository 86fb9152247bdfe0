"""Locks under which one process at a time compiles: the functions of a module with Numba, or what one file holds.

Several processes begin with the same searches, each of which would compile for seconds; whoever has waited finds the
code in the cache. Where no lock can be had, each process compiles for itself.
"""

from __future__ import annotations

import fcntl
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from files.reading import open_file

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOCKED: set[Path] = set()
"""Files whose lock this process has; guarded by Numba's own lock."""


def cached_njit(function: Any) -> Any:
    """`numba.njit` with a cache on disk, under the compile lock of the function's module."""
    from numba import njit

    return with_compile_lock(njit(cache=True)(function), function.__code__.co_filename)


def with_compile_lock(dispatcher: Any, file: str) -> Any:
    """Let a dispatcher of Numba's take the lock of a file before it looks into the cache or compiles.

    Functions that are compiled meanwhile, because this one calls them, do not take the lock again.
    """
    from numba.core.compiler_lock import global_compiler_lock

    compile_without, path = dispatcher.compile, Path(file)

    def compile_with_lock(signature: Any) -> Any:
        with global_compiler_lock, ExitStack() as stack:
            if path not in _LOCKED:
                _take_lock(path, stack)
            return compile_without(signature)

    dispatcher.compile = compile_with_lock
    return dispatcher


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """While a file of the cache is made, no other process makes it, nor another thread of this one."""
    with ExitStack() as stack:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = path.with_suffix(".lock")
            opened = stack.enter_context(lock.open("w"))
            fcntl.flock(opened, fcntl.LOCK_EX)
            stack.callback(fcntl.flock, opened, fcntl.LOCK_UN)
            stack.callback(lock.unlink, missing_ok=True)  # whoever waits for it finds the file, and makes no other
        yield


def _take_lock(path: Path, stack: ExitStack) -> None:
    try:
        opened = stack.enter_context(open_file(path))
        fcntl.flock(opened, fcntl.LOCK_EX)  # ends with this process, too
    except OSError:
        return
    stack.callback(fcntl.flock, opened, fcntl.LOCK_UN)  # a child that was forked meanwhile has the file open
    _LOCKED.add(path)
    stack.callback(_LOCKED.discard, path)
