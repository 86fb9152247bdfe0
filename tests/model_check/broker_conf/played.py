"""Schedules in milliseconds, played on specification and reference broker side by side; and runs drawn at random.

The lockstep of `fuzz` compares the two after each step. Here one of its ticks is a millisecond, and a stretch of time
is one leap of the clock: `model_check.broker_conf.answer.judge` has seen that nothing in it is overdue.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fuzz.actions import broker as broker_actions
from fuzz.actions import producer as producer_actions
from fuzz.broker_side import broker_records, broker_side
from fuzz.broker_side.broker_side import settings_for
from fuzz.broker_side.producers import half_message
from fuzz.lockstep.pairing import DRIVEN, Pair, Pairing
from model_check.broker_conf.answer import _real_constants, judge
from model_check.broker_conf.timed_path import TICK, Habits, MoreRounds, NoInstantsError, PathTimer, place_of_clock
from model_check.instances import load_instance
from model_check.world import World
from spec.language import LONG_AGO, NONE, Kind, Refused, Step, holds, take

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    import pytest

    from model_check.broker_conf.answer import ConfAnswer, RealSchedule
    from model_check.configuration import Configuration
    from model_check.world import Environment, Profile
    from reference.broker.broker_settings import BrokerSettings
    from reference.broker.processor.send_message_processor import SendMessageRequest
    from spec.constants import Constants
    from spec.language import Machine, Property

_LIVELY = 0.6
"""How often a run at random takes a step, if one is possible, rather than let time pass."""

MODULES = (broker_records, broker_side, broker_actions, producer_actions)


def let_a_tick_be_a_millisecond(patch: pytest.MonkeyPatch) -> None:
    """For the lockstep's two sides."""
    for module in MODULES:
        patch.setattr(module, "TICK_MS", 1)
    patch.setattr(producer_actions, "half_message", _half_message_in_milliseconds)
    patch.setattr(broker_side, "settings_for", _settings_with_retention)


def _settings_with_retention(constants: Constants) -> BrokerSettings:
    settings = settings_for(constants)
    if constants.reserved_time == NONE:
        return settings
    return replace(settings, file_reserved_time_ms=constants.reserved_time)


def _half_message_in_milliseconds(transaction: int, immunity: int, born_at: int, **carried: int) -> SendMessageRequest:
    """A message carries whole seconds."""
    seconds, rest = divmod(immunity, 1_000)
    assert immunity == NONE or rest == 0, immunity
    return half_message(transaction, NONE if immunity == NONE else seconds, born_at, **carried)


class PlayedPair(Pair):
    """A pair whose clock leaps."""

    def __init__(self, profile: Profile, environment: Environment, constants: Constants, machine: Machine) -> None:
        super().__init__(Pairing(World(profile, environment, load_instance("tiny")), machine, given=constants))
        self.clock = place_of_clock(self.state)
        put = self._mapping.records._put

        def put_milliseconds(name: str, index: int | None, value: int) -> None:
            put(name, index, 1_000 * value if name == "transaction.immunity" and value != NONE else value)

        self._mapping.records._put = put_milliseconds

    def leap(self, milliseconds: int) -> None:
        """Let time pass in both, and compare them."""
        self.state.memory.values[self.clock] += milliseconds
        self.side.clock.advance(milliseconds)
        self.side.roll()
        self.compare()

    def leap_if_allowed(self, moment: int) -> None:
        """Let time pass to an instant, if nothing is overdue in the millisecond before it; else by a millisecond."""
        values = self.state.memory.values
        now = values[self.clock]
        tick = self.pairing.steps_of["tick"][0]
        for end in (moment, now + 1):
            values[self.clock] = end - 1
            refused = take(self.state, self.constants, tick)
            values[self.clock] = now
            if refused is None:
                self.leap(end - now)
                return

    def violated(self) -> list[Property]:
        """The clauses that the run has broken."""
        return [c for c in self.pairing.machine.clauses if not holds(self.state, self.constants, c)]


def can_be_played(path: Sequence[Step]) -> bool:
    """All its actions are done to the broker as well."""
    return all(step.action.name in DRIVEN for step in path)


def play(profile: Profile, environment: Environment, shown: RealSchedule) -> PlayedPair:
    """Play a schedule on both at the times that it names; raises `Mismatch` where they differ."""
    pair = PlayedPair(profile, environment, shown.constants, shown.machine)
    now = 0
    for step, time in zip(shown.path, shown.times, strict=True):
        if step.action.event == TICK:
            pair.leap(time - now)
            now = time
            continue
        refused = pair.take(step)
        if refused is not None:
            raise Refused(refused.kind, f"{time} ms, {step}: {refused.rule}")
    return pair


def real_machine(configuration: Configuration, answer: ConfAnswer, more_rounds: int = 0) -> tuple[Machine, Constants]:
    """The machine of an answer with its real times."""
    return _real_constants(configuration, answer.quotient, answer.constants, more_rounds)


def retimed(configuration: Configuration, answer: ConfAnswer, shown: RealSchedule) -> tuple[Property, ...]:
    """What the path of another configuration's schedule breaks with the times of this one, if any instants fit."""
    machine, constants = real_machine(configuration, answer, shown.more_rounds)
    carried = {step.arguments[1] for step in shown.path if "immunity" in step.action.parameters} - {NONE}
    if len(carried) > len(configuration.immunities_ms):
        return ()
    as_long = dict(zip(sorted(carried), configuration.immunities_ms, strict=False))
    actions = {action.name: action for action in machine.actions}
    path = [
        Step(
            actions[step.action.name],
            tuple(
                as_long.get(value, value) if name == "immunity" else value
                for name, value in zip(step.action.parameters, step.arguments, strict=True)
            ),
        )
        for step in shown.path
    ]
    timer = PathTimer(machine, constants, Habits(configuration.save_interval_ms, None))
    found = timer.schedule(path, [()] * len(path), MoreRounds(0, 0))
    if isinstance(found, NoInstantsError):
        return ()
    violated = judge(machine, constants, found.path, found.times)
    return violated if isinstance(violated, tuple) else ()


def run_at_random(
    configuration: Configuration, environment: Environment, answer: ConfAnswer, chance: Random, steps: int = 60
) -> set[Property]:
    """The clauses that a run of both sides breaks, its stretches of time as long as some comparison asks for."""
    machine, constants = real_machine(configuration, answer)
    machine = replace(machine, actions=tuple(action for action in machine.actions if action.name in DRIVEN))
    pair = PlayedPair(configuration.profile, environment, constants, machine)
    possible = [step for step in pair.pairing.steps if step.action.event != TICK]
    lengths = sorted({*answer.quotient.real_ms.values(), 2 * configuration.op_batch_interval_ms, 0})
    broken: set[Property] = set()
    for _ in range(steps):
        wanted = chance.sample(possible, len(possible)) if chance.random() < _LIVELY else []
        if not any(pair.take(step) is None for step in wanted):
            pair.leap_if_allowed(_moment_to_leap_to(pair, lengths, chance))
        broken.update(pair.violated())
    return broken


def _moment_to_leap_to(pair: PlayedPair, lengths: Sequence[int], chance: Random) -> int:
    """An instant at which some age passes a length, or next to it."""
    memory = pair.state.memory
    now = memory.values[pair.clock]
    seen = [
        value
        for slot, value in zip(memory.slots, memory.values, strict=True)
        if slot.kind is Kind.INSTANT and value > LONG_AGO
    ]
    near = {since + length + by for since in [*seen, now] for length in lengths for by in (-1, 0, 1)}
    return chance.choice(sorted(moment for moment in near if moment > now) or [now + 1])
