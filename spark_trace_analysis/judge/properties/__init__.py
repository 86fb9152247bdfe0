"""Properties that a trace can show, each written twice: as a kernel over arrays and as a query over rows.

The two share nothing but the names of the events and actions, so that an error in one is found by the other. ``ALL`` is
the order in which properties are judged and shown, ``NOT_SHOWN`` says why the others are missing.
"""

from spark_trace_analysis.judge.properties import progress, safety
from spark_trace_analysis.judge.properties.invariant import Invariant

ALL: tuple[Invariant, ...] = (*safety.PROPERTIES, *progress.PROPERTIES)

NOT_SHOWN: dict[str, str] = {
    "S7": "no event carries the op offset, and which op messages a round has read follows from none",
    "L4": "no event carries the op offset, nor how far a round has read the op queue",
}
"""Property → why no trace shows it."""

__all__ = ["ALL", "NOT_SHOWN", "Invariant"]
