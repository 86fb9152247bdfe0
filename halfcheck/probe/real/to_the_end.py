"""How the command lines for brokers that are started here end: an exit code, and a line where something went wrong."""

from __future__ import annotations

import argparse
import signal
import sys
from typing import TYPE_CHECKING, Final, NoReturn

from conformance.errors import ConformanceError
from halfcheck.errors import CommandLineError, ExitCode, exit_code_of, one_line
from model_check.errors import ModelCheckError
from wire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Callable

_TOLD: Final = (ConformanceError, WireError, ModelCheckError, CommandLineError, OSError, KeyboardInterrupt)
_TERMINATED: Final = 143


class OneLineParser(argparse.ArgumentParser):
    """Refuses options in one line."""

    def error(self, message: str) -> NoReturn:
        """End with it, and with the exit code of bad options."""
        self.exit(ExitCode.BAD_OPTION, f"{self.prog}: {message}; see --help\n")


def to_the_end(work: Callable[[], int]) -> int:
    """Do something with real brokers; SIGTERM ends it as Ctrl-C does, so that no process is left.

    Returns
    -------
    int
        Its exit code, or that of what went wrong, which is told on stderr.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(_TERMINATED))
    try:
        return work()
    except _TOLD as error:
        print(one_line(error), file=sys.stderr)
        return exit_code_of(error)
