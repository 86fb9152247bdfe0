"""What real configurations give and break, each violation shown in milliseconds by the plain CPython engine."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from model_check.broker_conf import answer as answering
from model_check.broker_conf.answer import ConfAnswer, RealSchedule, check_configuration, in_milliseconds, judge
from model_check.broker_conf.assumed_times import with_assumed_times
from model_check.broker_conf.ticks import UNASKED_FAULTS, quotient_of, switched_on
from model_check.broker_conf.timed_path import GrowingRounds, MoreRounds, NoInstantsError, PathTimer, TimedPath
from model_check.broker_conf.words import schedule_lines
from model_check.clauses import chosen_clauses, clauses_by_name
from model_check.configuration import Configuration
from model_check.engines import ENGINES
from model_check.errors import ModelCheckError
from model_check.finding import Unknown, Verdict
from model_check.instances import load_instance
from model_check.world import Environment
from spec.constants import FAULTS
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.sampled import sampled

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.untraced

MINUTE_MS = 60_000
DEFAULT_MS = 3_000
"""The op batch interval of a broker.conf that sets none."""

ANYWHERE = {"R1.pulls_nothing", "S2.commit_after_discard", "S6.flag_of_a_copy", "S8.parked_although_settled"}
"""What is broken in the quiet world whatever the settings (A19, A14, B32, A10)."""
BY_THE_BATCH = {"S1.late_op", "S9.overslept_op", "S9.stale_op_end"}
"""What an op batch breaks besides, where it may wait until a half is old (A16, B06)."""


@cache
def answer(
    version: str = "5.3.3",
    base: str = "tiny",
    faults: tuple[str, ...] = (),
    engine: str = "cpython",
    immunities_ms: tuple[int, ...] = (),
    **settings: int,
) -> ConfAnswer:
    configuration = Configuration.of_release(version, immunities_ms=immunities_ms, **settings)
    environment, instance = Environment.of(faults), load_instance(base)
    return check_configuration(configuration, environment, instance, engine=ENGINES[engine])


def verdicts(of: ConfAnswer) -> dict[str, str]:
    return {row.name: row.verdict.value for row in of.finding.rows}


def violated(of: ConfAnswer) -> set[str]:
    return {name for name, verdict in verdicts(of).items() if verdict == Verdict.VIOLATED.value}


def schedule(of: ConfAnswer, name: str) -> RealSchedule:
    return of.schedules[clauses_by_name()[name]]


def events(of: RealSchedule) -> list[tuple[int, str]]:
    steps = schedule_lines(of.machine, of.constants, of.path, of.times)
    return [(line.milliseconds, line.step.action.name) for line in steps]


def test_an_immunity_of_a_minute_delivers_twice_with_the_default_settings() -> None:
    of = answer(base="deep", engine="numba", immunities_ms=(MINUTE_MS,))
    shown = schedule(of, "S1.immune_half")
    steps = events(shown)
    put_back = [time for time, action in steps if action == "put_back_immune_half"]
    delivered = [time for time, action in steps if action == "store_real_message"]
    assert put_back == [1, 30_001], "a round every 30 s"
    assert delivered[0] <= MINUTE_MS < delivered[1] == 60_001
    assert shown.late_ms == 0


def test_without_an_immunity_the_same_settings_keep_that_clause() -> None:
    assert violated(answer()) == ANYWHERE | BY_THE_BATCH | {"S9.late_op"}
    assert violated(answer(version="4.9.7")) == ANYWHERE


def test_a_short_op_batch_interval_saves_quick_commits_and_the_default_does_not() -> None:
    assert violated(answer(local_ms=1_000)) == ANYWHERE | BY_THE_BATCH
    assert violated(answer(local_ms=1_000, op_batch_interval_ms=10)) == ANYWHERE
    assert violated(answer(op_batch_interval_ms=10)) == ANYWHERE | BY_THE_BATCH | {"S9.late_op"}


@pytest.mark.parametrize("interval_ms", [10, DEFAULT_MS])
@pytest.mark.parametrize(("clause", "intervals"), [("S9.late_op", 1), ("S9.overslept_op", 2)])
def test_the_schedule_shows_how_late_an_end_must_be_for_its_op_to_miss_the_round(
    clause: str, intervals: int, interval_ms: int
) -> None:
    """An op waits for an interval, or two where its thread overslept; the half is old one millisecond after 6000."""
    shown = schedule(answer() if interval_ms == DEFAULT_MS else answer(op_batch_interval_ms=interval_ms), clause)
    ended = next(time for time, action in events(shown) if action == "buffer_op")
    assert ended == max(1, 6_001 - intervals * interval_ms)


@pytest.mark.parametrize(("minutes", "immune_rounds"), sampled([(1, range(1, 3)), (16, [15])], 2))
def test_immune_rounds_use_up_the_real_number_of_checks(minutes: int, immune_rounds: Sequence[int]) -> None:
    """A09: all 15 go to put-backs above 15 x 30 s; below, the discard comes after fewer checks than 15."""
    of = answer(base="deep", engine="numba", immunities_ms=(minutes * MINUTE_MS,))
    steps = events(schedule(of, "L2.immunity_burns_checks"))
    actions = [action for _, action in steps]
    assert actions.count("put_back_immune_half") in immune_rounds
    assert actions.count("put_back_immune_half") + actions.count("put_back_and_check") == 15
    assert actions[-1] == "discard_half"
    began = [time for time, action in steps if action == "begin_round"]
    assert {after - before for before, after in pairwise(began)} == {30_000}


def test_a_violation_that_needs_a_late_round_says_by_how_much() -> None:
    """A half that is immune for 16 minutes is discarded after 7; only a service that sleeps checks it."""
    assert schedule(answer(base="deep", engine="numba", immunities_ms=(16 * MINUTE_MS,)), "S1.immune_half").late_ms > 0


def test_what_the_real_times_forbid_is_not_claimed() -> None:
    """The path of a broker with the default batch interval does not fit one that writes every 10 ms."""
    of = answer(local_ms=1_000)
    row = of.finding.violated[clauses_by_name()["S9.overslept_op"]]
    constants = of.finding.world.constants
    ticks = of.quotient.ticks
    machine, limited = with_assumed_times(
        TRANSACTIONAL_MESSAGES,
        constants,
        local_limit=ticks["local transaction"],
        checks_time=ticks["all checks but one"],
    )
    same = in_milliseconds(of.configuration, of.quotient, machine, limited, row)
    assert isinstance(same, RealSchedule)
    other = replace(of.configuration, op_batch_interval_ms=10)
    refused = in_milliseconds(other, of.quotient, machine, limited, row)
    assert isinstance(refused, NoInstantsError)
    assert "is refused: the op batch thread wakes up once an interval" in str(refused)


def test_a_property_with_an_open_clause_is_open_however_complete_the_search() -> None:
    of = answer(version="4.9.7")
    opened = tuple(
        Unknown(row.clause, "for once") if row.clause.clause == "late_op" else row for row in of.finding.rows
    )
    told = replace(of.finding, rows=opened).to_json()["properties"]
    assert of.finding.numbers.complete
    assert [told[name]["verdict"] for name in ("S1", "S2", "S3", "S9")] == ["unknown", "violated", "holds", "unknown"]


@pytest.mark.sweep
def test_a_crash_loses_the_batch_and_the_rounds_go_on_every_30_seconds() -> None:
    shown = schedule(answer(faults=("crash",)), "S1.lost_op")
    assert [time for time, action in events(shown) if action in ("crash", "begin_round")] == [0, 30_000]


def test_every_schedule_is_accepted_and_a_round_a_millisecond_earlier_is_not() -> None:
    """The shortest way to discard a settled half in ticks is immune in all rounds but one, as no real one is."""
    of = answer(base="deep", engine="numba", immunities_ms=(MINUTE_MS,))
    assert set(violated(of)) == (ANYWHERE - {"S8.parked_although_settled"}) | BY_THE_BATCH | {
        "S1.immune_half",
        "S9.immune_half",
        "S9.late_op",
        "L2.immunity_burns_checks",
    }
    for clause, shown in of.schedules.items():
        verdict = judge(shown.machine, shown.constants, shown.path, shown.times)
        assert not isinstance(verdict, NoInstantsError)
        assert clause in verdict
        begun = [n for n, step in enumerate(shown.path) if step.action.name == "begin_round"][-1]
        earlier = [time - (n + 1 >= begun) for n, time in enumerate(shown.times)]
        assert isinstance(judge(shown.machine, shown.constants, shown.path, earlier), NoInstantsError)


def test_time_that_passes_without_a_tick_is_refused() -> None:
    shown = schedule(answer(), "S9.late_op")
    later = [*shown.times[:-1], shown.times[-1] + 1]
    verdict = judge(shown.machine, shown.constants, shown.path, later)
    assert isinstance(verdict, NoInstantsError)
    assert "only a tick makes time pass" in str(verdict)


def test_a_stretch_that_would_make_an_op_batch_overdue_is_refused() -> None:
    """The batch thread would have written within two intervals: the round cannot come a minute later."""
    shown = schedule(answer(), "S9.late_op")
    begun = next(n for n, step in enumerate(shown.path) if step.action.name == "begin_round")
    later = [time + MINUTE_MS * (n + 1 >= begun) for n, time in enumerate(shown.times)]
    verdict = judge(shown.machine, shown.constants, shown.path, later)
    assert isinstance(verdict, NoInstantsError)
    assert verdict.rule.endswith("the op batch thread wakes up once an interval")


def test_a_limit_that_nothing_reaches_changes_nothing() -> None:
    """Beyond the timeout every local transaction is over in the quiet world, so that the limit forbids no more."""
    free, limited = answer(version="4.9.7"), answer(version="4.9.7", local_ms=50_000)
    assert violated(limited) == violated(free) == ANYWHERE
    shorter = Configuration.of_release("4.9.7", local_ms=1_000)
    ticks = quotient_of(shorter, load_instance("tiny"), switched_on(shorter.profile, Environment())).ticks
    assert ticks["local transaction"] < ticks["timeout"]


def test_the_compiled_reading_agrees_on_a_machine_with_a_limit() -> None:
    slow = answer(local_ms=1_000, op_batch_interval_ms=10)
    fast = answer(local_ms=1_000, op_batch_interval_ms=10, engine="numba")
    assert verdicts(fast) == verdicts(slow)
    assert fast.finding.numbers.size_to_json() == slow.finding.numbers.size_to_json()


def test_checks_of_added_rounds_end_as_one_does_in_the_path() -> None:
    """A check that is lost needs no producer that is undecided; the added rounds must lose theirs, too."""
    of = answer(faults=("lose_check",), engine="numba")
    actions = [action for _, action in events(schedule(of, "S2.commit_after_discard"))]
    assert actions.count("lose_check") == actions.count("put_back_and_check") - 1 == 14
    assert actions[-2:] == ["discard_half", "store_real_message"]


def test_rounds_that_are_added_one_by_one_are_refused_like_rounds_from_the_beginning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: dict[PathTimer, tuple[Any, ...]] = {}
    compared = Counter[bool]()

    def timer(*given: Any) -> PathTimer:
        one = PathTimer(*given)
        made[one] = given
        return one

    class Compared(GrowingRounds):
        def __init__(self, timer: PathTimer, *given: Any) -> None:
            super().__init__(timer, *given)
            self.given = made[timer], *given

        def refusal(self, rounds: int, half_slots: int) -> NoInstantsError | None:
            found = super().refusal(rounds, half_slots)
            of_timer, path, preferred, place, silencer = self.given
            again = PathTimer(*of_timer).schedule(path, preferred, MoreRounds(rounds, place, silencer))
            assert (found is None) == isinstance(again, TimedPath)
            assert found is None or str(found) == str(again)
            compared[found is None] += 1
            return found

    monkeypatch.setattr(answering, "PathTimer", timer)
    monkeypatch.setattr(answering, "GrowingRounds", Compared)
    answer.__wrapped__(faults=("lose_check",), engine="numba")
    assert compared[False] > 99
    assert compared[True] == 2, "two clauses are violated with added rounds only"


def test_every_clause_has_its_plain_words() -> None:
    for clause in TRANSACTIONAL_MESSAGES.clauses:
        assert clause.sentence.endswith(".")
        assert len(clause.sentence.split()) > 4
    assert len({clause.sentence for clause in TRANSACTIONAL_MESSAGES.clauses}) == len(TRANSACTIONAL_MESSAGES.clauses)


# The world of each fault that a broker.conf can be asked about, and a version in which it breaks something.
WORLDS = [
    (fault, "4.5.1" if fault == "undecodable_half" else "5.3.3") for fault in FAULTS if fault not in UNASKED_FAULTS
]


NOT_SHOWN = {("acting_slave", "5.3.3"): {"S1.end_after_escape"}}
"""What is violated in ticks where two checks stand for fifteen, and not by so many: it is unknown."""


@pytest.mark.parametrize("size", ["tiny"])
@pytest.mark.parametrize(("fault", "version"), sampled(WORLDS, 8))
def test_each_fault_is_told_in_words_and_each_violation_happens_in_milliseconds(
    fault: str, version: str, size: str
) -> None:
    """All that is violated in ticks has a schedule, and is violated by it, as the plain engine says."""
    of = answer(version=version, base=size, faults=(fault,), engine="numba")
    assert of.schedules
    for clause, shown in of.schedules.items():
        verdict = judge(shown.machine, shown.constants, shown.path, shown.times)
        assert not isinstance(verdict, NoInstantsError)
        assert clause in verdict
        assert all(
            "{" not in line.words for line in schedule_lines(shown.machine, shown.constants, shown.path, shown.times)
        )
    unknown = {row.name for row in of.finding.rows if isinstance(row, Unknown)}
    assert unknown == NOT_SHOWN.get((fault, version), set())
    assert {shown.late_ms for shown in of.schedules.values()} == {0}, "every round is punctual"


def test_a_half_with_all_its_checks_is_discarded_before_a_slave_can_let_it_escape() -> None:
    """The path in ticks lets a half escape that the real round would have discarded as it sent the last check."""
    of = answer(faults=("acting_slave",), engine="numba")
    row = of.finding[clauses_by_name()["S1.end_after_escape"]]
    assert isinstance(row, Unknown)
    assert row.why.endswith("discard_half, is refused: it has no checks left"), "no round was late before"
    exact = answer(faults=("acting_slave",), engine="numba", check_max=2)
    assert exact.quotient.check_max == (2, 2)
    assert verdicts(exact)["S1.end_after_escape"] == "holds"


@pytest.mark.parametrize("fault", UNASKED_FAULTS)
def test_how_far_clocks_are_apart_is_not_asked(fault: str) -> None:
    with pytest.raises(ModelCheckError, match=f"^fault {fault}: no broker.conf says how far clocks differ"):
        answer(faults=(fault,))


def test_a_half_that_is_kept_for_less_than_its_checks_take_is_discarded_for_its_age() -> None:
    """B45: 15 checks ten minutes apart, and `fileReservedTime` of an hour."""
    hour = 60 * MINUTE_MS
    times = {"timeout_ms": 5 * MINUTE_MS, "check_interval_ms": 10 * MINUTE_MS}
    of = answer(version="4.9.7", file_reserved_ms=hour, **times)
    steps = events(schedule(of, "L2.over_age"))
    assert [action for _, action in steps].count("put_back_and_check") < 15
    assert steps[-1][0] > hour
    assert steps[-1][1] == "discard_half"
    kept = answer(version="4.9.7", file_reserved_ms=3 * hour, **times)
    assert verdicts(kept)["L2.over_age"] == "holds"
    assert "reserved time" not in kept.quotient.sentence()


def test_no_schedule_is_looked_for_in_which_hundreds_of_checks_are_used_up() -> None:
    """Its copies would fill time and memory; what is broken sooner is shown all the same."""
    of = answer(version="5.5.1", engine="numba", check_max=2**31 - 1)
    reasons = {row.name: row.why for row in of.finding.rows if isinstance(row, Unknown)}
    assert "S8.parked_although_settled" in reasons
    for reason in reasons.values():
        assert reason.startswith("violated in ticks, in ")
        assert reason.endswith(
            "it may take transactionCheckMax=2147483647 checks, and of more than 500 none is looked for"
        )
    assert {"S1.late_op", "L2.over_age"} <= violated(of)


def test_the_round_that_runs_as_the_broker_is_stopped_comes_to_its_end() -> None:
    """In 5.5.1 a stop waits for it: without it, no instants fit the path behind fourteen rounds more."""
    asked, stop = chosen_clauses(["S8.parked_although_settled"]), Environment.of(["graceful_stop"])
    found = check_configuration(Configuration.of_release("5.5.1"), stop, load_instance("tiny"), clauses=asked)
    (schedule,) = found.schedules.values()
    assert (schedule.more_rounds, schedule.times[-1]) == (13, 426_001)
    assert any(step.action.name == "begin_stop" for step in schedule.path)
