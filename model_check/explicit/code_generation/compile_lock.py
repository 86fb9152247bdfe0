"""A lock on a module's file, under which one process at a time compiles its functions with Numba.

Several processes begin with the same searches, each of which would compile for seconds; whoever has waited finds the
functions in the cache.
"""

from __future__ import annotations

import fcntl
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.compiler_lock import global_compiler_lock

from files.reading import open_file

_LOCKED: set[Path] = set()
"""Files whose lock this process has; guarded by Numba's own lock."""


def cached_njit(function: Any) -> Any:
    """`numba.njit` with a cache on disk, under the compile lock of the function's module; it lets other threads run."""
    return with_compile_lock(njit(cache=True, nogil=True)(function), function.__code__.co_filename)


def with_compile_lock(dispatcher: Any, file: str) -> Any:
    """Let a dispatcher of Numba's take the lock of a file before it looks into the cache or compiles.

    Where the file can't be locked, each process compiles for itself. Functions that are compiled meanwhile, because
    this one calls them, do not take the lock again.
    """
    compile_without, path = dispatcher.compile, Path(file)

    def compile_with_lock(signature: Any) -> Any:
        with global_compiler_lock, ExitStack() as stack:
            if path not in _LOCKED:
                _take_lock(path, stack)
            return compile_without(signature)

    dispatcher.compile = compile_with_lock
    return dispatcher


def _take_lock(path: Path, stack: ExitStack) -> None:
    try:
        opened = stack.enter_context(open_file(path))
        fcntl.flock(opened, fcntl.LOCK_EX)  # ends with this process, too
    except OSError:
        return
    stack.callback(fcntl.flock, opened, fcntl.LOCK_UN)  # a child that was forked meanwhile has the file open
    _LOCKED.add(path)
    stack.callback(_LOCKED.discard, path)
