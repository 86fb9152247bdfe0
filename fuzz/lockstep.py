"""The specification and the broker, step by step side by side: the same is done to both, then they are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from fuzz.answers import BRANCHES, DROPPED, ENDS, answered, branch_of, told_end
from fuzz.broker_side import BrokerSide, Sender
from fuzz.mismatch import Mismatch
from fuzz.refinement_mapping import RefinementMapping
from fuzz.steered import is_left_out, reads_queues
from reference.errors import BrokerError
from reference.response import SUCCESS
from reference.store.offsets import CommitLogOffset
from spec.language import Refused, take
from spec.state import End, Local

if TYPE_CHECKING:
    from fuzz.world import World
    from reference.end_transaction_request import EndTransactionRequestHeader
    from spec.language import Step
    from spec.state import State

_BROKEN = (BrokerError, LookupError, ValueError, ArithmeticError, TypeError, AttributeError)
"""What a broken broker may raise instead of answering."""

_UNKNOWN_ANSWERS = (Local.EXECUTING, Local.UNKNOWN)
"""What a producer may know of a local transaction and still answer a check with UNKNOWN."""


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
        self._sender = Sender(End.NONE, is_first_half=True, claims_check=False)

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
        name = step.action.name
        if is_left_out(step, self.state, self.constants, self.side):
            return Refused("within", "the broker can take the same step")
        must_dispatch = reads_queues(name, self.state, self.side)
        self._sender = self._sender_of(step)
        refused = take(self.state, self.constants, step)
        if refused is not None:
            return refused
        self.taken.append(step)
        self.asked = None
        if must_dispatch:
            self.side.dispatch()
        try:
            self._do(step)
        except _BROKEN as error:
            self.disagree(str(step), "the broker's exception", "none", repr(error), error)
        self.compare(str(step))
        return None

    def compare(self, doing: str) -> None:
        """Raise `Mismatch` if some compared slot differs."""
        self._mapping.update(self.side.broker, self.side.in_handling)
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

    def header(self, half: int, sender: Sender | None = None) -> EndTransactionRequestHeader:
        """An END_TRANSACTION for a half; for one that is not stored, it names the end of the commit log."""
        places = self._mapping.records.half_places
        place = places[half] if half < len(places) else self.side.broker.message_store.max_phy_offset
        return self.side.header(half, self._sender if sender is None else sender, CommitLogOffset(place))

    def sender_for(self, half: int) -> Sender:
        """What producer and network have for a half."""
        about = self.state.half[half]
        is_first = half >= self.state.half_length or self.state.transaction[about.transaction].first_half == half
        return Sender(End(about.end), is_first, bool(about.claims_check))

    def _sender_of(self, step: Step) -> Sender:
        parameters = step.action.parameters
        return self.sender_for(step.arguments[0]) if "h" in parameters else self._sender

    def _do(self, step: Step) -> None:
        """Do to the broker what the step did to the specification, and compare the answers."""
        name, side = step.action.name, self.side
        if name in ENDS:
            self._end(step)
        elif name in BRANCHES:
            expected = BRANCHES[name].value
            self.expect(str(step), "the round's branch", expected, branch_of(side.step_round()))
        elif name == "tick":
            side.tick()
        elif name == "begin_round":
            began = side.broker.begin_check_round() is not None
            self.expect(str(step), "whether a round begins", "True", str(began))
        elif name == "write_op_batch":
            written = len(side.broker.run_op_batch_service().written)
            self.expect(str(step), "op messages written", "1", str(written))
        elif name == "persist_offsets":
            side.broker.persist_consumer_offsets()
        elif name == "crash":
            side.crash_and_restart()
        elif name == "send_half":
            code = side.send_half(*step.arguments)
            self.expect(str(step), "the answer to the send", str(SUCCESS), str(code))
        elif name == "leave_it_unknown":
            self._say_unknown(step, self.state.transaction[step.arguments[0]].first_half)
        elif name in ("answer_check", "answer_check_too_early", "lose_check"):
            self._receive_check(step)

    def _end(self, step: Step) -> None:
        half = step.arguments[0]
        if self._sender.end == End.COMMIT_STORED:
            done = self.side.finish_end(half)
        else:
            done = self.side.begin_end(self.header(half))
        self.expect(
            str(step), "the answer to END_TRANSACTION", told_end(ENDS[step.action.name]), told_end(answered(done))
        )

    def _receive_check(self, step: Step) -> None:
        half = step.arguments[0]
        self.side.take_check_request(half)
        local = self.state.transaction[self.state.half[half].transaction].local
        if step.action.name == "answer_check" and local in _UNKNOWN_ANSWERS:
            self._say_unknown(step, half)

    def _say_unknown(self, step: Step, half: int) -> None:
        """UNKNOWN is sent as well, and dropped by the broker."""
        sender = Sender(End.NONE, is_first_half=step.action.name == "leave_it_unknown", claims_check=False)
        answer = answered(self.side.begin_end(self.header(half, sender)))
        self.expect(str(step), "the answer to END_TRANSACTION", told_end(DROPPED), told_end(answer))
