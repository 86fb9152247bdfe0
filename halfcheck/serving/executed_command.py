"""A command that a broker is started for: in a process group of its own, which is ended with the broker."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from halfcheck.errors import CommandLineError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PATIENCE_SECONDS: Final = 5.0
"""So long a command may take to end by itself when it is told to."""

_GLANCE_SECONDS: Final = 0.02
_STDIN: Final = 0
_OF_A_SIGNAL: Final = 128


class ExecutedCommand:
    """One command with the standard streams of this process.

    Where stdin is a terminal, the command has it: keys such as Ctrl-C are for it, and for the broker only what becomes
    of it. Ctrl-Z does nothing then.

    Parameters
    ----------
    words
        The program and its arguments.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._process: asyncio.subprocess.Process | None = None
        self._has_terminal = False
        self._patience: asyncio.TimerHandle | None = None

    @property
    def runs(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.returncode is None

    async def start(self, environment: Mapping[str, str]) -> None:
        """Start it; `CommandLineError` if there is no such program."""
        self._has_terminal = os.isatty(_STDIN) and os.tcgetpgrp(_STDIN) == os.getpgrp()
        try:
            with _ignored(*([signal.SIGTSTP] if self._has_terminal else [])):
                self._process = await asyncio.create_subprocess_exec(*self._words, env=environment, process_group=0)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            message = f"--exec {self._words[0]!r}: {why}; name a program that can be started behind --"
            raise CommandLineError(message) from None
        if self._has_terminal:
            os.tcsetpgrp(_STDIN, self._process.pid)
            self._signal(signal.SIGCONT)  # it may have asked for the terminal too early

    async def wait(self) -> int:
        """Wait until it ends; its exit code, or 128 and the number of the signal that ended it, as shells have it."""
        if self._process is None:
            return 0
        code = await self._process.wait()
        if self._patience is not None:
            self._patience.cancel()
        return code if code >= 0 else _OF_A_SIGNAL - code

    def pass_on(self, number: int) -> None:
        """Pass a signal on to all that it has started; what has not ended a little later is killed."""
        if self.runs:
            self._signal(number)
            self._patience = asyncio.get_running_loop().call_later(PATIENCE_SECONDS, self._signal, signal.SIGKILL)

    async def end(self) -> None:
        """End it, and what it has left running, and take the terminal back."""
        self.pass_on(signal.SIGTERM)
        await self.wait()
        is_there = self._signal(signal.SIGTERM)
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                while is_there:
                    await asyncio.sleep(_GLANCE_SECONDS)
                    is_there = self._signal(0)
        self._signal(signal.SIGKILL)
        if self._has_terminal:
            with _ignored(signal.SIGTTOU), suppress(OSError):
                os.tcsetpgrp(_STDIN, os.getpgrp())

    def _signal(self, number: int) -> bool:
        """Whether anybody of its group was there to get it."""
        if self._process is None:
            return False
        if not self.runs:
            with suppress(ChildProcessError):  # as the first process of a container it inherits orphans
                os.waitpid(-self._process.pid, os.WNOHANG)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)
            return True
        return False


@contextmanager
def _ignored(*numbers: signal.Signals) -> Iterator[None]:
    """Ignore signals; a process that is started meanwhile ignores them for good, unless it decides otherwise."""
    before = [(number, signal.signal(number, signal.SIG_IGN)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
