"""Properties that a trace can show, each written twice: as a kernel over arrays and as a query over rows.

The two share nothing but the names of the events and actions, so that an error in one is found by the other. A property
is a module with one ``Invariant``; ``ALL`` is the order in which they are judged and shown, ``NOT_SHOWN`` says why the
others are missing.
"""

from spark_trace_analysis.judge.properties.invariant import Invariant
from spark_trace_analysis.judge.properties.l1_no_orphan import NO_ORPHAN
from spark_trace_analysis.judge.properties.l2_full_budget import FULL_BUDGET
from spark_trace_analysis.judge.properties.l3_head_of_line import HEAD_OF_LINE
from spark_trace_analysis.judge.properties.l5_commit_progress import COMMIT_PROGRESS
from spark_trace_analysis.judge.properties.r1_bounded_work import BOUNDED_WORK
from spark_trace_analysis.judge.properties.s1_at_most_once import AT_MOST_ONE_DELIVERY
from spark_trace_analysis.judge.properties.s2_decision_agreement import DECISION_AGREEMENT
from spark_trace_analysis.judge.properties.s3_no_wrong_commit import NO_WRONG_COMMIT
from spark_trace_analysis.judge.properties.s4_no_foreign_resolution import NO_FOREIGN_RESOLUTION
from spark_trace_analysis.judge.properties.s5_half_invisibility import HALF_INVISIBILITY
from spark_trace_analysis.judge.properties.s6_content_fidelity import CONTENT_FIDELITY
from spark_trace_analysis.judge.properties.s8_half_offset_safety import HALF_OFFSET_SAFETY
from spark_trace_analysis.judge.properties.s9_quiet_commit import QUIET_COMMIT
from spark_trace_analysis.judge.properties.s10_honest_ack import HONEST_ACKNOWLEDGEMENT

ALL: tuple[Invariant, ...] = (
    AT_MOST_ONE_DELIVERY,
    DECISION_AGREEMENT,
    NO_WRONG_COMMIT,
    NO_FOREIGN_RESOLUTION,
    HALF_INVISIBILITY,
    CONTENT_FIDELITY,
    HALF_OFFSET_SAFETY,
    QUIET_COMMIT,
    HONEST_ACKNOWLEDGEMENT,
    NO_ORPHAN,
    FULL_BUDGET,
    HEAD_OF_LINE,
    COMMIT_PROGRESS,
    BOUNDED_WORK,
)

NOT_SHOWN: dict[str, str] = {
    "S7": "no event carries the op offset, and which op messages a round has read follows from none",
    "L4": "no event carries the op offset, nor how far a round has read the op queue",
}
"""Property → why no trace shows it."""

__all__ = ["ALL", "NOT_SHOWN", "Invariant"]
