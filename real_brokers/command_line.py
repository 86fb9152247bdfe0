"""Shared parts of the command lines here: options refused in one line, a line and an exit code for any error."""

from __future__ import annotations

import argparse
import signal
import sys
from typing import TYPE_CHECKING, Final, NoReturn

from conformance.errors import ConformanceError
from conformance.releases.jars import RELEASES
from halfcheck.errors import CommandLineError, ExitCode, exit_code_of, one_line
from model_check.errors import ModelCheckError
from wire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_REPORTED: Final = (ConformanceError, WireError, ModelCheckError, CommandLineError, OSError, KeyboardInterrupt)
_TERMINATED: Final = 143


class OneLineParser(argparse.ArgumentParser):
    """Refuses options in one line."""

    def error(self, message: str) -> NoReturn:
        """End with it, and with the exit code of bad options."""
        self.exit(ExitCode.BAD_OPTION, f"{self.prog}: {message}; see --help\n")

    def releases(self, arguments: Sequence[str] | None, usual: Sequence[str]) -> Sequence[str]:
        """The releases that a command line names, its only arguments; the usual ones if it names none."""
        self.add_argument(
            "version", nargs="*", metavar="X.Y.Z", help=f"one of {', '.join(RELEASES)}; else {' and '.join(usual)}"
        )
        return self.parse_args(arguments).version or usual


def exit_code_after(work: Callable[[], int], interrupted: str = "interrupted") -> int:
    """Do something with real brokers; SIGTERM ends it as Ctrl-C does, so that no process is left.

    Gives its exit code, or that of what went wrong, which is a line on stderr; `interrupted` is the one for Ctrl-C.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(_TERMINATED))
    try:
        return work()
    except _REPORTED as error:
        print(interrupted if isinstance(error, KeyboardInterrupt) else one_line(error), file=sys.stderr)
        return exit_code_of(error)
