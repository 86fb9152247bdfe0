"""The Arrow and Parquet form of events: the schema of the table ``events``, and codes for its words.

Numbers of low cardinality that stand for words (``event``, ``action``) are dictionaries, so that a file says the words
and costs the numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spark_trace_analysis.errors import BadTracesError
from spark_trace_analysis.tables.traces import EVENTS_TABLE
from spec.events import EVENTS
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

SCHEMA_VERSION = 2
"""Goes up when a field of an event or of a manifest is added, removed or changes its meaning; readers refuse any other.

2: the manifest says how steps were chosen, what the traces are of, and the commit.
"""

ACTIONS = tuple(action.name for action in TRANSACTIONAL_MESSAGES.actions)
"""The actions of the specification, in its order."""

EVENT_SCHEMA = EVENTS_TABLE.schema


def to_batch(columns: Mapping[str, npt.NDArray[Any]], words: Mapping[str, Sequence[str]]) -> pa.RecordBatch:
    """Make one Arrow batch of a walk.

    Parameters
    ----------
    columns
        One array of equal length per field; fields of words hold indices into their ``words``.
    words
        The words of each string field: ``{"event": …, "action": …}``.
    """
    arrays = []
    for field in EVENT_SCHEMA:
        if pa.types.is_dictionary(field.type):
            codes = pa.array(columns[field.name], type=field.type.index_type)
            arrays.append(pa.DictionaryArray.from_arrays(codes, pa.array(words[field.name], type=pa.string())))
        else:
            arrays.append(pa.array(columns[field.name], type=field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=EVENT_SCHEMA)


def event_codes(column: pa.DictionaryArray) -> npt.NDArray[np.int16]:
    """Translate event names into their places in ``spec.events.EVENTS``, whatever order the file has them in.

    Raises `BadTracesError` for an event that the specification does not know.
    """
    names = column.dictionary.to_pylist()
    unknown = [name for name in names if name not in EVENTS]
    if unknown:
        message = f"unknown event {unknown[0]!r}: known are {', '.join(EVENTS)}"
        raise BadTracesError(message)
    translation = np.array([EVENTS.index(name) for name in names], dtype=np.int16)
    codes: npt.NDArray[np.int16] = translation[column.indices.to_numpy()]
    return codes


def action_codes(column: pa.DictionaryArray) -> npt.NDArray[np.int16]:
    """Translate action names into their places in `ACTIONS`; other names (an empty one, say) into -1."""
    places = {name: place for place, name in enumerate(ACTIONS)}
    translation = np.array([places.get(name, -1) for name in column.dictionary.to_pylist()], dtype=np.int16)
    codes: npt.NDArray[np.int16] = translation[column.indices.to_numpy()]
    return codes


def action_code(action: Callable[..., None]) -> int:
    """The place in `ACTIONS` of an action of the specification."""
    return ACTIONS.index(action.__name__)


def difference(found: pa.Schema) -> str | None:
    """Say in words how a file's schema differs from the expected one; None if it doesn't."""
    for field in EVENT_SCHEMA:
        place = found.get_field_index(field.name)
        if place < 0:
            return f"has no column {field.name!r}"
        if not _is_taken_for(found.field(place).type, field.type):
            return f"has column {field.name!r} as {found.field(place).type}, expected {field.type}"
    extra = [name for name in found.names if EVENT_SCHEMA.get_field_index(name) < 0]
    return f"has a column {extra[0]!r} that is not in schema version {SCHEMA_VERSION}" if extra else None


def _is_taken_for(found: pa.DataType, expected: pa.DataType) -> bool:
    """Whether a column is read as if it had the expected type: words as strings of any kind, dictionaries or not."""
    if found == expected:
        return True
    values = found.value_type if pa.types.is_dictionary(found) else found
    is_text = pa.types.is_string(values) or pa.types.is_large_string(values) or pa.types.is_string_view(values)
    return bool(is_text and pa.types.is_dictionary(expected))


WORDS = [field.name for field in EVENT_SCHEMA if pa.types.is_dictionary(field.type)]
"""The columns that readers of files take as dictionaries, however they were written."""


def as_events(table: pa.Table) -> pa.Table:
    """Rows of a file with the types of `EVENT_SCHEMA`, whatever kind of strings its words were."""
    for name in WORDS:
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, table[name].cast(pa.string()))
    return table.cast(EVENT_SCHEMA)


def null_in(column: str) -> BadTracesError:
    """A reader's refusal of a column in which something is absent."""
    return BadTracesError(f"column {column!r} has a NULL; what does not apply is -1")


def out_of_order(trace: int, step: int) -> BadTracesError:
    """A reader's refusal of the first row that does not go on from the one before it."""
    return BadTracesError(f"trace {trace}, step {step} is out of order: traces go by number, their steps from 0 on")
