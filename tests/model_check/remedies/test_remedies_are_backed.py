"""Each remedy that names a setting, a property or an order is backed by a search, or by the table of verdicts.

What takes a fault away is backed by the table: without that fault nothing breaks the clause. Times are searched with
the value that breaks the clause and with the other one, which mends it, or only makes it later, as the sentence says.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from model_check.broker_conf.judgement import judge_configuration
from model_check.check import check
from model_check.clauses import chosen_clauses, clauses_by_name, name_of
from model_check.configuration import Configuration
from model_check.counterexample.steps import read_path
from model_check.engines import COMPILED, CPYTHON
from model_check.finding import Unknown, Verdict, Violated
from model_check.instances import load_instance
from model_check.question import Question
from model_check.remedies.advice import parts_for, remedies
from model_check.verdicts.table import table_of_verdicts
from model_check.world import Environment, Profile, World
from spec.language import holds as holds_in
from spec.language import take
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from model_check.engines import Engine

TABLE = table_of_verdicts()


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


TAKES_AWAY = {
    "keep_files": "retention", "no_acting_slave": "acting_slave", "another_master": "acting_slave",
    "no_retry": "twin_send", "before_resume": "resume_discarded", "never_set_back": "offset_regression",
    "sync_clocks": "clock_skew", "slew_clock": "clock_step", "forward_cleanly": "preset_original",
    "watch_disk_goes_on": "put_failure", "failed_discard": "put_failure", "short_messages": "put_failure",
    "try_again": "bad_store_status", "know_all": "wrong_end", "as_it_ended": "wrong_end",
}  # fmt: skip
"""What is to be done so that a fault cannot happen; `before_resume` stands behind other clauses as a warning, too."""


@pytest.mark.parametrize("name", [name for name in TAKES_AWAY if name != "before_resume"])
def test_what_takes_a_fault_away_is_said_where_nothing_else_breaks_the_clause_or_with_that_fault(name: str) -> None:
    fault, is_said = TAKES_AWAY[name], False
    for clause in TRANSACTIONAL_MESSAGES.clauses:
        mine = [p for p in parts_for(clause)[1] if p.say in {part.say for part in remedies()[name]}]
        for part in mine:
            is_said = True
            sets = [
                one.environment
                for release in Profile.versions()
                if part.applies_to(release.name)
                for one in TABLE.minimal_sets(release, clause)
            ]
            may_break = [*sets, *(re.findall(r"\w+", need) for need in clause.needs)]
            assert any(fault in one for one in may_break), name_of(clause)
            if not part.faults:
                assert all(fault in one for one in sets), f"{name_of(clause)}: {part.say} does not help with {sets}"
            else:
                assert fault in part.faults, name_of(clause)
    assert is_said


def holds(clause: str, profile: str, instance: str, *faults: str) -> bool:
    (row,) = check(Question.of(profile, faults, instance, properties=[clause], until_violated=True)).rows
    return row.verdict is Verdict.HOLDS


@pytest.mark.sweep
def test_a_flush_before_the_answer_keeps_a_half_from_being_lost() -> None:
    assert not holds("L1.half_lost", "4.9.7", "tiny", "power_loss")
    assert holds("L1.half_lost", "4.9.7+flushes_before_answering", "tiny", "power_loss")


# --- times ----------------------------------------------------------------------------------------------------------

SECOND, HOUR = 1_000, 3_600_000


class Trial(NamedTuple):
    """A clause that a configuration breaks, and the other one, with which it holds or is broken later."""

    remedy: str
    clause: str
    faults: tuple[str, ...]
    breaks: Mapping[str, Any]
    other: Mapping[str, Any]
    is_later: bool = False
    release: str = "5.3.3"
    sizes: tuple[str, ...] = ("tiny",)


SLOW = {"local_ms": 10 * SECOND}
IN_TIME = {**SLOW, "timeout_ms": 11 * SECOND}
IN_TIME_FOR_A_BATCH = {**SLOW, "timeout_ms": 17 * SECOND}
IN_TIME_FOR_A_ROUND = {**SLOW, "timeout_ms": 77 * SECOND}
MORE = {"check_max": 30}
TRIALS = (
    Trial("raise_timeout", "S2.commit_after_rollback", ("slow_local",), SLOW, IN_TIME),
    Trial("raise_timeout", "S2.rollback_after_commit", ("slow_local",), SLOW, IN_TIME),
    Trial("raise_timeout", "S1.after_a_check", ("slow_local",), SLOW, IN_TIME),
    Trial(
        "raise_timeout", "S2.commit_after_rollback", ("slow_local",),
        {"immunities_ms": (3 * SECOND,), **IN_TIME}, {"immunities_ms": (11 * SECOND,), **IN_TIME},
    ),
    Trial("raise_timeout_late", "S1.after_a_check", ("late_end",), {}, {"timeout_ms": 12 * SECOND}, is_later=True),
    Trial(
        "raise_timeout_round", "S1.late_op", ("slow_round",), {**SLOW, "timeout_ms": 73 * SECOND}, IN_TIME_FOR_A_ROUND,
    ),
    Trial("raise_timeout_batch", "S9.late_op", (), SLOW, IN_TIME_FOR_A_BATCH),
    Trial("raise_timeout_batch", "S9.overslept_op", (), SLOW, IN_TIME_FOR_A_BATCH),
    Trial("raise_timeout_round", "S9.stale_op_end", ("slow_round",), IN_TIME_FOR_A_BATCH, IN_TIME_FOR_A_ROUND),
    Trial(
        "raise_timeout_round", "S9.stale_op_end", ("slow_round",), {**SLOW, "timeout_ms": 73 * SECOND},
        IN_TIME_FOR_A_ROUND,
    ),
    Trial(
        "raise_timeout_round", "S9.stale_op_end", ("slow_round",), {**SLOW, "timeout_ms": 60 * SECOND},
        {**SLOW, "timeout_ms": 71 * SECOND}, release="4.9.7",
    ),
    Trial(
        "raise_timeout_round", "S1.late_op", ("slow_round",), {**SLOW, "timeout_ms": 60 * SECOND},
        {**SLOW, "timeout_ms": 71 * SECOND}, release="4.9.7",
    ),
    Trial("raise_timeout_batch", "S9.late_op", (), SLOW, IN_TIME_FOR_A_BATCH, release="5.5.1"),
    Trial("raise_timeout_round", "S1.late_op", (), {"immunities_ms": (6 * SECOND,)}, IN_TIME, release="4.9.7"),
    Trial("raise_timeout_batch", "S9.late_op", (), {"immunities_ms": (6 * SECOND,)}, IN_TIME, release="4.9.7"),
    Trial("raise_timeout_round", "S9.stale_op_end", (), {"immunities_ms": (6 * SECOND,)}, IN_TIME, release="4.9.7"),
    Trial("no_immunity", "S1.immune_half", (), {"immunities_ms": (60 * SECOND,)}, {"timeout_ms": 60 * SECOND}),
    Trial("no_immunity", "S9.immune_half", (), {"immunities_ms": (60 * SECOND,)}, {"timeout_ms": 60 * SECOND}),
    Trial(
        "no_short_immunity", "S1.short_immunity", ("slow_local",),
        {"immunities_ms": (3 * SECOND,)}, {"immunities_ms": (10 * SECOND,)},
    ),
    Trial(
        "immunity_below_checks", "L2.never_asked", (),
        {"immunities_ms": (HOUR,)}, {"immunities_ms": (60 * SECOND,)},
        sizes=("tiny", "deep"),  # two checks are over within the minute, three and fifteen are not
    ),
    Trial(
        "immunity_below_checks", "L2.never_asked", (),
        {"immunities_ms": (61 * SECOND,), "check_max": 3}, {"immunities_ms": (60 * SECOND,), "check_max": 3},
        sizes=("tiny", "deep"),
    ),
    Trial(
        "more_checks", "L2.immunity_burns_checks", (),
        {"immunities_ms": (60 * SECOND,)}, {"immunities_ms": (60 * SECOND,), **MORE}, is_later=True,
    ),
    Trial("more_checks", "L2.immunity_burns_checks", (), {"immunities_ms": (60 * SECOND,)}, {}),
    Trial(
        "immunity_for_local", "L5.refused_late", ("slow_local",),
        {"immunities_ms": (3 * SECOND,)}, {},
    ),
    Trial(
        "immunity_for_local", "L5.refused_late", ("slow_local",),
        {"immunities_ms": (7 * SECOND,), **SLOW}, {"immunities_ms": (11 * SECOND,), **SLOW},
    ),
    Trial("stay_connected", "L2.nobody_to_ask", ("offline_producer",), {}, MORE, is_later=True),
    Trial("stay_connected", "L2.nobody_to_ask", ("restarted_producer",), {}, MORE, is_later=True),
    Trial("fewer_restarts", "L2.nobody_to_ask", ("graceful_stop",), {}, MORE, is_later=True, release="5.5.1"),
    Trial("answer_earlier", "S2.commit_after_discard", (), {}, MORE, is_later=True),
    Trial("answer_earlier", "S8.parked_although_settled", (), {}, MORE, is_later=True),
    Trial("answer_earlier", "S2.commit_after_discard", (), IN_TIME, {**MORE, **IN_TIME}, is_later=True),
    Trial(
        "keep_age", "L2.over_age", (),
        {"immunities_ms": (90 * HOUR,)}, {"immunities_ms": (90 * HOUR,), "file_reserved_ms": 100 * HOUR},
    ),
)  # fmt: skip
BACKED_BY_ITS_OWN_TEST = ("sync_flush", "sync_flush_later", "shorten_batch")
NAMES_ONE_AND_ASKS_NOTHING_OF_IT = {
    "copies_unflushed": "it says that the setting does not help",
    "interval_in_ms": "it says the unit of the file",
    "where_discarded": "a topic to look into",
    "keeps_discarded": "an upgrade, which the table of verdicts backs",
    "no_preset": "odd.toml has such messages, `first_checks`; without one the clause cannot occur",
    "too_many": "it says that the setting does not help",
    "store_must_write": "it says what must be so, not a value",
}


def names_a_setting(text: str) -> bool:
    return bool(re.search(r"\b[a-z]+[A-Z]\w+|\b[A-Z]+_[A-Z_]+\b", text))


def test_each_remedy_that_names_a_setting_is_backed() -> None:
    backed = {
        *TAKES_AWAY,
        *(trial.remedy for trial in TRIALS),
        *BACKED_BY_ITS_OWN_TEST,
        *NAMES_ONE_AND_ASKS_NOTHING_OF_IT,
    }
    naming = {name for name, parts in remedies().items() if any(names_a_setting(part.say) for part in parts)}
    assert naming <= backed, naming - backed
    tried = {(trial.remedy, trial.clause) for trial in TRIALS}
    timed = {trial.remedy for trial in TRIALS}
    for clause in TRANSACTIONAL_MESSAGES.clauses:
        for name in timed:
            wanted = {(part.say, part.since, part.until) for part in remedies()[name] if not part.when}
            if wanted <= {(part.say, part.since, part.until) for part in parts_for(clause)[1]}:
                is_known = (name, name_of(clause)) in tried or name_of(clause) == "S9.unread_op"
                assert is_known, f"{name} of {name_of(clause)} is not tried"


SETTLED = "send_half t=0 immunity=-1; commit_locally t=0; store_real_message h=0; buffer_op h=0"


def oldest_entry_that_a_crash_takes(interval: int) -> int:
    """In ticks: the clock goes on as long as the op batch thread may leave the entry where it is."""
    size = replace(load_instance("tiny"), op_batch_interval=interval, timeout=3 * interval)
    constants = World.of("5.3.3", ("crash",), size).constants
    state = TRANSACTIONAL_MESSAGES.initial(constants)
    for step in read_path(TRANSACTIONAL_MESSAGES, constants, SETTLED):
        assert take(state, constants, step) is None
    tick, crash = read_path(TRANSACTIONAL_MESSAGES, constants, "tick; crash")
    waited = 0
    while take(state, constants, tick) is None:
        waited += 1
    assert take(state, constants, crash) is None
    assert not holds_in(state, constants, clauses_by_name()["S10.op_entry_dies_with_the_process"])
    return waited


def test_with_a_shorter_op_batch_interval_a_crash_takes_younger_entries() -> None:
    assert [oldest_entry_that_a_crash_takes(interval) for interval in (1, 2, 3)] == [2, 4, 6]


@pytest.mark.sweep
def test_without_an_immunity_no_settled_half_is_checked_because_its_op_message_was_not_read() -> None:
    """In the quiet world, and in runs of any length; with immunities it is (B47)."""
    lasting = load_instance("lasting")
    for size, expected in ((lasting, Verdict.VIOLATED), (replace(lasting, immunities=(-1,)), Verdict.HOLDS)):
        question = Question.of("4.5.1", (), size, properties=["S9.unread_op"], most_states=20_000_000)
        (row,) = check(question).rows
        assert row.verdict is expected


def after_ms(trial: Trial, settings: Mapping[str, Any], engine: Engine) -> int | None:
    configuration = Configuration.of_release(trial.release, **settings)
    environment, sizes = Environment.of(trial.faults), tuple(map(load_instance, trial.sizes))
    clauses = chosen_clauses([trial.clause])
    judgement = judge_configuration(configuration, environment, sizes, clauses=clauses, engine=engine)
    (row,) = judgement.whole.rows
    assert not isinstance(row, Unknown)
    return judgement.after_ms(row) if isinstance(row, Violated) else None


def is_as_said(trial: Trial, engine: Engine = COMPILED) -> bool:
    """Whether the clause is broken without what the remedy says, and with it later, or not at all."""
    before, after = (after_ms(trial, settings, engine) for settings in (trial.breaks, trial.other))
    if before is None or not trial.is_later:
        return before is not None and after is None
    return after is not None and after > before


def test_a_larger_check_max_makes_a_discard_later_and_does_not_rule_it_out() -> None:
    trial = next(trial for trial in TRIALS if trial.remedy == "answer_earlier")
    assert is_as_said(trial._replace(release="4.9.7"), engine=CPYTHON)


def test_an_immunity_uses_up_all_checks_above_all_intervals_but_one() -> None:
    trial = [trial for trial in TRIALS if trial.remedy == "immunity_below_checks"][-1]
    assert is_as_said(trial)


@pytest.mark.sweep
@pytest.mark.parametrize("trial", TRIALS)
def test_a_setting_mends_or_delays_what_its_remedy_says(trial: Trial) -> None:
    assert is_as_said(trial)
