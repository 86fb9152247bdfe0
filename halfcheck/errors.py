"""The exit codes of every command, and how whatever ends one becomes a line for people and an exit code for scripts.

Every package has its own family of exceptions; the root of a family carries the class attribute ``exit_code``, and that
is all the command line has to know of it, so no package needs to import another one for its errors.
"""

from __future__ import annotations

import errno
import os
import resource
import tempfile
from enum import IntEnum
from pathlib import Path

import typer

from model_check.cache_folder import VARIABLE, wanted_folder


class ExitCode(IntEnum):
    """The exit codes of all commands."""

    OK = 0
    DEADLOCK = 11
    SAFETY_VIOLATED = 12
    LIVENESS_VIOLATED = 13
    EVALUATION_ERROR = 75
    INTERRUPTED = 130
    OUTPUT_CLOSED = 141
    BAD_CONTENT = 150
    BAD_OPTION = 151
    OTHER = 255

    @classmethod
    def of_verdict(cls, *, is_broken: bool, is_complete: bool) -> ExitCode:
        """The exit code of a search: a violation counts even if the search was cut short."""
        if is_broken:
            return cls.SAFETY_VIOLATED
        return cls.OK if is_complete else cls.OTHER


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_ROOM_BYTES = 1 << 20
_KILOBYTE, _MEGABYTE = 1 << 10, 1 << 20
_TO_DO = {
    FileNotFoundError: "name one that is there",
    IsADirectoryError: "name a file",
    NotADirectoryError: "name a path whose folders are folders",
    PermissionError: "allow it to this user, or name another",
}
_UNREADABLE = tuple(_TO_DO)


class CommandLineError(Exception):
    """The root of the command line's own errors: an option, or a combination of options, that makes no sense."""

    exit_code: int = ExitCode.BAD_OPTION


def exit_code_of(error: BaseException) -> ExitCode:
    """The exit code that stands for an exception.

    ``BAD_OPTION`` for everything that the parser of the command line refuses, and for what asks for more memory than
    there is, the exception's own ``exit_code`` if it carries one, ``BAD_CONTENT`` for a file that is not there or may
    not be read, and where a file system elsewhere does not answer, otherwise ``OTHER``.

    Examples
    --------
    >>> exit_code_of(FileNotFoundError(2, "No such file or directory", "commitlog"))
    <ExitCode.BAD_CONTENT: 150>
    >>> exit_code_of(ZeroDivisionError("division by zero"))
    <ExitCode.OTHER: 255>
    """
    if isinstance(error, typer.TyperException | MemoryError):
        return ExitCode.BAD_OPTION
    if isinstance(error, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    if hasattr(error, "exit_code"):
        return ExitCode(error.exit_code)
    if isinstance(error, _UNREADABLE) or (isinstance(error, OSError) and _is_elsewhere(error)):
        return ExitCode.BAD_CONTENT
    return ExitCode.OTHER


def one_line(error: BaseException) -> str:
    r"""The message of an exception, as one line without line breaks.

    Examples
    --------
    >>> one_line(FileNotFoundError(2, "No such file or directory", "commitlog"))
    'commitlog: No such file or directory; name one that is there'
    >>> one_line(ZeroDivisionError("division\nby zero"))
    'unexpected ZeroDivisionError: division by zero (set HALFCHECK_DEBUG=1 to see where)'
    >>> one_line(MemoryError("Unable to allocate 7.5 GiB for an array"))  # doctest: +ELLIPSIS
    'the memory is not enough: Unable to allocate 7.5 GiB for an array, ... in use; take a smaller instance, ...'
    """
    if isinstance(error, typer.TyperException):
        text = _usage_line(error)
    elif isinstance(error, KeyboardInterrupt):
        text = str(error) or "interrupted"
    elif isinstance(error, MemoryError):
        text = _memory_line(error)
    elif type(error) in _TO_DO and isinstance(error, OSError) and error.filename is not None:
        text = f"{error.filename}: {error.strerror}; {_TO_DO[type(error)]}"
    elif hasattr(error, "exit_code"):
        text = str(error)
    elif isinstance(error, OSError) and _is_elsewhere(error):
        text = f"{error.filename}: {error.strerror}"
    elif isinstance(error, OSError) and error.errno in _FULL:
        text = f"{error.strerror}: {error.filename or full_disks()}"
    else:
        text = f"unexpected {type(error).__name__}: {error} (set HALFCHECK_DEBUG=1 to see where)"
    return " ".join(text.split())


def _is_elsewhere(error: OSError) -> bool:
    """Whether a file system that a URI names does not do what it was asked for."""
    return isinstance(error.filename, str) and "://" in error.filename


def _memory_line(error: MemoryError) -> str:
    """The size that did not fit, where NumPy raised the error, beside the memory in use."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KILOBYTE
    wanted = str(error) or "no more was to be had"
    return (
        f"the memory is not enough: {wanted}, with {peak / _MEGABYTE:,.0f} MB in use; take a smaller instance, trace "
        "or file, fewer --threads, or give it more memory"
    )


def full_disks() -> str:
    """Which of the places that any command writes to have no room: the error of a write to an open file names none."""
    places = {
        f"{VARIABLE}, where compiled code and finished searches are kept": wanted_folder(),
        "TMPDIR, where temporary files go": Path(tempfile.gettempdir()),
        "the current directory": Path.cwd(),
    }
    full = [f"{path} ({what})" for what, path in places.items() if _is_full(path)]
    return (
        f"no room is left in {' or '.join(full)}" if full else "standard output, or a disk that is written to, is full"
    )


def _is_full(path: Path) -> bool:
    there = next((folder for folder in (path, *path.parents) if folder.is_dir()), path)
    try:
        room = os.statvfs(there)
    except OSError:
        return False
    return room.f_bavail * room.f_frsize < _NO_ROOM_BYTES


def _usage_line(error: typer.TyperException) -> str:
    """The parser's message, the value that it refused, and the command whose help tells more."""
    message = error.format_message().rstrip(".").removeprefix("Invalid value: ")
    value = _refused_value(error)
    if value is not None and value not in message:
        message = f"{message}, not {value}"
    context = getattr(error, "ctx", None)
    command = "halfcheck" if context is None else context.command_path
    return f"{message}{'' if message.endswith('?') else ';'} see {command} --help"


def _refused_value(error: typer.TyperException) -> str | None:
    """The value that Typer's validation refused; its message says what was expected but not always what came."""
    details = getattr(error.__cause__, "errors", None)
    return None if details is None else repr(details()[0]["input"])
