"""What differs between RocketMQ's versions, as named switches; no code asks for a version number.

The first six change what the half/op/check machinery decides. The others change what a record looks like, how long the
check thread sleeps, or what the store answers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final


@dataclass(frozen=True, slots=True)
class VersionSwitches:
    """One version of the broker.

    Attributes
    ----------
    marks_op_done_on_hit
        A half found in the removeMap puts its op message on the done list (4.6.0 and later; #1522, #1544).
    op_end_commits_offset
        Reading the op queue exactly at its end counts as an illegal offset, so that the op offset is committed there at
        once (up to 4.5.2; #1517, #1544). The half queue's end reads as illegal, too.
    batches_ops
        Halves are named in op messages by the batch, which a service writes later (5.1.0 and later).
    keeps_discarded
        A half that is given up goes to TRANS_CHECK_MAX_TIME_TOPIC (4.5.2 and later; before, it was only logged).
    refuses_late_end
        END_TRANSACTION of a half with an immunity is refused beyond it (5.1.1 and later; #6401).
    equal_age_is_young
        An age that equals the timeout or the immunity is still young (5.4.0; #9486, #9487).
    rewinds_beyond_end
        A read beyond the end of a queue that begins at 0 is sent back to 0, not to the end (up to 4.9.3).
    sleeps_without_ops
        The check thread sleeps after a pull that found no op message (5.1.0 and later).
    stores_cluster, stores_region, stores_transaction_id
        The broker adds CLUSTER; MSG_REGION and TRACE_ON; ``__transactionId__`` to a half's properties.
    creates_unique_key
        The broker gives a message without UNIQ_KEY one (5.0.0 and later).
    delivers_real_topic
        A delivered message still carries REAL_TOPIC and REAL_QID (before 5.4.0).
    keeps_last_separator
        The properties are stored with their last separator (not from 4.9 to 5.1).
    """

    marks_op_done_on_hit: bool
    op_end_commits_offset: bool
    batches_ops: bool
    keeps_discarded: bool
    refuses_late_end: bool
    equal_age_is_young: bool
    rewinds_beyond_end: bool
    sleeps_without_ops: bool
    stores_cluster: bool
    stores_region: bool
    stores_transaction_id: bool
    creates_unique_key: bool
    delivers_real_topic: bool
    keeps_last_separator: bool


V4_5_1: Final = VersionSwitches(
    marks_op_done_on_hit=False,
    op_end_commits_offset=True,
    batches_ops=False,
    keeps_discarded=False,
    refuses_late_end=False,
    equal_age_is_young=False,
    rewinds_beyond_end=True,
    sleeps_without_ops=False,
    stores_cluster=False,
    stores_region=False,
    stores_transaction_id=False,
    creates_unique_key=False,
    delivers_real_topic=True,
    keeps_last_separator=True,
)

V4_9_7: Final = replace(
    V4_5_1,
    marks_op_done_on_hit=True,
    op_end_commits_offset=False,
    keeps_discarded=True,
    rewinds_beyond_end=False,
    stores_cluster=True,
    keeps_last_separator=False,
)

V5_3_3: Final = replace(
    V4_9_7,
    batches_ops=True,
    refuses_late_end=True,
    sleeps_without_ops=True,
    stores_region=True,
    stores_transaction_id=True,
    creates_unique_key=True,
    keeps_last_separator=True,
)

V5_4_0: Final = replace(V5_3_3, equal_age_is_young=True, delivers_real_topic=False)

VERSIONS: Final = {"4.5.1": V4_5_1, "4.9.7": V4_9_7, "5.3.3": V5_3_3, "5.4.0": V5_4_0}
"""The versions that this broker can be, by number."""
