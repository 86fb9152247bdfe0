"""Wording of the steps of the op batch thread."""

from model_check.wording.actions import Wording, arrow, lost

write_op_batch = Wording("the op batch is written", arrow("Broker", "Op queue", "op {new_op} names {names}"))
fail_to_write_op_batch = Wording(
    "the op batch is not stored, and its entries are gone", lost("Broker", "Op queue", "op that names {names}")
)
