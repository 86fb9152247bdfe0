"""Properties that a trace can show, each told twice: as a kernel over arrays and as a query over rows.

The two share nothing but the names of the events, so that an error in one is found by the other. A property is a module
with one ``Invariant``; ``ALL`` is the order in which they are judged and shown.
"""

from spark_trace_analysis.invariants.at_most_one_delivery import AT_MOST_ONE_DELIVERY
from spark_trace_analysis.invariants.decision_agreement import DECISION_AGREEMENT
from spark_trace_analysis.invariants.invariant import Invariant

ALL: tuple[Invariant, ...] = (AT_MOST_ONE_DELIVERY, DECISION_AGREEMENT)

__all__ = ["ALL", "AT_MOST_ONE_DELIVERY", "DECISION_AGREEMENT", "Invariant"]
