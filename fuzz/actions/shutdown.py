"""A shutdown, as far as others come between its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz.actions.record import drives

if TYPE_CHECKING:
    from fuzz.broker_side.broker_side import BrokerSide
    from spec.language import Step


def _batch_is_due(side: BrokerSide, _: Step) -> bool:
    """A shutdown with a batch that is due by the broker's count, in which an offset may stand twice."""
    return side.broker.transactional_message_service.has_batch_that_is_due


begin_stop = drives("shut down", unless=_batch_is_due)(lambda side, _: side.process.begin_shutdown())


@drives("shut down", needs=("graceful_stop",))
def stop(side: BrokerSide, _: Step) -> None:
    if side.broker.check_service.round is not None:
        side.mishaps += 1
    side.process.end_shutdown()
    side.restart()
