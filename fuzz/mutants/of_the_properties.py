"""Mutants of the properties: a clause that says more or less than it should gets another verdict from the search."""

from __future__ import annotations

from functools import partial
from typing import Final

from fuzz.mutants.mutant import Part, mutant

_mutant = partial(mutant, Part.PROPERTY, profile="4.9.7", faults=(), instance="counted")

PROPERTY_MUTANTS: Final = (
    _mutant(
        "S1 allows two", "only a third delivery is one too many", "spec.properties.s1_at_most_once",
        "s.transaction[t].deliveries >= 2", "s.transaction[t].deliveries >= 3",
        "S1.immune_half, S1.late_op", instance="tiny",
    ),
    _mutant(
        "S1 allows none", "the first delivery is one too many", "spec.properties.s1_at_most_once",
        "s.transaction[t].deliveries >= 2", "s.transaction[t].deliveries >= 1",
        "S1.immune_half, S1.late_op, S1.unexplained",
    ),
    _mutant(
        "S9.late_op blames nothing", "the clause of late op messages looks for what has no cause",
        "spec.properties.s9_quiet_commit",
        "s.transaction[t].cause == Cause.LATE_OP", "s.transaction[t].cause == Cause.NONE",
        "S9.late_op", instance="tiny",
    ),
    _mutant(
        "S2 blames any rollback", "a rollback is wrong without a delivery", "spec.properties.s2_decision_agreement",
        "s.transaction[t].rolled_back != RolledBack.DELIVERED",
        "s.transaction[t].rolled_back != RolledBack.UNDELIVERED",
        "S2.rollback_after_commit",
    ),
    _mutant(
        "S7 looks behind", "an op message is to be passed only with all that are settled",
        "spec.properties.s7_op_offset_safety",
        "s.op[o].names.has(h) or h < s.offsets.half\n", "s.op[o].names.has(h) or h > s.offsets.half\n",
        "S7.in_memory",
    ),
    _mutant(
        "S8 looks ahead", "the saved half offset may not even stand on an open half",
        "spec.properties.s8_half_offset_safety",
        "return h < s.saved.half", "return h <= s.saved.half",
        "S8.neither_settled_nor_copied",
    ),
    _mutant(
        "S9 blames the quiet", "an END_TRANSACTION in time is wrong without a check", "spec.properties.s9_quiet_commit",
        "== Quiet.CHECKED", "== Quiet.ENDED",
        "S9.immune_half, S9.late_op, S9.stale_op_end, S9.unexplained",
    ),
    _mutant(
        "S10 forgets the batch", "an op entry that waits counts as lost", "spec.properties.s10_honest_ack",
        "not s.batch.names.has(h) and ", "",
        "S10.op_entry_dies_with_the_process", profile="5.3.3-batch_thread_oversleeps",
    ),
    _mutant(
        "L2 inverted", "a half may be discarded only with checks left unsent", "spec.properties.l2_full_budget",
        "!= Budget.BURNT_BY_IMMUNITY\n", "!= Budget.SPENT\n",
        "L2.immunity_burns_checks", instance="tiny",
    ),
)  # fmt: skip
