"""Mutants of the specification, which the broker shows, and of its properties, which a search of all states shows."""

from __future__ import annotations

from functools import partial
from typing import Final

from fuzz.mutants.mutant import MutatedPart, mutant

_BRANCH: Final = "the round's branch"

_mutant = partial(mutant, MutatedPart.SPEC)

SPEC_MUTANTS: Final = (
    _mutant(
        "passed half leaves its op open", "a half that an op message names is passed, and its op is not done",
        "spec.chapters.check_round", "    settle_by_op(s, c, s.round.cursor)\n", "",
        "round.removed_by, round.done", like="A03",
    ),
    _mutant(
        "copy counts no check", "a copy has as many checks as its half",
        "spec.half_queue", "s.half[h].check_times + checks", "s.half[h].check_times",
        "half.check_times", like="A09",
    ),
    _mutant(
        "spec: fresh half not recognised", "a half of the round's first instant counts as an earlier one",
        "spec.rounds", "s.half[h].stored_at >= s.round.started_at", "s.half[h].stored_at > s.round.started_at",
        _BRANCH, like="B16",
    ),
    _mutant(
        "spec: equal age young", "5.3.3 compares ages with <= as 5.4.0 does",
        "spec.half", "or (c.equal_age_is_young and age(s, h) == immunity(s, c, h))",
        "or age(s, h) == immunity(s, c, h)",
        _BRANCH, like="A19",
    ),
    _mutant(
        "spec: original overwritten", "an immunity put-back names the last copy, not the first half",
        "spec.chapters.putting_back", "    if s.half[h].original == NONE:\n", "    if s.half[h].born_at >= 0:\n",
        "half.original", like="B01",
    ),
    _mutant(
        "spec: B01 repaired", "an op message for a half below the half offset counts for its copies",
        "spec.op_pull", "        c.heeds_settled_originals\n        and any(", "        s.now >= 0\n        and any(",
        "round.removed_by", like="B01",
    ),
    _mutant(
        "spec: one op more a pull", "a pull reads one op message more than it should",
        "spec.op_pull", "begin <= o and o < begin + most", "begin <= o and o <= begin + most",
        "round.next_op", like="B29",
    ),
    _mutant(
        "op offset jumps", "the op offset after a round is where the next pull would begin",
        "spec.rounds", "s.offsets.op = op_offset_to_commit(s, c)", "s.offsets.op = s.round.next_op",
        "offsets.op", like="A02",
    ),
    _mutant(
        "crash keeps the offset", "the half offset in memory survives a crash",
        "spec.chapters.broker", "    s.offsets.half = s.saved.half\n", "",
        "offsets.half", like="B16",
    ),
    _mutant(
        "spec: batch survives a crash", "what waits in memory is there after a restart",
        "spec.chapters.op_batch", '    """The process is over: what waits is gone."""\n    s.batch.names = Bits()\n',
        '    """The process is over: what waits is gone."""\n',
        "batch.names", like="B02",
    ),
    _mutant(
        "END refused at its last instant", "an END_TRANSACTION at the very end of the immunity is late",
        "spec.chapters.end_transaction", "age(s, h) > immunity(s, c, h) and age(s, h) > c.timeout",
        "age(s, h) >= immunity(s, c, h) and age(s, h) >= c.timeout",
        "the answer to END_TRANSACTION", like="A01",
    ),
    _mutant(
        "spec: END idempotent", "a second commit for a half delivers nothing",
        "spec.chapters.end_transaction", "    if s.transaction[t].deliveries < 2:\n",
        "    if s.transaction[t].deliveries < 2 and s.half[h].settled != Settled.COMMITTED:\n",
        "transaction.deliveries", like="A13",
    ),
    _mutant(
        "unasked half counts no check", "a put-back with nobody to ask leaves the number of checks as it is",
        "spec.chapters.putting_back",
        "        append_copy(s, c, half_read(s), 1)\n        remember_burnt_check(s, Burnt.NOBODY_TO_ASK)\n",
        "        append_copy(s, c, half_read(s), 0)\n        remember_burnt_check(s, Burnt.NOBODY_TO_ASK)\n",
        "half.check_times", like="B19", beside="offline_producer",
    ),
    _mutant(
        "spec: op stored after all", "an op message that the store refuses is in its queue all the same",
        "spec.chapters.end_transaction",
        "    s.half[h].op_write_failed = True\n", "    append_op(s, c, Bits.only(h))\n",
        "op.names, op_length, half.op_write_failed", like="B04", profile="4.9.7", beside="op_write_failure",
    ),
    _mutant(
        "spec: jumps for ever", "a round forgets that it has jumped over a half",
        "spec.chapters.broken_round",
        "        s.half[half_read(s)].left = Left.PASSED_OVER\n    s.round.null_met = True\n",
        "        s.half[half_read(s)].left = Left.PASSED_OVER\n",
        "round.null_met", like="A08", beside="null_half",
    ),
    _mutant(
        "power loss keeps ops", "a power loss takes halves and leaves the length of the op queue",
        "spec.chapters.broker", "    s.op_length = ops\n", "",
        "op_length", like="B14", beside="power_loss",
    ),
    _mutant(
        "spec: escaped half not passed", "a half that another master has taken is looked at again",
        "spec.chapters.escape", "    remember_escape(s, c, half_read(s))\n    s.round.cursor += 1\n",
        "    remember_escape(s, c, half_read(s))\n",
        "round.cursor", like="B22", beside="acting_slave",
    ),
    _mutant(
        "spec: second END first", "of two END_TRANSACTIONs that swap their places one is forgotten",
        "spec.chapters.network", "    s.half[h].other_end = first\n", "    s.half[h].other_end = End.NONE\n",
        "half.other_end", like="A14", beside="reorder",
    ),
)  # fmt: skip


