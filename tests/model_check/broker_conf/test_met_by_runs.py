"""Verdicts in ticks are met by runs in milliseconds: a "broken" is played on the reference broker, a "holds" attacked.

Attacks on a "holds" are of two kinds. Each way in which another configuration breaks the clause is taken with the times
of this one, if any instants fit. And specification and broker run side by side in milliseconds, each stretch of time to
an instant at which some comparison turns, or to the millisecond before or behind it.
"""

from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import TYPE_CHECKING

import pytest

from model_check.broker_conf.answer import check_configuration
from model_check.clauses import name_of
from model_check.configuration import Configuration
from model_check.engines import CPYTHON
from model_check.finding import Holds
from model_check.instances import load_instance
from model_check.world import Environment
from tests.model_check.broker_conf.drawn import Drawn, all_drawn
from tests.model_check.broker_conf.played import (
    can_be_played,
    let_a_tick_be_a_millisecond,
    play,
    retimed,
    run_at_random,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from model_check.broker_conf.answer import ConfAnswer, RealSchedule

pytestmark = pytest.mark.untraced

TINY = load_instance("tiny")
CONFIGURATIONS = 200
RUNS = 20


@pytest.fixture(autouse=True)
def _milliseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    let_a_tick_be_a_millisecond(monkeypatch)


def not_met(one: Drawn, answer: ConfAnswer) -> list[str]:
    """The clauses that are said to be broken, and that the reference broker does not break at the times printed."""
    return [
        name_of(clause)
        for clause, shown in answer.schedules.items()
        if can_be_played(shown.path)
        and clause not in play(one.configuration.profile, one.environment, shown).violated()
    ]


def broken_by_paths(one: Drawn, answer: ConfAnswer, shown: Iterable[tuple[str, RealSchedule]]) -> set[str]:
    """The clauses that are said to hold, and that the path of another schedule breaks."""
    held = {row.name: row.clause for row in answer.finding.rows if isinstance(row, Holds)}
    return {
        name for name, schedule in shown if name in held and held[name] in retimed(one.configuration, answer, schedule)
    }


def broken_by_chance(one: Drawn, answer: ConfAnswer, chance: Random, runs: int) -> set[str]:
    """The clauses that are said to hold, and that runs at random break."""
    held = {row.clause for row in answer.finding.rows if isinstance(row, Holds)}
    found = {
        clause for _ in range(runs) for clause in run_at_random(one.configuration, one.environment, answer, chance)
    }
    return {name_of(clause) for clause in held & found}


def schedules_by_environment(
    answers: Iterable[tuple[Drawn, ConfAnswer]],
) -> dict[object, list[tuple[str, RealSchedule]]]:
    """The schedules of all configurations of a version with the same faults."""
    found: dict[object, list[tuple[str, RealSchedule]]] = defaultdict(list)
    for one, answer in answers:
        for clause, shown in answer.schedules.items():
            found[one.configuration.profile, one.environment].append((name_of(clause), shown))
    return found


def test_the_broker_doubles_a_message_within_its_immunity_at_the_times_that_are_printed() -> None:
    one = Drawn(Configuration.of_release("4.9.7", immunities_ms=(6_000,)), Environment())
    answer = check_configuration(one.configuration, one.environment, TINY, engine=CPYTHON)
    assert len(answer.schedules) == 10
    assert not_met(one, answer) == []
    clause, shown = next((c, s) for c, s in answer.schedules.items() if c.clause == "immune_half")
    pair = play(one.configuration.profile, one.environment, shown)
    assert pair.side.records.deliveries[0] == 2
    assert clause in pair.violated()
    assert broken_by_chance(one, answer, Random(4), 2) == set()


@pytest.mark.sweep
def test_two_hundred_configurations() -> None:
    answers = []
    for one in all_drawn(47, CONFIGURATIONS):
        answers.append((one, check_configuration(one.configuration, one.environment, TINY)))
        print(len(answers), flush=True)
    schedules = schedules_by_environment(answers)
    wrong = []
    shown = [can_be_played(schedule.path) for _, answer in answers for schedule in answer.schedules.values()]
    print(f"{len(shown)} schedules, {shown.count(False)} with a step that the lockstep does not drive", flush=True)
    assert shown.count(True) > 10 * shown.count(False)
    for number, (one, answer) in enumerate(answers):
        missed = not_met(one, answer)
        paths = broken_by_paths(one, answer, schedules[one.configuration.profile, one.environment])
        runs = broken_by_chance(one, answer, Random(number), RUNS)
        if missed or paths or runs:
            wrong.append((one, missed, paths, runs))
        print(number, len(wrong), flush=True)
    assert wrong == []
