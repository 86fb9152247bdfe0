"""Which fields of the specification's state the refinement mapping computes, and which it leaves alone, and why.

Both tables together name every field of `spec.state.State`.
"""

from __future__ import annotations

from typing import Final

COMPARED: Final = frozenset(
    {
        "now",
        "clock_steps",
        "mishaps",
        "stray_ends",
        "role",
        "producer",
        "transaction.local",
        "transaction.kind",
        "transaction.immunity",
        "transaction.first_half",
        "transaction.deliveries",
        "transaction.parked",
        "transaction.escaped",
        "half.transaction",
        "half.check_times",
        "half.original",
        "half.born_at",
        "half.stored_at",
        "half.check_in_flight",
        "half.end",
        "half.other_end",
        "half.claims_check",
        "half.settled",
        "half.acknowledged",
        "half.op_write_failed",
        "half.foreign",
        "half_length",
        "op.names",
        "op.born_at",
        "op.undecodable",
        "op.halves_before",
        "op_length",
        "batch.names",
        "batch.is_open",
        "batch.waiting_since",
        "batch.written_at",
        "round.running",
        "round.started_at",
        "round.cursor",
        "round.null_met",
        "round.first_op",
        "round.next_op",
        "round.last_pull",
        "round.removed_by",
        "round.done",
        "round.done_twice",
        "pulled_op.unresolved",
        "round_ended_at",
        "offsets.half",
        "offsets.op",
        "saved.half",
        "saved.op",
        "flushed.halves",
        "flushed.ops",
    }
)
"""Computed and equal after each step: from the broker's records and memory, from what it answered, and from the
driver's own producers, network and other master, which know nothing of the specification's state.

`pulled_op.unresolved` is `opMsgMap`, which 4.x does not have: there it is left alone.
"""

_GHOST: Final = "a ghost: it remembers what the properties speak of; no broker knows it, and nothing compared needs it"

LEFT_ALONE: Final = {
    "transaction.delivered_twice_for_one": _GHOST,
    "transaction.shown_unasked": _GHOST,
    "transaction.committed_aside": _GHOST,
    "transaction.direct": _GHOST,
    "transaction.rolled_back": _GHOST,
    "transaction.cause": _GHOST,
    "transaction.quiet": _GHOST,
    "transaction.discarded": _GHOST,
    "half.burnt": _GHOST + "; each check request is compared when it is sent",
    "half.left": "a ghost, but for the halves that an operator may resume; each branch of the round is compared",
    "round.pulls_nothing": _GHOST,
    "stuck": _GHOST,
    "stuck_rounds": _GHOST,
    "op_left_behind": _GHOST,
}
"""Not computed, each with the reason: ghosts only."""
