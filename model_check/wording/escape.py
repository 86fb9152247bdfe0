"""Wording of roles and of escapes to another broker."""

from model_check.wording.actions import Wording, arrow, bar, box, lost

become_slave = Wording("the broker becomes a slave", bar("another broker becomes the master"))
become_master = Wording("the broker becomes the master again", bar("the broker is the master again"))
act_for_dead_master = Wording(
    "the master dies, and a slave acts for it with the offsets that were saved",
    bar("the master dies, and a slave acts for it"),
)
let_half_escape = Wording(
    "half {passed} is sent to another broker, and passed",
    arrow("Check service", "Other broker", "half {cursor} escapes"),
)
let_half_escape_unclearly = Wording(
    "half {cursor} is sent to another broker, and the answer is lost",
    arrow("Check service", "Other broker", "half escapes, its answer is lost"),
)
give_half_up = Wording(
    "half {passed} could not be sent to another broker, and is passed",
    lost("Check service", "Other broker", "half {cursor}, given up"),
)
pull_more_ops_before_escape = Wording(
    "the acting slave reads on in the op queue before it sends a half away",
    arrow("Op queue", "Check service", "more ops before an escape"),
)
deliver_escaped = Wording(
    "the other broker asks the producer and delivers transaction {t} ({deliveries})",
    arrow("Other broker", "Consumer", "message of transaction {t}"),
)
roll_back_escaped = Wording(
    "the other broker asks the producer, and rolls transaction {t} back",
    box("Other broker", "transaction {t} rolled back"),
)
bring_master_back = Wording(
    "the master is back, with the offsets of the slave that acted for it",
    bar("the master is back, with the slave's offsets"),
)
bring_master_back_with_its_own_offsets = Wording(
    "the master is back, and keeps its own offsets, which it takes for newer",
    bar("the master is back, with its own offsets"),
)
bring_master_back_amid_escape = Wording(
    "the master is back while half {cursor} waits to be sent again, and the slave's round commits nothing",
    bar("the master is back amid an escape"),
)