_of_a_property = partial(mutant, MutatedPart.PROPERTY, profile="4.9.7", faults=(), instance="counted")

PROPERTY_MUTANTS: Final = (
    _of_a_property(
        "S1 allows two", "only a third delivery is one too many", "spec.properties.s1_at_most_once",
        "s.transaction[t].deliveries >= 2", "s.transaction[t].deliveries >= 3",
        "S1.immune_half, S1.late_op", instance="tiny",
    ),
    _of_a_property(
        "S1 allows none", "the first delivery is one too many", "spec.properties.s1_at_most_once",
        "s.transaction[t].deliveries >= 2", "s.transaction[t].deliveries >= 1",
        "S1.immune_half, S1.late_op, S1.unexplained",
    ),
    _of_a_property(
        "S9.late_op blames nothing", "the clause of late op messages looks for what has no cause",
        "spec.properties.s9_quiet_commit",
        "s.transaction[t].cause == Cause.LATE_OP", "s.transaction[t].cause == Cause.NONE",
        "S9.late_op", instance="tiny",
    ),
    _of_a_property(
        "S2 blames any rollback", "a rollback is wrong without a delivery", "spec.properties.s2_decision_agreement",
        "s.transaction[t].rolled_back != RolledBack.DELIVERED",
        "s.transaction[t].rolled_back != RolledBack.UNDELIVERED",
        "S2.rollback_after_commit",
    ),
    _of_a_property(
        "S7 looks behind", "an op message is to be passed only with all that are settled",
        "spec.properties.s7_op_offset_safety",
        "h >= max(s.offsets.half, s.gone.halves)", "h <= max(s.offsets.half, s.gone.halves)",
        "S7.in_memory",
    ),
    _of_a_property(
        "S8 looks ahead", "the saved half offset may not even stand on an open half",
        "spec.properties.s8_half_offset_safety",
        "return h < s.saved.half", "return h <= s.saved.half",
        "S8.neither_settled_nor_copied",
    ),
    _of_a_property(
        "S9 blames the quiet", "an END_TRANSACTION in time is wrong without a check", "spec.properties.s9_quiet_commit",
        "== Quiet.CHECKED", "== Quiet.ENDED",
        "S9.immune_half, S9.late_op, S9.stale_op_end, S9.unexplained",
    ),
    _of_a_property(
        "S10 forgets the batch", "an op entry that waits counts as lost", "spec.properties.s10_honest_ack",
        "not s.batch.names.has(h) and ", "",
        "S10.op_entry_dies_with_the_process", profile="5.3.3-batch_thread_oversleeps",
    ),
    _of_a_property(
        "L2 inverted", "a half may be discarded only with checks left unsent", "spec.properties.l2_full_budget",
        "!= Budget.BURNT_BY_IMMUNITY\n", "!= Budget.SPENT\n",
        "L2.immunity_burns_checks", instance="tiny",
    ),
)  # fmt: skip
