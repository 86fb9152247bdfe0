"""Schedules made of clients' choices; time and the check service's rounds follow by themselves.

A schedule is a list of visits: the clients' actions, in order, between one round and the next. A choice that is not
possible where it stands is passed over, so that any other choices may be left out of a schedule: what is left is a
schedule, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, cast

from model_check.walks.choices import fault_actions
from spec.chapters import broker, check_round, end_transaction, op_batch, shutdown
from spec.language import Step, take
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from wire.probe.staging import STAGED, CannotStageError, OutOfReach, plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spec.constants import Constants
    from spec.state import State
    from wire.probe.orders import ProbePlan

Choice = tuple[str, int]
"""An action, and which of its steps that are possible then, that of the latest half first."""

_OF_CLIENTS: Final = ("producer", "network", "end_transaction")
_OF_A_ROUND: Final = ("check_round", "putting_back", "discarding")


@dataclass(frozen=True)
class ClientSchedules:
    """The schedules of one instance."""

    constants: Constants
    ticks: int
    """How many ticks are between two rounds."""
    with_faults: bool = False
    """Whether clients do what only an environment with faults allows."""
    can_die: bool = False
    """Whether the broker's process may be killed and stopped."""
    _known: dict[str, list[Step]] = field(default_factory=dict)

    @cached_property
    def actions(self) -> tuple[str, ...]:
        """The names of what clients may choose, the simplest first."""
        of_clients = [name for name, steps in self._steps.items() if self._is_chosen(name, steps[0])]
        deaths = [broker.crash] * self.constants.crash + [shutdown.begin_stop] * self.constants.graceful_stop
        dying = [*deaths, broker.persist_offsets] if deaths and self.can_die else []
        return (*of_clients, op_batch.write_op_batch.__name__, *(action.__name__ for action in dying))

    def _is_chosen(self, name: str, step: Step) -> bool:
        is_usual = self.with_faults or name not in fault_actions()
        return is_usual and step.action.chapter in _OF_CLIENTS and _is_in_reach(step)

    @cached_property
    def _steps(self) -> dict[str, list[Step]]:
        found: dict[str, list[Step]] = {}
        for step in TRANSACTIONAL_MESSAGES.steps(self.constants):
            found.setdefault(step.action.name, []).append(step)
        of_a_half = (steps for steps in found.values() if "h" in steps[0].action.parameters)
        for steps in of_a_half:
            steps.reverse()
        return found

    def schedule(self, visits: Sequence[Sequence[Choice]]) -> tuple[tuple[Step, ...], ProbePlan]:
        """The steps of a schedule, and what they come to for a client; up to the first that it cannot bring about."""
        path = list(self._path(visits))
        while True:
            try:
                return tuple(path), plan(self.constants, path)
            except CannotStageError:
                path.pop()

    def _path(self, visits: Sequence[Sequence[Choice]]) -> Iterator[Step]:
        state = cast("State", TRANSACTIONAL_MESSAGES.initial(self.constants))
        for number, visit in enumerate(visits):
            if number:
                yield from self._time(state)
                yield from self._round(state)
            for name, which in visit:
                yield from self._client(state, name, which)

    def _client(self, state: State, name: str, which: int) -> Iterator[Step]:
        """A client's choice, or the next that is possible, with the steps of the broker that follow at once."""
        at = self.actions.index(name)
        for other in (*self.actions[at:], *self.actions[:at]):
            for step in self._chosen(state, other, which):
                yield step
                if step.action.function is end_transaction.store_real_message:
                    for then in (end_transaction.write_op, end_transaction.buffer_op):
                        settle = next(each for each in self._steps[then.__name__] if each.arguments == step.arguments)
                        if take(state, self.constants, settle) is None:
                            yield settle
                if step.action.function is shutdown.begin_stop:
                    yield from self._round(state)
                    yield from self._chosen(state, shutdown.stop.__name__, 0)
                return

    def _chosen(self, state: State, name: str, which: int) -> Iterator[Step]:
        before = tuple(state.memory.values)
        possible: list[Step] = []
        for step in self._steps[name]:
            if take(state, self.constants, step) is None:
                possible.append(step)
                state.load(before)
                if len(possible) > which:
                    break
        if possible:
            step = possible[which % len(possible)]
            take(state, self.constants, step)
            yield step

    def _time(self, state: State) -> Iterator[Step]:
        """Until the next round, or as long as this environment lets clients wait; a due op batch is written."""
        for _ in range(self.ticks):
            passed = list(self._chosen(state, broker.tick.__name__, 0))
            if not passed and (written := list(self._chosen(state, op_batch.write_op_batch.__name__, 0))):
                passed = [*written, *self._chosen(state, broker.tick.__name__, 0)]
            yield from passed

    def _round(self, state: State) -> Iterator[Step]:
        """A round to its end, or up to where it can only ask for op messages that are not there (A19)."""
        if not state.round.running:
            yield from self._chosen(state, check_round.begin_round.__name__, 0)
        while state.round.running:
            before = tuple(state.memory.values)
            taken = next((step for step in self._of_a_round if take(state, self.constants, step) is None), None)
            if taken is None or tuple(state.memory.values) == before:
                return
            yield taken

    @cached_property
    def _of_a_round(self) -> tuple[Step, ...]:
        """More op messages are asked for when nothing else can be done."""
        own = (
            step
            for name, steps in self._steps.items()
            for step in steps
            if step.action.chapter in _OF_A_ROUND and name not in fault_actions() and _is_in_reach(step)
        )
        return tuple(sorted(own, key=lambda step: step.action.function is check_round.pull_more_ops))


def _is_in_reach(step: Step) -> bool:
    return not isinstance(STAGED[step.action.function], OutOfReach)
