"""Wording of the steps of a proxy between producers and the broker."""

from model_check.wording.actions import Wording, arrow, box, lost

commit_through_proxy = Wording(
    "the local transaction commits, and the proxy sends END_TRANSACTION(commit) for half {h}",
    arrow("Producer", "Proxy", "commit"),
    arrow("Proxy", "Broker", "END commit for half {h}"),
)
roll_back_through_proxy = Wording(
    "the local transaction rolls back, and the proxy sends END_TRANSACTION(rollback) for half {h}",
    arrow("Producer", "Proxy", "rollback"),
    arrow("Proxy", "Broker", "END rollback for half {h}"),
)
commit_unknown_to_proxy = Wording(
    "the local transaction {t} commits, and the proxy that is asked knows nothing of it: the commit is refused",
    lost("Producer", "Proxy", "commit, of which it knows nothing"),
)
roll_back_unknown_to_proxy = Wording(
    "the local transaction {t} rolls back, and the proxy that is asked knows nothing of it: the rollback is refused",
    lost("Producer", "Proxy", "rollback, of which it knows nothing"),
)
fail_a_stored_send = Wording(
    "the proxy answers the send of transaction {t} with an error although its half is stored; nothing is run",
    arrow("Proxy", "Producer", "error, though the half is stored"),
)
answer_check_through_proxy = Wording(
    "the producer answers the check of half {h}, and the proxy sends END_TRANSACTION for half {k}",
    arrow("Producer", "Proxy", "answer to the check of half {h}"),
    arrow("Proxy", "Broker", "END for half {k}"),
)
answer_too_early_through_proxy = Wording(
    "the producer finds no trace of its local transaction and answers rollback; the proxy sends it for half {k}",
    arrow("Producer", "Proxy", "rollback, too early"),
    arrow("Proxy", "Broker", "END rollback for half {k}"),
)
roll_back_for_another_service = Wording(
    "another service that sends to the topic is asked about half {h}, and answers rollback; the proxy sends it for {k}",
    box("Producer", "another service is asked, and finds nothing"),
    arrow("Proxy", "Broker", "END rollback for half {k}, by another service"),
)
ask_another_service = Wording(
    "another service that sends to the topic is asked about half {h}, and does not answer",
    lost("Proxy", "Producer", "check of half {h}, to another service"),
)
answer_unknown_to_proxy = Wording(
    "the producer answers the check of half {h}, and the proxy knows nothing of it: the answer is refused",
    lost("Producer", "Proxy", "answer of which it knows nothing, for half {h}"),
)
relay_through_other_proxy = Wording(
    "the check of half {h} comes through another proxy", arrow("Broker", "Proxy", "check of half {h}, to another one")
)
restart_proxy = Wording(
    "a proxy starts again, and what it knew is gone ({p})", box("Proxy", "starts again, and knows nothing ({p})")
)
