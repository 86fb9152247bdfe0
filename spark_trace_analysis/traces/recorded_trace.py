"""Reads recorded traces: events of `spec.events.FIELDS` as JSON lines, plain or compressed, or as Parquet.

Several traces may stand in one file, each in one piece and their numbers rising, as `halfcheck simulate` writes them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from files.content import parse_json
from files.errors import BadContentError
from files.parquet import is_parquet, parquet_file
from files.reading import read_lines
from spark_trace_analysis.errors import BadTracesError
from spark_trace_analysis.traces.schema import difference
from spec.events import EVENTS, FIELDS, OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_ROWS_A_PIECE = 1 << 16


@dataclass(frozen=True, slots=True)
class Row:
    """One event, with the fields of `spec.events.FIELDS`."""

    trace: int
    step: int
    time: int
    event: str
    action: str
    transaction: int
    half: int
    copy: int
    op: int
    check_times: int
    outcome: int

    def __str__(self) -> str:
        """The event in words, without the fields that do not apply.

        Examples
        --------
        >>> str(Row(0, 4, 100, "message_delivered", "", 1, 3, -1, -1, -1, 1))
        'message_delivered transaction=1 half=3 outcome=commit'
        """
        given = [f"{name}={getattr(self, name)}" for name in _PLACES if getattr(self, name) != -1]
        outcome = [f"outcome={OUTCOMES[self.outcome]}"] if self.outcome else []
        return " ".join([self.event, *given, *outcome])


_PLACES = ("transaction", "half", "copy", "op", "check_times")
_WORDS = frozenset(field.name for field in FIELDS if field.kind == "string")
NAMES = tuple(field.name for field in fields(Row))


@dataclass(frozen=True, slots=True)
class RecordedTrace:
    """The rows of one trace, in the order of the file."""

    number: int
    rows: tuple[Row, ...]


@dataclass(slots=True)
class UnreadableLines:
    """The lines of a file that are no events.

    Attributes
    ----------
    lines
        How many there are.
    first
        The place of the first, and the problem.
    """

    lines: int = 0
    first: str = ""

    def count(self, problem: str) -> None:
        """One more."""
        self.lines += 1
        self.first = self.first or problem


def read_recorded_traces(path: Path, damage: UnreadableLines | None = None) -> Iterator[RecordedTrace]:
    """Read a file of traces, one after the other.

    Parameters
    ----------
    damage
        Counts lines that are no events, which are left out then; without it the first is an error.

    Raises
    ------
    BadTracesError
        The file holds no events, or something else than events; a line is not one; a trace is in two pieces.
    OSError
        There is no such file, or it may not be read.
    """
    last = -1
    for trace in _in_pieces(_rows(path, damage)):
        if trace.number < last:
            message = f"{path}: trace {trace.number} stands behind trace {last}; each must stand whole, numbers rising"
            raise BadTracesError(message)
        last = trace.number
        yield trace
    if last < 0:
        why = f" ({damage.lines} lines are none; {damage.first})" if damage is not None and damage.lines else ""
        message = f"{path}: no events in it; expected JSON lines or Parquet of recorded events{why}"
        raise BadTracesError(message)


def _in_pieces(rows: Iterable[Row]) -> Iterator[RecordedTrace]:
    held: list[Row] = []
    for row in rows:
        if held and row.trace != held[0].trace:
            yield RecordedTrace(held[0].trace, tuple(held))
            held = []
        held.append(row)
    if held:
        yield RecordedTrace(held[0].trace, tuple(held))


def _rows(path: Path, damage: UnreadableLines | None) -> Iterator[Row]:
    try:
        yield from _rows_of_parquet(path) if is_parquet(path) else _rows_of_lines(path, damage)
    except BadContentError as failure:
        raise BadTracesError(str(failure)) from None


def _rows_of_parquet(path: Path) -> Iterator[Row]:
    with parquet_file(path) as file:
        wrong = difference(file.schema_arrow)
        if wrong is not None:
            message = f"{path}: {wrong}"
            raise BadTracesError(message)
        number = 0
        for batch in file.iter_batches(_ROWS_A_PIECE):
            for values in batch.select(list(NAMES)).to_pylist():
                yield _row(values, f"{path}, row {number}")
                number += 1


def _rows_of_lines(path: Path, damage: UnreadableLines | None) -> Iterator[Row]:
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        try:
            row = _row_of_line(line, f"{path}, line {number}")
        except BadTracesError as problem:
            if damage is None:
                raise
            damage.count(str(problem))
        else:
            yield row


def _row_of_line(line: bytes, where: str) -> Row:
    try:
        values = parse_json(line)
    except BadContentError as failure:
        why = "is not JSON" if str(failure).startswith("not ") else f"is {failure}"
        message = f"{where}: {line[:60]!r} {why}; expected one event a line"
        raise BadTracesError(message) from None
    return _row(values, where)


def _row(values: Any, where: str) -> Row:
    if not isinstance(values, dict) or set(values) != set(NAMES):
        wrong = sorted(map(str, set(values) ^ set(NAMES))) if isinstance(values, dict) else [str(values)[:60]]
        message = f"{where}: not an event with the fields {', '.join(NAMES)}: {', '.join(wrong)} missing or too much"
        raise BadTracesError(message)
    for name, value in values.items():
        is_right = isinstance(value, str) if name in _WORDS else type(value) is int
        if not is_right:
            message = f"{where}: {name} is {value!r}, expected {'a text' if name in _WORDS else 'a whole number'}"
            raise BadTracesError(message)
    if values["event"] not in EVENTS:
        message = f"{where}: unknown event {values['event']!r}: known are {', '.join(EVENTS)}"
        raise BadTracesError(message)
    if values["trace"] < 0:
        message = f"{where}: trace is {values['trace']}, expected 0 or more"
        raise BadTracesError(message)
    if not 0 <= values["outcome"] < len(OUTCOMES):
        message = f"{where}: outcome is {values['outcome']}, expected 0 to {len(OUTCOMES) - 1}"
        raise BadTracesError(message)
    return Row(**values)
