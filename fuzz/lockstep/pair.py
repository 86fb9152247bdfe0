"""The specification and the broker, step by step side by side: the same is done to both, then they are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from fuzz.broker_side.broker_side import BrokerSide
from fuzz.broker_side.requests import end_transaction, transaction_of_key
from fuzz.deeds_around import DEEDS_AROUND
from fuzz.deeds_of_the_broker import DEEDS_OF_THE_BROKER
from fuzz.lockstep.mismatch import Mismatch
from fuzz.lockstep.refinement_mapping import RefinementMapping
from fuzz.steered import is_left_out, reads_queues
from reference.errors import BrokerError
from spec.language import Refused, take
from spec.state import End

if TYPE_CHECKING:
    from fuzz.broker_side.broker_records import BrokerRecords
    from fuzz.lockstep.pairing import World
    from reference.broker.processor.end_transaction_processor import EndTransactionRequestHeader
    from reference.broker.transaction.transactional_message_check_listener import CheckTransactionStateRequest
    from reference.format.offsets import CommitLogOffset
    from spec.language import Step
    from spec.state import State

_BROKEN = (BrokerError, LookupError, ValueError, ArithmeticError, TypeError, AttributeError, StopIteration)
"""What a broken broker may raise instead of answering."""

DEEDS: Final = {**DEEDS_AROUND, **DEEDS_OF_THE_BROKER}
"""What each driven action does to the broker and what is around it."""


class Lockstep:
    """A pair of a specification's state and a broker, both at the beginning.

    Parameters
    ----------
    world
        Which pair.

    Attributes
    ----------
    state, side
        The specification's state, and the broker with what is on its way to and from it.
    taken
        The steps that both have taken.
    asked
        The forbidden step that the broker was asked for since the last of them, if any.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.constants = world.constants
        self.state = cast("State", world.machine.initial(world.constants))
        self.side = BrokerSide(world.constants, world.profile, world.make_broker)
        self.taken: list[Step] = []
        self.asked: Step | None = None
        self._mapping = RefinementMapping(self.state, world.constants)

    def take(self, step: Step) -> Refused | None:
        """Take a step in both and compare them; where the specification refuses it, nothing happens to either.

        Returns
        -------
        Refused or None
            The conjunct that refuses; a step that is left out (`fuzz.steered`) is refused as beyond the lockstep.

        Raises
        ------
        Mismatch
            The broker answers otherwise, or its state maps to another one.
        SpecificationError
            The step leaves a declared range of the specification.
        """
        if is_left_out(step, self):
            return Refused("within", "the broker can take the same step")
        is_behind = self.side.broker.message_store.is_behind
        must_dispatch = is_behind and reads_queues(step.action.name, self.state, self.side)
        refused = take(self.state, self.constants, step)
        if refused is not None:
            return refused
        self.taken.append(step)
        self.asked = None
        if must_dispatch:
            self.side.dispatch()
        try:
            DEEDS[step.action.name](self, step)
        except _BROKEN as error:
            self.disagree(str(step), "the broker's exception", "none", repr(error), error)
        self.compare(str(step))
        return None

    def compare(self, doing: str) -> None:
        """Raise `Mismatch` if some compared slot differs."""
        self._mapping.update(self.side)
        difference = self._mapping.first_difference(self.state)
        if difference is not None:
            self.disagree(doing, *difference)

    def expect(self, doing: str, variable: str, spec: str, broker: str) -> None:
        """Raise `Mismatch` if an answer is not the expected one."""
        if spec != broker:
            self.disagree(doing, variable, spec, broker)

    def disagree(self, doing: str, variable: str, spec: str, broker: str, error: BaseException | None = None) -> None:
        """Raise `Mismatch` at the last step taken."""
        raise Mismatch(len(self.taken), doing, variable, spec, broker) from error

    # --- what the broker's own records say ----------------------------------------------------------------------------

    @property
    def records(self) -> BrokerRecords:
        """The broker's records, as of the last comparison."""
        return self._mapping.records

    def place_of_half(self, half: int) -> CommitLogOffset:
        """Where a half begins in the commit log; for one that is not stored, the log's end."""
        places = self._mapping.records.half_places
        return places[half] if half < len(places) else self.side.broker.message_store.max_phy_offset

    def header(self, half: int, says: End) -> EndTransactionRequestHeader:
        """An END_TRANSACTION for a half."""
        return self.side.header(half, says, self.place_of_half(half))

    def direct_header(self, transaction: int) -> EndTransactionRequestHeader:
        """A commit for the half that a transaction's send stored, whatever lies there now."""
        sent = self.side.producers.sent[transaction]
        return end_transaction(sent.queue_offset, sent.place, End.COMMIT, answers_check=False)

    def transaction_of(self, request: CheckTransactionStateRequest) -> int:
        """The transaction that a check request asks about."""
        return transaction_of_key(request.transaction_id or "")
