"""Wording of the steps of producers."""

from model_check.wording.actions import Wording, arrow, box, lost

send_half = Wording(
    "the producer sends transaction {t}{immunity}; the broker stores its half at offset {last}",
    arrow("Producer", "Half queue", "half {new_half}{with_immunity}"),
)
send_half_by_another_clock = Wording(
    "a producer with another clock sends transaction {t}{immunity}; its half is at offset {last}",
    arrow("Producer", "Half queue", "half {new_half}{with_immunity}, clock {skew:+d}"),
)
send_half_with_checks = Wording(
    "the producer sends transaction {t}{immunity} with TRANSACTION_CHECK_TIMES={checks_sent}; "
    "the broker stores its half at offset {last}",
    arrow("Producer", "Half queue", "half {new_half}{with_immunity}, check {checks}"),
)
send_half_with_original = Wording(
    "the producer sends transaction {t} on, with an immunity and TRAN_PREPARED_QUEUE_OFFSET={original}; "
    "the broker stores its half at offset {last}",
    arrow("Producer", "Half queue", "half {new_half}, immune, original {original}"),
)
send_poison_half = Wording(
    "the producer sends transaction {t}{immunity}, too long to be copied; its half is at offset {last}",
    arrow("Producer", "Half queue", "half {new_half}{with_immunity}, too long to copy"),
)
send_undecodable_half = Wording(
    "the producer sends transaction {t}{immunity}; its half at offset {last} cannot be read",
    arrow("Producer", "Half queue", "half {new_half}{with_immunity}, not decodable"),
)
send_half_again = Wording(
    "the answer is lost; the client sends transaction {t} again: a second half at offset {last}",
    arrow("Producer", "Half queue", "half {new_half}, sent again"),
)
commit_locally = Wording(
    "the local transaction {t} commits, and END_TRANSACTION(commit) is sent for half {first}",
    arrow("Producer", "Broker", "END commit for half {first_half}"),
)
roll_back_locally = Wording(
    "the local transaction {t} rolls back, and END_TRANSACTION(rollback) is sent for half {first}",
    arrow("Producer", "Broker", "END rollback for half {first_half}"),
)
roll_back_unrun = Wording(
    "the answer is not SEND_OK: transaction {t} is not run, END_TRANSACTION(rollback) is sent for half {first}",
    arrow("Producer", "Broker", "END rollback for half {first_half}, never run"),
)
leave_it_unknown = Wording(
    "the producer does not know yet how the local transaction {t} will end", box("Producer", "outcome unknown")
)
resolve_to_commit = Wording(
    "the local transaction {t} turns out to be committed; no END_TRANSACTION says so",
    box("Producer", "outcome is now commit"),
)
resolve_to_rollback = Wording(
    "the local transaction {t} turns out to be rolled back; no END_TRANSACTION says so",
    box("Producer", "outcome is now rollback"),
)
commit_what_is_gone = Wording(
    "the local transaction {t} commits; its half is gone, and END_TRANSACTION finds nothing",
    lost("Producer", "Broker", "END commit, but its half is gone"),
)
commit_another_half = Wording(
    "the local transaction {t} commits, END_TRANSACTION(commit) is sent for half {first}, now another's",
    arrow("Producer", "Broker", "END commit for half {first_half}, now another's"),
)
answer_check = Wording(
    "the producer answers the check of half {h}: {answer}", arrow("Producer", "Broker", "END {answer} for half {h}")
)
answer_check_too_early = Wording(
    "the producer finds no trace of its local transaction and answers rollback for half {h}",
    arrow("Producer", "Broker", "END rollback for half {h}, too early"),
)
lose_all_producers = Wording(
    "all producers of the group lose their connections", box("Producer", "all producers are gone")
)
restart_producers = Wording(
    "the producers of the group start again, and stay unknown to the broker until they send",
    box("Producer", "producers start again, unregistered"),
)
connect_again = Wording("a producer of the group is connected again", arrow("Producer", "Broker", "connected again"))
