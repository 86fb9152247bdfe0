"""Wording of the steps of the network."""

from model_check.wording.actions import Wording, arrow, box, lost

lose_end = Wording("the END_TRANSACTION for half {h} is lost", lost("Producer", "Broker", "END for half {h}"))
lose_check = Wording("the check request for half {h} is lost", lost("Check service", "Producer", "check of half {h}"))
duplicate_end = Wording(
    "the END_TRANSACTION for half {h} arrives a second time", arrow("Producer", "Broker", "END for half {h}, once more")
)
double_end = Wording(
    "the END_TRANSACTION for half {h} is sent again before the first is handled",
    arrow("Producer", "Broker", "END for half {h}, beside the first"),
)
overtake = Wording(
    "of two END_TRANSACTIONs for half {h} the later one comes first", box("Broker", "ENDs for half {h} swapped")
)
send_wrong_commit = Wording(
    "a commit for half {h} arrives that its producer did not decide",
    arrow("Producer", "Broker", "commit for half {h}, by mistake"),
)
send_wrong_rollback = Wording(
    "a rollback for half {h} arrives that its producer did not decide",
    arrow("Producer", "Broker", "rollback for half {h}, by mistake"),
)
answer_with_wrong_commit = Wording(
    "a commit for half {h} arrives as the answer to a check that nobody sent",
    arrow("Producer", "Broker", "commit for half {h}, unasked answer"),
)
answer_with_wrong_rollback = Wording(
    "a rollback for half {h} arrives as the answer to a check that nobody sent",
    arrow("Producer", "Broker", "rollback for half {h}, unasked answer"),
)
