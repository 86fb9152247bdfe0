"""The network: messages that it loses, repeats or lets overtake each other, and that nobody should have sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz.actions.record import Driven, drives
from spec.state import End, Settled

if TYPE_CHECKING:
    from fuzz.broker_side.broker_side import BrokerSide
    from spec.language import Step


def _sends_wrong(says: End, *, claims_check: bool = False) -> Driven:
    return drives("wrong")(
        lambda side, step: side.network.send_stray(step.arguments[0], says, claims_check=claims_check)
    )


lose_end = drives("lose")(lambda side, step: side.network.forget_first(step.arguments[0]))
lose_check = drives("check")(lambda side, step: side.take_check_request(step.arguments[0]))


@drives("again")
def duplicate_end(side: BrokerSide, step: Step) -> None:
    was_committed = side.network.handled[step.arguments[0]].settled is Settled.COMMITTED
    side.network.send_stray(step.arguments[0], End.COMMIT if was_committed else End.ROLLBACK)


double_end = drives("twice")(lambda side, step: side.network.repeat(step.arguments[0]))
overtake = drives("twice")(lambda side, step: side.network.overtake(step.arguments[0]))
send_wrong_commit = _sends_wrong(End.COMMIT)
send_wrong_rollback = _sends_wrong(End.ROLLBACK)
answer_with_wrong_commit = _sends_wrong(End.COMMIT, claims_check=True)
answer_with_wrong_rollback = _sends_wrong(End.ROLLBACK, claims_check=True)
