"""RocketMQ versions as sets of switches. A later version is the earlier one with some switches turned."""

from __future__ import annotations

from dataclasses import replace

from spec.constants import Switches

_4_5_1 = Switches(
    marks_op_done_on_hit=False,
    op_end_commits_offset=True,
    batches_ops=False,
    keeps_discarded=False,
    refuses_late_end=False,
    equal_age_is_young=False,
)
_4_9_7 = replace(_4_5_1, marks_op_done_on_hit=True, op_end_commits_offset=False, keeps_discarded=True)
_5_3_3 = replace(_4_9_7, batches_ops=True, refuses_late_end=True)
_5_4_0 = replace(_5_3_3, equal_age_is_young=True)

PROFILES: dict[str, Switches] = {"4.5.1": _4_5_1, "4.9.7": _4_9_7, "5.3.3": _5_3_3, "5.4.0": _5_4_0}
"""The profiles by their names, oldest first."""
