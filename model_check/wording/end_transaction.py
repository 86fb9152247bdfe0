"""Wording of the steps of an END_TRANSACTION."""

from model_check.wording.actions import Wording, arrow, box, lost

store_real_message = Wording(
    "the commit for half {h} arrives: transaction {of} is delivered ({deliveries})",
    arrow("Broker", "Consumer", "message of half {h}"),
)
write_op = Wording(
    "the op message for half {h} is written, and the broker answers SUCCESS",
    arrow("Broker", "Op queue", "op {new_op} names half {h}"),
)
buffer_op = Wording(
    "the op entry for half {h} waits in the batch, and the broker answers SUCCESS",
    box("Broker", "op for half {h} waits in memory"),
)
fail_to_write_op = Wording(
    "the op message for half {h} is not stored, and the broker answers SUCCESS",
    lost("Broker", "Op queue", "op for half {h}"),
)
refuse_late_end = Wording(
    "the END_TRANSACTION for half {h} is refused as late", arrow("Broker", "Producer", "ILLEGAL_OPERATION for half {h}")
)
refuse_end_as_slave = Wording(
    "the END_TRANSACTION for half {h} is refused by a slave",
    arrow("Broker", "Producer", "SLAVE_NOT_AVAILABLE for half {h}"),
)
refuse_unreadable = Wording(
    "the END_TRANSACTION for half {h} is refused: the half cannot be read",
    arrow("Broker", "Producer", "half {h} cannot be read"),
)
refuse_commit_unstored = Wording(
    "the commit for half {h} is refused: its message cannot be stored",
    lost("Broker", "Consumer", "message of half {h}, not stored"),
)
ignore_repeated_end = Wording(
    "the END_TRANSACTION for half {h} changes nothing: its transaction is known as settled",
    box("Broker", "END for half {h}: settled already"),
)
