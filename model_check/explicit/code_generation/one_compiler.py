"""Numba compiles the functions of a module in one process at a time; whoever waited finds them in the cache.

Several processes begin with the same searches, each of which would compile for seconds what another one compiles too.
"""

from __future__ import annotations

import fcntl
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.compiler_lock import global_compiler_lock

from files.reading import open_file

_COMPILING: set[Path] = set()
"""Files whose lock this process has; guarded by Numba's own lock."""


def kept(function: Any) -> Any:
    """Compile a function of a module at its first call, and keep its code where Numba keeps that of the module."""
    return one_compiler(njit(cache=True)(function), function.__code__.co_filename)


def one_compiler(dispatcher: Any, file: str) -> Any:
    """Let a dispatcher of Numba's take the lock of a file before it looks into the cache or compiles.

    Where the file can't be locked, each process compiles for itself. What is compiled meanwhile, because the function
    calls it, does not take the lock again.
    """
    compile_here, path = dispatcher.compile, Path(file)

    def compile_alone(signature: Any) -> Any:
        with global_compiler_lock, ExitStack() as stack:
            if path not in _COMPILING:
                _take_lock(path, stack)
            return compile_here(signature)

    dispatcher.compile = compile_alone
    return dispatcher


def _take_lock(path: Path, stack: ExitStack) -> None:
    try:
        opened = stack.enter_context(open_file(path))
        fcntl.flock(opened, fcntl.LOCK_EX)  # ends with this process, too
    except OSError:
        return
    stack.callback(fcntl.flock, opened, fcntl.LOCK_UN)  # a child that was forked meanwhile has the file open
    _COMPILING.add(path)
    stack.callback(_COMPILING.discard, path)
