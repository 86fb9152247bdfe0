"""What the rules ask about time is read off their terms: all of it, and what another rule would ask, too."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import pytest

from model_check.broker_conf.assumed_times import with_assumed_times
from model_check.broker_conf.compared_instants import InstantBound, bounds_of
from model_check.broker_conf.moments import DeadEndError, Milliseconds, Moment, Timeline, let_instants_be_moments
from model_check.broker_conf.ticks import switched_on
from model_check.broker_conf.timed_path import TICK, place_of_clock
from model_check.errors import EvaluationError
from model_check.instances import load_instance
from model_check.world import Environment, Profile, World
from spec.constants import FAULTS, Constants
from spec.language import action, declared_action, require, take
from spec.language.fields import RangeViolation
from spec.profiles import PROFILES
from spec.state import State
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from spec.language import Machine

pytestmark = pytest.mark.untraced

TIMES = {
    "timeout": 6_000,
    "check_interval": 31_000,
    "op_batch_interval": 2_300,
    "round_limit": 60_000,
    "checks_time": 430_000,
    "reserved_time": 350_000,
    "local_limit": 4_500,
    "immunity": 47_000,
}


def on(profile: str, faults: tuple[str, ...] = ()) -> frozenset[str]:
    return frozenset(switched_on(Profile.of(profile), Environment.of(faults)))


def test_what_4_9_7_asks_in_the_quiet_world() -> None:
    asked = {str(bound) for bound in bounds_of(on("4.9.7")) if bound.times and not bound.strict}
    assert asked == {
        "now - half.born_at >= timeout",
        "now - half.born_at >= immunity",
        "half.born_at - now >= -1 * timeout",
        "half.born_at - now >= -1 * immunity",
        "now - round_ended_at >= check_interval",
        "round.started_at - now >= -1 * round_limit",
        "round.started_at - op.born_at >= -1 * timeout",
    }
    assert InstantBound("round.started_at", "half.stored_at", (), 1) in bounds_of(on("4.9.7"))


def test_what_a_batch_and_a_limit_and_retention_add() -> None:
    less = bounds_of(on("4.9.7"))
    more = bounds_of(on("5.3.3"), is_limited=True, may_be_over_age=True)
    assert {bound.times for bound in more} - {bound.times for bound in less} == {
        (("op_batch_interval", 1),),
        (("op_batch_interval", -1),),
        (("op_batch_interval", -2),),
        (("local_limit", -1),),
        (("reserved_time", 1),),
        (("reserved_time", -1),),
    }


class Noting(Milliseconds):
    """Answers at random as far as instants fit, and notes with what numbers distances are compared."""

    def is_at_least_zero(self, terms: dict[int, int], offset: int) -> bool:
        ASKED.add(offset)
        self.preferred = [CHANCE.random() < 0.5] * (len(self.answers) + 1)
        return super().is_at_least_zero(terms, offset)


ASKED: set[int] = set()
CHANCE = Random(11)


def numbers_asked(profile: str, faults: tuple[str, ...], runs: int, steps: int) -> set[int]:
    """The numbers with which runs at random compare the distance of two instants."""
    sizes = replace(load_instance("deep"), skews=(0,), first_checks=(0,), clock_steps=0)
    times = {name: value for name, value in TIMES.items() if hasattr(sizes, name)}
    constants = replace(World.of(profile, faults, sizes).constants, immunities=(-1, TIMES["immunity"]), **times)  # type: ignore[arg-type]
    machine, timed = with_assumed_times(
        TRANSACTIONAL_MESSAGES, constants, local_limit=TIMES["local_limit"], checks_time=TIMES["checks_time"]
    )
    ASKED.clear()
    for _ in range(runs):
        _run(machine, timed, steps)
    return set(ASKED)


def _run(machine: Machine, constants: Constants, length: int) -> None:
    state = machine.initial(constants)
    let_instants_be_moments(state)
    clock, timeline, now = place_of_clock(state), Timeline(), 0
    steps = machine.steps(constants)
    for _ in range(length):
        for step in CHANCE.sample(steps, len(steps)):
            oracle = Noting(timeline)
            state.memory.values[clock] = Moment(oracle, {now: 1} if now else {}, state.horizon)  # type: ignore[call-overload]
            before, mark = list(state.memory.values), timeline.mark()
            try:
                is_taken = take(state, constants, step) is None
            except (DeadEndError, RangeViolation):
                is_taken = False
            if is_taken:
                now = timeline.after(now) if step.action.event == TICK else now
                break
            state.memory.values = before
            timeline.back(mark)


@pytest.mark.parametrize("profile", ["5.3.3", pytest.param("5.5.1", marks=pytest.mark.sweep)])
def test_runs_compare_distances_with_nothing_that_was_not_read(profile: str) -> None:
    faults = ("crash", "slow_local", "late_end", "slow_round", "lose_end")
    bounds = bounds_of(on(profile, faults), is_limited=True, may_be_over_age=True)
    read = {sum(factor * TIMES[name] for name, factor in bound.times) for bound in bounds if bound.later}
    asked = {abs(number) for number in numbers_asked(profile, faults, 2, 60)}
    long_ago = TIMES["checks_time"] + 3
    known = {0, long_ago} | {abs(number) for number in read} | {abs(long_ago + number) for number in read}
    assert {number for number in asked if not known & {number - 1, number, number + 1}} == set()
    assert {TIMES["timeout"], TIMES["check_interval"]} <= asked


@action(event="nothing")
def wait_for_thrice_the_interval(s: State, c: Constants) -> None:
    """A rule that no version has."""
    require(s.now - s.round_ended_at <= c.check_interval + c.check_interval + c.timeout, "no such rule")


@action(event="nothing")
def wait_for_three_ticks(s: State, c: Constants) -> None:
    """A rule with a number that is no time."""
    require(s.now - s.round_ended_at >= 4, "no such rule")


@action(event="nothing")
def compare_three_instants(s: State, c: Constants) -> None:
    """A rule that no difference of two instants answers."""
    require(s.now - s.round_ended_at >= s.batch.written_at, "no such rule")


def with_rule(rule: object) -> Machine:
    added = declared_action(rule)  # type: ignore[arg-type]
    return replace(TRANSACTIONAL_MESSAGES, actions=(*TRANSACTIONAL_MESSAGES.actions, added))


def test_a_rule_that_is_added_is_read() -> None:
    machine = with_rule(wait_for_thrice_the_interval)
    added = bounds_of(on("5.3.3"), machine=machine) - bounds_of(on("5.3.3"))
    assert {str(bound) for bound in added} == {"round_ended_at - now >= -1 * timeout + -2 * check_interval"}


@pytest.mark.parametrize("rule", [wait_for_three_ticks, compare_three_instants])
def test_a_rule_of_another_kind_is_refused(rule: object) -> None:
    with pytest.raises(EvaluationError, match="a rule compares"):
        bounds_of(on("5.3.3"), machine=with_rule(rule))


@pytest.mark.parametrize(
    "profile", [pytest.param(name, marks=() if name == "fixed" else pytest.mark.sweep) for name in sorted(PROFILES)]
)
def test_every_release_under_all_faults_asks_for_known_times_alone(profile: str) -> None:
    unasked = ("clock_skew", "clock_step")
    faults = tuple(fault for fault in FAULTS if fault not in unasked)
    bounds = bounds_of(on(profile, faults), is_limited=True, may_be_over_age=True)
    assert {name for bound in bounds for name, _ in bound.times} <= TIMES.keys()
    assert all(bound.strict in (0, 1) for bound in bounds)
