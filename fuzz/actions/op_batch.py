"""The op batch: its thread runs once, and writes the due batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fuzz.actions.record import drives, expect
from reference.format.system_topics import HALF_QUEUE_ID

if TYPE_CHECKING:
    from fuzz.broker_side.broker_side import BrokerSide
    from spec.language import Refused, Step

_OPS_WRITTEN: Final = "op messages written"


def batch_is_full(side: BrokerSide) -> bool:
    """The broker's op batch has reached its size, repeated offsets counted."""
    context = side.broker.transactional_message_service.delete_context.get(HALF_QUEUE_ID)
    return context is not None and context.total_size >= side.broker.settings.op_msg_max_size


def _run_too_early(side: BrokerSide, _: Step, __: Refused) -> bool:
    is_asked = not side.broker.role.is_slave and not batch_is_full(side)
    if is_asked:
        expect(_OPS_WRITTEN, 0, len(side.process.write_op_batches().written))
    return is_asked


@drives("batch", needs=("batches_ops",), ask=_run_too_early)
def write_op_batch(side: BrokerSide, _: Step) -> None:
    expect(_OPS_WRITTEN, 1, len(side.process.write_op_batches().written))


def _fail_where_it_waits(side: BrokerSide, _: Step, refused: Refused) -> bool:
    """A repaired broker keeps the entries of an op message that its store refuses."""
    is_asked = refused.rule == "what was not written does not wait for the next time" and (
        side.constants.op_write_failure or side.broker.role.is_slave
    )
    if is_asked:
        with side.process.puts_fail():
            batch = side.process.write_op_batches()
        expect(_OPS_WRITTEN, "0, 0 lost", f"{len(batch.written)}, {len(batch.lost)} lost")
    return is_asked


@drives(
    "bad put",
    "slave",
    ask=_fail_where_it_waits,
    needs=("batches_ops op_write_failure", "batches_ops role_change"),
)
def fail_to_write_op_batch(side: BrokerSide, _: Step) -> None:
    with side.process.puts_fail():
        batch = side.process.write_op_batches()
    expect(_OPS_WRITTEN, "0, 1 lost", f"{len(batch.written)}, {len(batch.lost)} lost")
    for half in map(int, filter(None, batch.lost[0].split(","))):
        side.network.handled[half].op_write_failed = True
