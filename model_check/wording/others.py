"""Wording of what other transactions do to one: nothing that a broker does, so that no answer tells it."""

from model_check.wording.actions import Wording, box

begin_round_among_others = Wording(
    "a round begins, and reads, among others, the op messages of the transaction before {to}",
    box("Check service", "round begins among others"),
)
begin_stop_among_others = Wording(
    "the broker stops, and its last round reads, among others, the op messages of the transaction before {to}",
    box("Check service", "last round begins among others"),
)
pull_ops_among_others = Wording(
    "op messages are read for a half of another, those here before {to} among them",
    box("Check service", "op messages are read among others"),
)
see_op_end_for_another = Wording(
    "the end of the op queue is seen for a half of another", box("Check service", "no more op messages")
)
end_round_at_another = Wording(
    "the round ends at a half of another", box("Check service", "round ends at a half of another")
)
leave_op_of_another = Wording(
    "an op message of another before {o} stays open", box("Check service", "op message of another stays open")
)
keep_op_offset_for_another = Wording(
    "the first op message of the round is another's and stays open", box("Check service", "op offset stays")
)
jump_over_half_of_another = Wording(
    "the round jumps over a half of another", box("Check service", "jump over a half of another")
)
abort_round_at_another = Wording(
    "an exception ends the round at a half of another", box("Check service", "exception at a half of another")
)
pull_unreadable_ops = Wording(
    "op messages are read that can't be decoded, those here before {to} among them",
    box("Check service", "unreadable op messages"),
)
bring_master_back_amid_escape_of_another = Wording(
    "the master is back while a half of another is sent again", box("Broker", "master is back")
)
trouble_another = Wording("something goes wrong with another", box("Broker", "trouble of another"))
send_stray_end_to_another = Wording(
    "an END_TRANSACTION of another is repeated or wrong", box("Broker", "stray END_TRANSACTION of another")
)
flush_for_another = Wording("the commit log is flushed for another", box("Broker", "flush for another"))
hear_of_producer_by_another = Wording(
    "a producer of the group sends another transaction", box("Broker", "producer is known again")
)
join_batch_by_another = Wording(
    "the offset of another's half joins the op batch", box("Broker", "op batch has a half of another")
)
write_batch_of_another = Wording(
    "the op batch is written, and has none of the transaction here", box("Broker", "op batch of another is written")
)
mark_op_done_for_another = Wording(
    "op message {o} counts as done for a half of another", box("Check service", "op message is done for another")
)
list_op_once = Wording(
    "op message {o} is not listed twice, as it names halves of others",
    box("Check service", "op message listed once"),
)
