"""The specification and the broker, step by step side by side: the same is done to both, then they are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from fuzz.actions.records import DRIVEN
from fuzz.broker_side.broker_side import BrokerSide
from fuzz.broker_side.difference import Difference
from fuzz.lockstep.mismatch import Mismatch
from fuzz.lockstep.refinement_mapping import RefinementMapping
from reference.errors import BrokerError
from spec.language import Refused, take

if TYPE_CHECKING:
    from fuzz.actions.record import Driven
    from fuzz.lockstep.pairing import Pairing
    from spec.language import Step
    from spec.state import State

_BROKEN = (BrokerError, LookupError, ValueError, ArithmeticError, TypeError, AttributeError, StopIteration)
"""What a broken broker may raise instead of answering."""


class Pair:
    """A pair of a specification's state and a broker, both at the beginning.

    Parameters
    ----------
    pairing
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

    def __init__(self, pairing: Pairing) -> None:
        self.pairing = pairing
        self.constants = pairing.constants
        self.state = cast("State", pairing.machine.initial(pairing.constants))
        self._mapping = RefinementMapping(self.state, pairing.constants)
        self.side = BrokerSide(pairing.constants, pairing.profile, pairing.make_broker, self._mapping.records)
        self.taken: list[Step] = []
        self.asked: Step | None = None

    def take(self, step: Step) -> Refused | None:
        """Take a step in both and compare them; where the specification refuses it, nothing happens to either.

        Returns
        -------
        Refused or None
            The conjunct that refuses; an excluded step (`fuzz.actions`) is refused as beyond the lockstep.

        Raises
        ------
        Mismatch
            The broker answers otherwise, or its state maps to another one.
        SpecificationError
            The step leaves a declared range of the specification.
        """
        record = DRIVEN[step.action.name]
        if is_excluded(record, self.side, step):
            return Refused("within", "the broker can take the same step")
        refused = take(self.state, self.constants, step)
        if refused is not None:
            return refused
        self.taken.append(step)
        self.asked = None
        if self.side.broker.message_store.is_behind and must_dispatch(record, self.side):
            self.side.broker.message_store.dispatch()
        try:
            record.do(self.side, step)
        except Difference as difference:
            self.disagree(str(step), *difference.found)
        except _BROKEN as error:
            self.disagree(str(step), "the broker's exception", "none", repr(error))
        self.compare(str(step))
        return None

    def compare(self, doing: str) -> None:
        """Raise `Mismatch` if some compared slot differs."""
        self._mapping.update(self.side)
        difference = self._mapping.first_difference(self.state)
        if difference is not None:
            self.disagree(doing, *difference)

    def disagree(self, doing: str, variable: str, spec: str, broker: str) -> None:
        """Raise `Mismatch` at the last step taken."""
        raise Mismatch(len(self.taken), doing, variable, spec, broker)


def is_excluded(record: Driven, side: BrokerSide, step: Step) -> bool:
    """Whether a step is excluded in this state."""
    return record.unless is not None and record.unless(side, step)


def must_dispatch(record: Driven, side: BrokerSide) -> bool:
    """Whether what is stored must first appear in the consume queues."""
    if record.dispatches is not None:
        return record.dispatches
    return side.broker.check_service.round is None or not side.cursor_is_dispatched
