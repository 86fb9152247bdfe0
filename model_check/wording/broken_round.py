"""Wording of a check round that goes wrong."""

from model_check.wording.actions import Wording, box, lost

jump_to_queue_end = Wording(
    "the half offset lies beyond the end of its queue: the round goes on at half {cursor}",
    box("Check service", "no half {cursor}: on to half {next}"),
)
jump_over_half = Wording(
    "the store gives no message for half {passed}, and the round goes on behind it",
    box("Check service", "half {cursor} missed"),
)
end_round_at_missed_half = Wording(
    "the store gives no message for half {cursor}, either, and the round ends",
    box("Check service", "round ends: a half is missed"),
)
abort_at_null_result = Wording(
    "the store answers nothing at all for half {cursor}: an exception ends the round",
    box("Check service", "round aborted: the store gives nothing"),
)
abort_at_undecodable_half = Wording(
    "half {cursor} cannot be read: an exception ends the round",
    box("Check service", "round aborted: half not decodable"),
)
fail_to_begin_round = Wording(
    "an op message cannot be read: the round ends before it begins", box("Check service", "no round: op not decodable")
)
abort_at_next_ops = Wording(
    "an op message further on cannot be read: an exception ends the round",
    box("Check service", "round aborted: op not decodable"),
)
abort_at_unreadable_pull = Wording(
    "the op messages that were read last cannot be decoded: an exception ends the round",
    box("Check service", "round aborted: no op decodable"),
)
spin_at_failed_check = Wording(
    "the copy of half {cursor} cannot be stored; the round tries it until its time limit",
    lost("Check service", "Half queue", "copy for a check, over and over"),
)
spin_at_failed_immunity = Wording(
    "the copy of the immune half {cursor} cannot be stored; the round tries on and on",
    lost("Check service", "Half queue", "copy for immunity, over and over"),
)
corrupt_op = Wording("op message {o} can no longer be read", box("Op queue", "op {o} not decodable any more"))
