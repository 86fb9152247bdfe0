"""Which fields of the specification's state the refinement mapping computes, and which it leaves alone, and why.

Both tables together name every field of `spec.state.State`.
"""

from __future__ import annotations

from typing import Final

COMPARED: Final = frozenset(
    {
        "now",
        "transaction.immunity",
        "transaction.first_half",
        "transaction.deliveries",
        "transaction.parked",
        "half.transaction",
        "half.check_times",
        "half.original",
        "half.born_at",
        "half.stored_at",
        "half.check_in_flight",
        "half.end",
        "half_length",
        "op.names",
        "op.born_at",
        "op.halves_before",
        "op_length",
        "batch.names",
        "batch.is_open",
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
    }
)
"""Computed from the broker's records and memory, and equal after each step.

`half.end` is compared as far as the broker knows it: whether the real message of a commit is stored and its op is not.
What is still under way belongs to the network. `pulled_op.unresolved` is `opMsgMap`, which 4.x does not have: there it
is left alone.
"""

_GHOST: Final = "a ghost: it remembers what the properties speak of, and no broker knows it"

_ALWAYS: Final = "what the broker is spared (`fuzz.left_out`) would change it, nothing else does"

LEFT_ALONE: Final = {
    "clock_steps": _ALWAYS,
    "mishaps": "the instance bounds them, no broker counts them",
    "stray_ends": "how many the driver has sent; the instance bounds them, no broker counts them",
    "role": _ALWAYS,
    "producer": _ALWAYS,
    "transaction.kind": _ALWAYS,
    "transaction.escaped": _ALWAYS,
    "transaction.delivered_twice_for_one": _GHOST,
    "transaction.shown_unasked": _GHOST,
    "transaction.committed_aside": _GHOST,
    "transaction.direct": _GHOST,
    "transaction.local": "the producer's own knowledge; the driver plays the producer by it",
    "transaction.rolled_back": _GHOST,
    "transaction.cause": _GHOST,
    "transaction.quiet": _GHOST,
    "transaction.discarded": _GHOST,
    "half.claims_check": "what an END_TRANSACTION under way says; the driver writes its header by it",
    "half.settled": _GHOST,
    "half.acknowledged": _GHOST + "; the answer itself is compared when it is given",
    "half.other_end": _ALWAYS,
    "half.op_write_failed": _GHOST,
    "half.foreign": _GHOST,
    "half.burnt": _GHOST + "; each check request is compared when it is sent",
    "half.left": _GHOST,
    "op.undecodable": _ALWAYS,
    "round.pulls_nothing": _GHOST,
    "flushed.halves": _ALWAYS,
    "flushed.ops": _ALWAYS,
    "stuck": _GHOST,
    "stuck_rounds": _GHOST,
    "op_left_behind": _GHOST,
    "batch.waiting_since": "how late the batch thread may be is the scheduler's; the broker keeps no such instant",
}
"""Not computed, each with the reason."""
