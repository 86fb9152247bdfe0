"""Standard output and error that are not a terminal's: closed, full, or a pipe whose reader has left."""

from __future__ import annotations

import os
import select
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO


def open_closed_streams() -> None:
    """Let what a shell has closed (``>&-``) swallow what is written; the next file opened must not take its number."""
    for number, name in ((0, "stdin"), (1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is not None:
            continue
        opened = os.open(os.devnull, os.O_RDWR)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)
        setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8"))


def let_any_text_pass(*streams: TextIO) -> None:
    """Let streams of another encoding than UTF-8 show ``?`` for what they have no letter for: it ends no command."""
    for stream in streams:
        if isinstance(stream, TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")


def has_no_reader(*streams: TextIO) -> bool:
    """Whether one of some streams is a pipe that nobody reads any more.

    A `BrokenPipeError` alone does not say so: a socket to Java raises it, too.
    """
    asked = select.poll()
    for stream in streams:
        with suppress(OSError, ValueError):
            asked.register(stream.fileno(), 0)
    return any(event & select.POLLERR for _, event in asked.poll(0))


def is_rich_leaving(error: SystemExit) -> bool:
    """Whether Rich met a pipe that nobody reads any more: it ends the process by itself, with the exit code 1."""
    return isinstance(error.__context__, BrokenPipeError)


def discard_output() -> None:
    """Let standard output swallow what is written from now on; Python's own flush at exit must meet no error."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
