"""The trace of a run on disk: each row is written when it comes, so that a broker does not grow by what it records."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TextIO

from reference.broker.recorder import Recorder

if TYPE_CHECKING:
    from pathlib import Path

    from reference.simulation.virtual_clock import VirtualClock

_ROWS_HELD = 256


class TraceFile(Recorder):
    """A recorder that writes its rows, one JSON object a line.

    Parameters
    ----------
    path
        The file; None to record nothing.

    Attributes
    ----------
    written
        How many rows the file has.
    """

    def __init__(self, clock: VirtualClock, path: Path | None) -> None:
        super().__init__(clock, is_on=path is not None)
        self.written = 0
        self._file: TextIO | None = None if path is None else path.open("w", encoding="utf-8")

    def record(self, event: str, **what: int) -> None:
        """See :class:`Recorder`."""
        super().record(event, **what)
        if len(self.rows) >= _ROWS_HELD:
            self.flush()

    def flush(self) -> None:
        """Write what is held."""
        if self._file is None:
            return
        for row in self.rows:
            row["step"] = self.written
            self._file.write(json.dumps(row) + "\n")
            self.written += 1
        self.rows.clear()
        self._file.flush()

    def close(self) -> None:
        """Write what is held, and close the file."""
        self.flush()
        if self._file is not None:
            self._file.close()
