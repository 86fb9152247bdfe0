"""Which guarantees a configuration gives: a search in ticks, and each violation shown again in milliseconds.

The last word on a schedule has `judge`: the CPython engine takes its steps with a clock of milliseconds and the real
times.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Unpack

from model_check.broker_conf.assumed_times import with_assumed_times
from model_check.broker_conf.compared_sums import CHECKS, LOCAL
from model_check.broker_conf.ticks import UNASKED_FAULTS, Quotient, quotient_of, switched_on
from model_check.broker_conf.timed_path import (
    ROLE_CHANGED,
    ROUND_BEGAN,
    ROUNDS_WAIT_FROM,
    TICK,
    GrowingRounds,
    Habits,
    MoreRounds,
    NoInstantsError,
    PathTimer,
    TimedPath,
    answers_in_ticks,
    decided_late,
    is_path,
    place_of_clock,
    places_between_rounds,
    silencers_of,
)
from model_check.check import check
from model_check.engines import COMPILED, Engine
from model_check.errors import ModelCheckError
from model_check.finding import Finding, Holds, Row, Unknown, Violated
from model_check.question import Means, Question
from model_check.world import Environment, World
from spec.constants import Constants, Instance
from spec.language import NONE, Kind, Machine, MachineState, Property, Step, holds, take
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from model_check.configuration import Configuration

VIOLATED_IN_TICKS = "violated in ticks"
"""How the reason begins why a clause is unknown although the search has found a violation."""

_MOST_MORE_ROUNDS = 30
"""Every number of added rounds up to this and to `transactionCheckMax` is tried, and what the scaled one lacks."""

_MOST_CHECKS = 500
"""Beyond this `transactionCheckMax` what the scaled one lacks is not added: its copies would fill time and memory."""


@dataclass(frozen=True, slots=True)
class RealSchedule:
    """A violation as it happens in the real configuration."""

    path: tuple[Step, ...]
    """Its steps, with immunities in milliseconds."""
    times: tuple[int, ...]
    """When each happens, in milliseconds since the start; a `tick` happens when it ends."""
    machine: Machine
    constants: Constants
    """In milliseconds."""
    more_rounds: int
    """How many rounds were added to those of the path in ticks."""
    late_ms: int
    """By how much the latest round comes later than the check interval asks; 0 where all are punctual."""


@dataclass(frozen=True, slots=True)
class ConfAnswer:
    """The verdicts on a configuration, searched with the sizes of one instance."""

    configuration: Configuration
    base: Instance
    """Whose sizes."""
    quotient: Quotient
    finding: Finding
    """The verdicts. A clause that is violated in ticks but not in milliseconds is unknown."""
    schedules: dict[Property, RealSchedule]
    """For each violated clause its schedule."""
    machine: Machine
    constants: Constants
    """Of the search, in ticks, as the machine is."""


def check_configuration(
    configuration: Configuration,
    environment: Environment,
    base: Instance,
    *,
    clauses: tuple[Property, ...] = TRANSACTIONAL_MESSAGES.clauses,
    engine: Engine = COMPILED,
    unscheduled: Collection[Property] = (),
    most_states: int | None = None,
    most_steps: int = 30,
    **means: Unpack[Means],
) -> ConfAnswer:
    """Search the quotient of a configuration; see `model_check.check.check` for what the two share.

    In the quiet world the switches are folded into the compiled code; what is compiled for faults serves all of them.

    The sizes of the instance are those of the base, its times are the configuration's. A violation of an `unscheduled`
    clause in ticks needs no schedule in milliseconds, and is unknown. The limits are those of
    `model_check.question.Question`. Raises `ModelCheckError` when a fault needs what no broker.conf says, or no few
    ticks keep the order of the times.
    """
    for fault in environment:
        if fault in UNASKED_FAULTS:
            msg = f"fault {fault}: no broker.conf says how far clocks differ or step back; ask without --broker-conf"
            raise ModelCheckError(msg)
    quotient = quotient_of(configuration, base, switched_on(configuration.profile, environment))
    world = World(configuration.profile, environment, quotient.instance)
    machine, timed = with_assumed_times(
        TRANSACTIONAL_MESSAGES,
        world.constants,
        local_limit=quotient.ticks.get(LOCAL, NONE),
        checks_time=quotient.ticks.get(CHECKS, 0),
        stands_for_more=int(quotient.check_max[0] != quotient.check_max[1]),
    )
    question = Question(
        world=world,
        clauses=clauses,
        most_states=most_states,
        most_steps=most_steps,
        given=machine if environment else replace(machine, switches=()),
        constants=timed,
    )
    finding = check(question, engine, **means)
    schedules: dict[Property, RealSchedule] = {}
    rows: list[Row] = []
    for row in finding.rows:
        why = quotient.doubt if isinstance(row, Holds) else ""
        if isinstance(row, Violated):
            found = None if row.clause in unscheduled else in_milliseconds(configuration, quotient, machine, timed, row)
            if isinstance(found, RealSchedule):
                schedules[row.clause] = found
            else:
                but = "" if found is None else f", but not shown with the real times: {found}"
                why = f"{VIOLATED_IN_TICKS}, in {row.depth} steps{but}"
        rows.append(Unknown(row.clause, why) if why else row)
    return ConfAnswer(configuration, base, quotient, replace(finding, rows=tuple(rows)), schedules, machine, timed)


def in_milliseconds(
    configuration: Configuration, quotient: Quotient, machine: Machine, constants: Constants, row: Violated
) -> RealSchedule | NoInstantsError:
    """The violation of a clause in the real configuration, judged by the plain engine; or why the first try failed."""
    plain = row.path
    undecided = decided_late(plain)
    if not is_path(machine, constants, undecided):  # what is delivered without END_TRANSACTION was decided before
        undecided = plain
    answers = {path: answers_in_ticks(machine, constants, path) for path in (plain, undecided)}
    missing = quotient.check_max[0] - quotient.check_max[1]
    is_shown = configuration.check_max <= _MOST_CHECKS
    interval = configuration.check_interval_ms
    whole = {missing} if is_shown else set()
    punctual = sorted({*range(min(configuration.check_max, _MOST_MORE_ROUNDS) + 1), *whole})
    tries = [(more, interval) for more in punctual] + [(more, None) for more in sorted({0, *whole})]
    first: NoInstantsError | None = None

    @cache
    def growing(silencer: str | None, place: int) -> GrowingRounds:
        """Rounds that are added there one by one, in a machine with room for the most of them."""
        roomy_machine, roomy = _real_constants(configuration, quotient, constants, punctual[-1])
        timer = PathTimer(roomy_machine, roomy, Habits(configuration.save_interval_ms, interval))
        wanted = _of_machine([_with_real_immunity(step, quotient) for step in undecided], roomy_machine)
        return GrowingRounds(timer, wanted, answers[undecided], place, silencer)

    for more, latest in tries:
        real_machine, real = _real_constants(configuration, quotient, constants, more)
        path = undecided if more else plain
        wanted = _of_machine([_with_real_immunity(step, quotient) for step in path], real_machine)
        places = product(silencers_of(path), places_between_rounds(path)) if more else [(None, 0)]
        for silencer, place in places:
            is_punctual = more and latest is not None
            if is_punctual and (refusal := growing(silencer, place).refusal(more, real.half_slots)):
                first = first or refusal
                continue
            timer = PathTimer(real_machine, real, Habits(configuration.save_interval_ms, latest))
            found = timer.schedule(wanted, answers[path], MoreRounds(more, place, silencer))
            if isinstance(found, TimedPath):
                violated = judge(real_machine, real, found.path, found.times)
                if isinstance(violated, tuple) and row.clause in violated:
                    late = _lateness(found.path, found.times, interval)
                    return RealSchedule(found.path, found.times, real_machine, real, more, late)
                intact = NoInstantsError(len(found.path), found.path[-1], f"{row.name} is kept at the end")
                found = violated if isinstance(violated, NoInstantsError) else intact
            first = first or found
    if first is None:
        raise AssertionError(row.clause)
    return first if is_shown else _NotLookedForError(first, configuration.check_max)


class _NotLookedForError(NoInstantsError):
    """A schedule may need all the checks that a half gets, and they are too many."""

    def __init__(self, first: NoInstantsError, checks: int) -> None:
        super().__init__(first.number, first.step, first.rule)
        self.checks = checks

    def __str__(self) -> str:
        return (
            f"it may take transactionCheckMax={self.checks} checks, and of more than {_MOST_CHECKS} none is looked for"
        )


def _lateness(path: tuple[Step, ...], times: tuple[int, ...], interval: int) -> int:
    """How much later than the interval the latest round begins after the end of the one before it."""
    ended: int | None = None
    late = 0
    for step, time in zip(path, times, strict=True):
        if step.action.event == ROUND_BEGAN and ended is not None:
            late = max(late, time - ended - interval)
        if step.action.event in ROUNDS_WAIT_FROM:
            ended = time
        elif step.action.event == ROLE_CHANGED:
            ended = None
    return late


def _real_constants(
    configuration: Configuration, quotient: Quotient, constants: Constants, more_rounds: int
) -> tuple[Machine, Constants]:
    """The constants in milliseconds, under the same switches and faults, with room for the copies of more rounds."""
    given = {name: getattr(constants, name) for name in Constants.__dataclass_fields__}
    instance = quotient.instance
    given |= {
        "name": f"{instance.name}, in milliseconds",
        "half_slots": instance.half_slots + more_rounds * instance.transactions,
        "check_max": configuration.check_max,
        "timeout": configuration.timeout_ms,
        "immunities": (NONE, *sorted(set(configuration.immunities_ms))),
        "check_interval": configuration.check_interval_ms,
        "round_limit": configuration.round_limit_ms,
        "op_batch_interval": configuration.op_batch_interval_ms,
        "op_batch_size": configuration.ops_in_a_batch,
        "op_pull_size": configuration.op_pull_size,
        "reserved_time": NONE if configuration.reserved_ms is None else configuration.reserved_ms,
    }
    return with_assumed_times(
        TRANSACTIONAL_MESSAGES,
        Constants(**given),
        local_limit=NONE if configuration.local_ms is None else configuration.local_ms,
        checks_time=(configuration.check_max - 1) * configuration.check_interval_ms,
    )


def _with_real_immunity(step: Step, quotient: Quotient) -> Step:
    real = {
        quotient.ticks[name]: milliseconds
        for name, milliseconds in quotient.real_ms.items()
        if name.startswith("immunity")
    }
    arguments = tuple(
        real.get(value, value) if choices.constant == "immunities" else value
        for value, choices in zip(step.arguments, step.action.parameters.values(), strict=True)
    )
    return Step(step.action, arguments)


def _of_machine(steps: Iterable[Step], machine: Machine) -> tuple[Step, ...]:
    """The same steps, as actions of the machine (its `tick` may be another)."""
    actions = {action.name: action for action in machine.actions}
    return tuple(Step(actions[step.action.name], step.arguments) for step in steps)


def judge(
    machine: Machine, constants: object, path: Sequence[Step], times: Sequence[int]
) -> tuple[Property, ...] | NoInstantsError:
    """Take the steps at their instants, and say which clauses the state at the end violates.

    A stretch of time is as many `now += 1` as it has milliseconds. Guards compare differences of instants with
    constants, so that what they say can change only where a difference passes a constant: the clock is set to each of
    those instants, and to the first and the last, and the `tick` must be accepted at every one. The constants have the
    real times, in milliseconds. Each step happens at so many milliseconds since the start, a `tick` when it ends. Gives
    the violated clauses, or the step that the real guards refuse.
    """
    state = machine.initial(constants)
    clock = place_of_clock(state)
    lengths = _numbers_of(constants)
    for number, (step, time) in enumerate(zip(path, times, strict=True), start=1):
        end = state.horizon + time
        if step.action.event == TICK:
            for now in _critical_instants(state, state.memory.values[clock], end, lengths):
                state.memory.values[clock] = now
                refused = take(state, constants, step)
                if refused is not None:
                    return NoInstantsError(number, step, f"{now - state.horizon} ms: {refused.rule}")
            state.memory.values[clock] = end
            continue
        if state.memory.values[clock] != end:
            return NoInstantsError(number, step, f"it happens at {time} ms, but only a tick makes time pass")
        refused = take(state, constants, step)
        if refused is not None:
            return NoInstantsError(number, step, refused.rule)
    return tuple(clause for clause in machine.clauses if not holds(state, constants, clause))


def _critical_instants(state: MachineState, first: int, end: int, lengths: frozenset[int]) -> list[int]:
    """The instants from `first` to before `end` at which some instant's age passes a constant, and both ends."""
    seen = {
        value for slot, value in zip(state.memory.slots, state.memory.values, strict=True) if slot.kind is Kind.INSTANT
    }
    near = {instant + length + step for instant in seen for length in lengths for step in (-1, 0, 1)}
    return sorted({first, end - 1} | {now for now in near if first < now < end - 1})


def _numbers_of(constants: object) -> frozenset[int]:
    """Every number that the constants hold or derive, and zero."""
    found = {0}
    for name in dir(constants):
        value = None if name.startswith("_") else getattr(constants, name)
        found.update(v for v in (value if isinstance(value, tuple) else (value,)) if type(v) is int)
    return frozenset(found)
