"""Wording of retention, and of a round that comes to what it has deleted."""

from model_check.wording.actions import Wording, bar, box

delete_oldest_files = Wording(
    "the oldest files of the commit log are deleted, with its first {records} halves and op messages",
    bar("retention: the first {records} records are gone"),
)
move_lower_ends = Wording("the lower ends of the queues follow", box("Broker", "lower ends follow"))
truncate_all = Wording(
    "the broker is to follow another master and truncates all it has; the lower ends stay",
    bar("the log is truncated, the lower ends stay"),
)
pass_half_that_is_gone = Wording(
    "half {passed} is gone and a later one was read: the round passes it",
    box("Check service", "half {cursor} is gone: passed"),
)
jump_to_what_is_left = Wording(
    "nothing is left where the round stands: it goes on at half {cursor}",
    box("Check service", "nothing is left here: on where the store says"),
)
end_round_below_what_is_left = Wording(
    "nothing is left at half {cursor}, either, and the round ends", box("Check service", "round ends: nothing is left")
)
