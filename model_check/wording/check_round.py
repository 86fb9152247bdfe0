"""Wording of the steps of a check round."""

from model_check.wording.actions import Wording, arrow, box

begin_round = Wording("a check round begins at half {cursor}", box("Check service", "round begins, ops pulled"))
pass_settled_half = Wording(
    "the round passes half {passed}: an op message names it", box("Check service", "half {cursor} is settled")
)
pass_half_of_settled_transaction = Wording(
    "the round passes half {passed}: its transaction is known as settled",
    box("Check service", "half {cursor}: transaction settled"),
)
pass_copied_half = Wording(
    "the round passes half {passed}: a copy of it stands further on",
    box("Check service", "half {cursor}: copied before"),
)
pass_half_of_settled_original = Wording(
    "the round passes half {passed}: an op message names its original",
    box("Check service", "half {cursor}: original settled"),
)
pass_half_of_waiting_op = Wording(
    "the round passes half {passed}: its op entry is on its way",
    box("Check service", "half {cursor}: its op is to come"),
)
pass_over_long_immunity = Wording(
    "the round passes half {passed}, which is immune for longer than all checks take",
    box("Check service", "half {cursor}: immune for too long"),
)
pull_more_ops = Wording("the round reads on in the op queue", arrow("Op queue", "Check service", "more ops"))
end_round_at_queue_end = Wording(None, box("Check service", "round ends: no more halves"))
end_round_at_fresh_half = Wording(None, box("Check service", "round ends: fresh half"))
end_round_before_dispatch = Wording(
    "the round ends at half {cursor}, which is not in the consume queue yet",
    box("Check service", "round ends: copy not dispatched"),
)
end_round_at_young_half = Wording(None, box("Check service", "round ends: young half"))
end_round_at_time_limit = Wording(
    "the round ends at half {cursor}: it has reached its time limit", box("Check service", "round ends: time limit")
)
