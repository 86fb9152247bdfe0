"""The command line: the table of commands, and the way from an exception to an exit code.

A command is a module with a function ``command``; a line in ``COMMANDS`` adds it. The function returns an ``ExitCode``
(or nothing, which is ``OK``) and raises for everything that stops it.
"""

from __future__ import annotations

import os
import sys
import traceback
from typing import TYPE_CHECKING, Annotated

import typer

from halfcheck import __version__
from halfcheck.errors import exit_code_of, one_line
from halfcheck.exit_codes import ExitCode
from halfcheck.lazy_commands import LazyCommands

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS: dict[str, str] = {
    "verify": "halfcheck.verify",
    "check": "halfcheck.check",
    "coverage": "halfcheck.coverage",
    "replay": "halfcheck.replay",
    "defects": "halfcheck.defects",
    "fuzz": "halfcheck.fuzz",
    "export": "halfcheck.export",
    "simulate": "halfcheck.simulate",
    "analyze": "halfcheck.analyze",
    "audit": "halfcheck.audit",
    "diff": "halfcheck.diff",
    "verdicts": "halfcheck.verdicts",
}
"""Command name to the module that holds it, in the order of the overview."""


class _Commands(LazyCommands):
    modules = COMMANDS


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
    """Run one command line to its end.

    Parameters
    ----------
    arguments
        The words after ``halfcheck``.

    Returns
    -------
    int
        The exit code, see :class:`halfcheck.exit_codes.ExitCode`. Whatever went wrong has been said on stderr, in one
        line; with ``HALFCHECK_DEBUG`` set, an exception's traceback precedes it.
    """
    try:
        result = _invoke(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        return _close_output()
    except (Exception, KeyboardInterrupt) as error:
        if os.environ.get("HALFCHECK_DEBUG"):
            traceback.print_exception(error)
        typer.echo(f"halfcheck: {one_line(error)}", err=True)
        return exit_code_of(error)
    return result


def _invoke(arguments: Sequence[str]) -> int:
    """Parse and run; exceptions come out as they are, because Typer's own handling knows nothing of our exit codes."""
    group = typer.main.get_command(app)
    try:
        with group.make_context("halfcheck", list(arguments)) as context:
            result = group.invoke(context)
    except typer.Exit as leaving:
        return leaving.exit_code
    return result if isinstance(result, int) else ExitCode.OK


def _close_output() -> int:
    """Whoever read our output has left, so there is nobody to tell; Python's own flush at exit must find no pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitCode.OUTPUT_CLOSED


def main() -> None:
    """Run the process's command line and leave with its exit code."""
    sys.exit(run(sys.argv[1:]))
