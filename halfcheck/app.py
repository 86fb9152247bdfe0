"""The command line: the table of commands, the way from an exception to an exit code, and the standard streams.

A command is a module with a function ``command``; a line in ``COMMANDS`` adds it. The function returns an ``ExitCode``
(or nothing, which is ``OK``) and raises for everything that stops it.
"""

from __future__ import annotations

import codecs
import os
import select
import sys
import traceback
from contextlib import suppress
from io import TextIOWrapper
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from halfcheck import __version__
from halfcheck.errors import ExitCode, exit_code_of, one_line
from halfcheck.lazy_commands import LazyCommands

if TYPE_CHECKING:
    from collections.abc import Sequence

GROUPS: dict[str, tuple[str, ...]] = {
    "Run RocketMQ": ("check", "conf", "what-if", "compare", "audit", "defects"),
    "Change it": ("faults", "repairs", "liveness", "replay", "switches", "diff"),
    "Test with it": ("broker", "probe", "fuzz", "judge-jar"),
    "Study": ("instances", "odds", "simulate", "analyze", "export", "coverage", "verdicts", "verify"),
}
"""The commands by who needs them, in the order of the overview."""

COMMANDS: dict[str, str] = {
    name: f"halfcheck.commands.{name.replace('-', '_')}" for names in GROUPS.values() for name in names
}
"""Command name to the module that holds it."""

WITHIN: dict[str, str] = {"broker control": "halfcheck.commands.broker_control"}
"""Commands of two words, likewise."""


class _Commands(LazyCommands):
    modules = COMMANDS
    within = WITHIN
    groups = GROUPS


app = typer.Typer(name="halfcheck", cls=_Commands, add_completion=False, rich_markup_mode="rich")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"halfcheck {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def overview(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Verify RocketMQ's transactional messages: the half topic, the op topic and the check service."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        context.fail("a command is missing")


def run(arguments: Sequence[str]) -> int:
    """Run one command line, the words after ``halfcheck``, to its end; gives its exit code.

    Whatever went wrong has been said on stderr, in one line; with ``HALFCHECK_DEBUG`` set, an exception's traceback
    precedes it.
    """
    try:
        result = _invoke(arguments)
        sys.stdout.flush()
    except SystemExit as leaving:
        # Rich, where it meets a pipe that nobody reads any more, ends the process by itself, with the exit code 1.
        if not isinstance(leaving.__context__, BrokenPipeError):
            raise
        _discard(sys.stdout)
        return ExitCode.OUTPUT_CLOSED
    except (Exception, KeyboardInterrupt) as error:
        if isinstance(error, BrokenPipeError) and _has_no_reader(sys.stdout, sys.stderr):
            _discard(sys.stdout)
            return ExitCode.OUTPUT_CLOSED
        named = _with_the_extra_named(error)
        _say(named)
        return exit_code_of(named)
    return result


def _with_the_extra_named(error: BaseException) -> BaseException:
    """An import that failed for want of a library of an extra, as an error that says which; any other as it is."""
    if not isinstance(error, ModuleNotFoundError):
        return error
    from halfcheck.extras import explained

    return explained(error) or error


def _say(error: BaseException) -> None:
    """On stderr; where that can't be written to, the exit code alone has to tell."""
    with suppress(OSError):
        if os.environ.get("HALFCHECK_DEBUG"):
            traceback.print_exception(error)
        typer.echo(f"halfcheck: {one_line(error)}", err=True)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            _discard(stream)


def _invoke(arguments: Sequence[str]) -> int:
    """Parse and run; exceptions come out as they are, because Typer's own handling knows nothing of our exit codes."""
    group = typer.main.get_command(app)
    words = list(arguments)
    if "check" in arguments[:1]:
        from halfcheck.old_spellings import respelled

        words, renamed = respelled(arguments)
        if renamed:
            typer.echo(f"halfcheck: {renamed}", err=True)
    try:
        with group.make_context("halfcheck", words) as context:
            result = group.invoke(context)
    except typer.Exit as leaving:
        return leaving.exit_code
    return result if isinstance(result, int) else ExitCode.OK


def main() -> None:
    """Run the process's command line and leave with its exit code."""
    _open_closed_streams()
    _let_any_text_pass(sys.stdout, sys.stderr)
    sys.exit(run(sys.argv[1:]))


def _open_closed_streams() -> None:
    """Let what a shell has closed (``>&-``) swallow what is written; the next file opened must not take its number."""
    for number, name in ((0, "stdin"), (1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is not None:
            continue
        opened = os.open(os.devnull, os.O_RDWR)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)
        setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8"))


def _let_any_text_pass(*streams: TextIO) -> None:
    """Let streams of another encoding than UTF-8 show ``?`` for what they have no letter for: it ends no command.

    In the C locale (PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 LC_ALL=C) they take bytes of file names, and fail at all else.
    """
    for stream in streams:
        if not isinstance(stream, TextIOWrapper) or stream.errors not in ("strict", "surrogateescape"):
            continue
        if stream.errors == "strict" or codecs.lookup(stream.encoding).name != "utf-8":
            stream.reconfigure(errors="replace")


def _has_no_reader(*streams: TextIO) -> bool:
    """Whether one of some streams is a pipe that nobody reads any more.

    A `BrokenPipeError` alone does not say so: a socket to Java raises it, too.
    """
    asked = select.poll()
    for stream in streams:
        with suppress(OSError, ValueError):
            asked.register(stream.fileno(), 0)
    return any(event & select.POLLERR for _, event in asked.poll(0))


def _discard(stream: TextIO) -> None:
    """Let a stream swallow what is written from now on; Python's own flush at exit must meet no error."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
