"""One state of the specification that is walked forwards and taken back again, with the path that led to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from model_check.world import Environment
from spec.chapters import broker, end_transaction, putting_back, shutdown
from spec.language import Action, RangeViolation, Refused, Step, take
from spec.state import State
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from spec.constants import Constants

ActionFunction = Callable[..., None]
"""An action of the specification, as the function that stands in its chapter."""

ACTIONS: Final[Mapping[ActionFunction, Action]] = {action.function: action for action in TRANSACTIONAL_MESSAGES.actions}

ASSUMABLE_FAULTS: Final = (
    "slow_local",
    "lose_end",
    "lose_check",
    "duplicate_end",
    "wrong_end",
    "late_end",
    "slow_round",
    "slow_dispatch",
    "graceful_stop",
    "crash",
)
"""The faults that an explanation may need, the first to be left out first.

They are what happens to the messages of a producer that works, and to a broker that is stopped or killed. With more of
them there would be an explanation for almost everything: what only a lost log, a failed write, an offset that goes back
or an acting slave explains is refused.
"""

_SETTLING: Final = frozenset({end_transaction.store_real_message, end_transaction.write_op, end_transaction.buffer_op})


@dataclass(frozen=True, slots=True)
class PathStep:
    """A step of the specification on the way."""

    before: int  # the event that it precedes or explains; a later step of the same thread never has a smaller one
    now: int  # the instant at which its guard was evaluated
    step: Step
    offsets: tuple[int, int]  # the half and the op offset of the check service after it
    # the place in the path of the step right behind which it was taken, if not the one before it
    follows: int | None = None

    def __str__(self) -> str:
        return f"{self.step} at {self.now}"


@dataclass(frozen=True, slots=True)
class Settlement:
    """A transaction that was settled on the way."""

    transaction: int
    before: int  # the event that its END_TRANSACTION leads to
    deliveries: int  # as the specification knows them of the transaction from then on
    rolled_back: int  # likewise


@dataclass(frozen=True, slots=True)
class Mark:
    """A place to go back to."""

    writes: int
    steps: int
    faults: int
    settled: int


class Workspace:
    """The state, its constants, and what was done so far."""

    def __init__(self, constants: Constants, wrote_op_at: int | None = None) -> None:
        self.constants = constants
        self.state = initial_state(constants, wrote_op_at)
        self.state.memory.undo = []
        self.path: list[PathStep] = []
        # faults that steps needed, with what they concerned: a transaction, or a step
        self.assumed: list[tuple[str, int]] = []
        self.settled: list[Settlement] = []  # since when, where the check service asks (a repair)

    @cached_property
    def _anything_goes(self) -> Constants:
        return with_faults(self.constants, Environment(ASSUMABLE_FAULTS))

    def mark(self) -> Mark:
        """The place where the walk is."""
        return Mark(len(self.state.memory.undo or ()), len(self.path), len(self.assumed), len(self.settled))

    def back(self, mark: Mark) -> None:
        """Take everything back that was done since."""
        self.state.memory.take_back(mark.writes)
        del self.path[mark.steps :]
        del self.assumed[mark.faults :]
        del self.settled[mark.settled :]

    def take(self, action: ActionFunction, *arguments: int, now: int, before: int) -> Refused | None:
        """Take a step at an instant; the faults that it needs are added to `assumed`.

        A value outside of its declared range refuses the step, too: the trace shows what the instance forbids.
        """
        step = Step(ACTIONS[action], arguments)
        mark = self.mark()
        self.state.now = now
        refused = self._try(step, self.constants)
        if refused is not None and refused.kind == "assume":
            refused = self._try(step, self._anything_goes)
            if refused is None:
                self.state.memory.take_back(mark.writes)
                self.state.now = now
                needed = self._needed(step)  # takes the step
                self.assumed += [(fault, self._subject(action)) for fault in needed]
        if refused is not None:
            self.back(mark)
            return refused
        self.path.append(PathStep(before, now, step, (self.state.offsets.half, self.state.offsets.op)))
        if self.constants.settles_once and action in _SETTLING:
            self._note_settled(self.state.half[arguments[0]].transaction, before)
        return None

    def _note_settled(self, transaction: int, before: int) -> None:
        if all(settled.transaction != transaction for settled in self.settled):
            known = self.state.transaction[transaction]
            self.settled.append(Settlement(transaction, before, known.deliveries, known.rolled_back))

    def offsets_since_crash(self) -> Iterator[tuple[int, int]]:
        """The half and op offsets that may be saved: those since the last crash, the latest first."""
        found: dict[tuple[int, int], None] = {}
        for step in reversed(self.path):
            if step.step.action.function in (broker.crash, shutdown.stop):
                break
            found.setdefault(step.offsets)
        found.setdefault((self.state.saved.half, self.state.saved.op))
        return iter(found)

    def save_offsets_of_then(self, half: int, op: int) -> None:
        """Have the offsets saved when they last became these, unless they are.

        Nothing but a crash reads what is saved, so that it may be decided afterwards. Steps of other threads stand in
        the path behind that moment that come, in the order of the records, behind later steps of the check service.
        """
        if (half, op) == (self.state.saved.half, self.state.saved.op):
            return
        reached = [step.offsets == (half, op) for step in self.path]
        at = max(i for i, is_there in enumerate(reached) if is_there and not (i and reached[i - 1]))
        then = self.path[at]
        self.state.saved.half = half
        self.state.saved.op = op
        step = Step(ACTIONS[broker.persist_offsets], ())
        self.path.append(PathStep(then.before, then.now, step, (half, op), at))

    def refusal(self, action: ActionFunction, *arguments: int, now: int) -> Refused | None:
        """Whether a step would be refused at an instant, whatever the faults; the state stays as it is."""
        mark = self.mark()
        self.state.now = now
        refused = self._try(Step(ACTIONS[action], arguments), self._anything_goes)
        self.back(mark)
        return refused

    def assume_late_end(self, transaction: int) -> None:
        """Note that the path needs an END_TRANSACTION that comes late."""
        self.assumed.append(("late_end", transaction))

    def _subject(self, action: ActionFunction) -> int:
        """A check that comes too early concerns its transaction, once; other faults are one each."""
        if action in (putting_back.put_back_and_check, putting_back.put_back_unasked):
            return self.state.half[self.state.round.cursor - 1].transaction
        return len(self.path)

    def _needed(self, step: Step) -> Environment:
        """The faults without which the step is refused, and take it: fault after fault is left out again."""
        needed = Environment(ASSUMABLE_FAULTS)
        for fault in ASSUMABLE_FAULTS:
            fewer = Environment(other for other in needed if other != fault)
            writes = len(self.state.memory.undo or ())
            if self._try(step, with_faults(self.constants, fewer)) is None:
                needed = fewer
            self.state.memory.take_back(writes)
        self._try(step, with_faults(self.constants, needed))
        return needed

    def _try(self, step: Step, constants: Constants) -> Refused | None:
        writes = len(self.state.memory.undo or ())
        try:
            return take(self.state, constants, step)
        except RangeViolation as violation:
            self.state.memory.take_back(writes)
            return Refused("range", str(violation))


def initial_state(constants: Constants, wrote_op_at: int | None) -> State:
    """The state in which a trace begins: the initial one, but for when an op message was written last before it."""
    state = State(constants)
    if wrote_op_at is not None and constants.batches_ops:
        state.batch.is_open = True
        state.batch.written_at = wrote_op_at
    return state


def with_faults(constants: Constants, environment: Environment) -> Constants:
    """The constants, with some faults switched on."""
    given: dict[str, Any] = dict.fromkeys(environment, True)
    return replace(constants, **given)
