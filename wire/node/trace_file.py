"""A recorder that writes its trace to disk in batches, so that a long run needs no more memory."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from reference.broker.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reference.simulation.virtual_clock import VirtualClock

_ROWS_HELD = 256


class FileRecorder(Recorder):
    """A recorder that writes its rows, one JSON object a line; without a path it records nothing."""

    def __init__(self, clock: VirtualClock, path: Path | None, say: Callable[[str], None] = lambda _: None) -> None:
        super().__init__(clock, is_on=path is not None)
        self._say = say
        self.written = 0
        """How many rows the file has."""
        self._file: TextIO | None = None if path is None else path.open("w", encoding="utf-8")

    @property
    def row_count(self) -> int:
        """See :class:`Recorder`."""
        return self.written + len(self.rows)

    def record(self, event: str, **what: int) -> None:
        """See :class:`Recorder`."""
        super().record(event, **what)
        if len(self.rows) >= _ROWS_HELD:
            self.flush()

    def flush(self) -> None:
        """Write what is held."""
        if self._file is None:
            return
        lines: list[str] = []
        for row in self.rows:
            row["step"] = self.written + len(lines)
            lines.append(json.dumps(row) + "\n")
        self.rows.clear()
        end = self._file.tell()
        try:
            self._file.writelines(lines)
            self._file.flush()
        except OSError as error:
            self._say(f"the trace {self._file.name} ends here, what follows is not recorded: {error.strerror}")
            self._give_up(end)
        else:
            self.written += len(lines)

    def _give_up(self, end: int) -> None:
        """Record no more; the file ends with its last whole row."""
        file, self._file = self._file, None
        self.is_on = False
        if file is not None:
            with suppress(OSError):
                file.close()
            with suppress(OSError):
                os.truncate(file.name, end)

    def close(self) -> None:
        """Write what is held, and close the file."""
        self.flush()
        if self._file is not None:
            self._file.close()
