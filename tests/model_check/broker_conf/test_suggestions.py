"""What to change: a value for each neighbouring order of times, each searched before it is suggested."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from model_check.broker_conf.judgement import ConfJudgement, judge_configuration, search_size
from model_check.broker_conf.suggestions import Suggestions, changes_of, neighbours, suggest, with_local
from model_check.clauses import chosen_clauses, clauses_by_name
from model_check.configuration import Configuration
from model_check.engines import CPYTHON
from model_check.finding import Unknown
from model_check.instances import load_instance
from model_check.world import Environment

if TYPE_CHECKING:
    from model_check.broker_conf.answer import ConfAnswer
    from spec.constants import Instance

pytestmark = pytest.mark.untraced

QUICK = Configuration.of_release("5.3.3", local_ms=1_000)
ASKED = chosen_clauses(["S9.overslept_op", "S6.flag_of_a_copy"])
OVERSLEPT, FLAG, NO_COMMIT = (
    clauses_by_name()[name] for name in ("S9.overslept_op", "S6.flag_of_a_copy", "S5.no_commit_arrived")
)
QUIET = Environment()
TINY = load_instance("tiny")
NANO = load_instance(str(Path(__file__).parents[1] / "instances" / "nano.toml"))


def changes(configuration: Configuration) -> dict[str, str]:
    return {str(change): change.cost for change in changes_of(configuration, QUIET)}


@cache
def judgement(configuration: Configuration) -> ConfJudgement:
    return judge_configuration(configuration, QUIET, [TINY], clauses=ASKED)


def suggestions(configuration: Configuration, *wanted: str, most_seconds: float = 600) -> Suggestions:
    tried = [change for change in changes_of(configuration, QUIET) if str(change) in wanted]
    return suggest(judgement(configuration), clauses=ASKED, changes=tried or None, most_seconds=most_seconds)


def test_the_values_to_try_lie_between_the_lengths_at_which_an_order_turns() -> None:
    points = {1_000, 4_000, 6_000, 7_000, 24_000}
    values = neighbours(6_000, points)
    assert values == [5_000, 6_500, 3_000, 10_000, 500, 25_000]
    regions = [sum(value > point for point in points) for value in values]
    assert len(set(regions)) == len(values)
    assert not points & set(values)


def test_a_region_without_a_whole_millisecond_is_left_out() -> None:
    assert neighbours(5, {4, 5}) == [10, 3]


def test_each_change_says_what_it_costs_in_numbers() -> None:
    told = changes(QUICK)
    assert told["transactionTimeOut=10000"] == "the first check of a half comes 4 s later"
    assert told["transactionOpBatchInterval=2000"] == "up to 1.5 times as many op messages"
    assert told["transactionOpBatchInterval=2900"] == "up to 3 % more op messages"
    upgrades = {words for name, words in told.items() if "RocketMQ" in name}
    busy = "which brings A17 (one core is busy for nothing)"
    assert upgrades == {"an upgrade of the brokers", f"an upgrade of the brokers, {busy}"}
    assert told["transactionCheckMax=1"] == "a transaction that nobody answers for is given up 7 min earlier, after 1"


def test_no_batches_no_change_of_them_and_no_newer_version_no_upgrade() -> None:
    assert not any("Op" in name for name in changes(Configuration.of_release("4.9.7")))
    for newest, newer in (("5.5.0", {"RocketMQ 5.5.1"}), ("5.5.1", set())):
        assert {name for name in changes(Configuration.of_release(newest)) if "RocketMQ" in name} == newer


def test_an_upgrade_brings_its_defaults_where_the_file_sets_nothing() -> None:
    """15 rounds of 5.x are over within an immunity of ten minutes, those of 4.9.7 are not."""
    key = "with the default transactionCheckInterval=30000"
    bare, given = (Configuration.of_release("4.9.7", **settings) for settings in ({}, {"check_interval_ms": 60_000}))
    for one, interval in ((bare, 30_000), (given, 60_000)):
        newest = next(change for change in changes_of(one, QUIET) if str(change) == "RocketMQ 5.5.1")
        assert newest.configuration.check_interval_ms == interval
        assert (key in newest.cost) == (interval == 30_000)


def test_an_immunity_is_left_out_alone_or_with_a_longer_timeout() -> None:
    told = changes(Configuration.of_release("4.9.7", immunities_ms=(60_000,)))
    assert told["no CHECK_IMMUNITY_TIME_IN_SECONDS"] == "messages that carried it are checked up to 54 s earlier"
    assert "no CHECK_IMMUNITY_TIME_IN_SECONDS, transactionTimeOut=60000" in told
    equal = changes(Configuration.of_release("4.9.7", immunities_ms=(6_000,)))
    assert equal["no CHECK_IMMUNITY_TIME_IN_SECONDS"] == "messages that carried it are checked at the same age"
    longer = changes(Configuration.of_release("4.9.7", immunities_ms=(3_600_000,)))
    assert any(name.startswith("transactionCheckMax=") and int(name.split("=")[1]) > 60 for name in longer)


def test_files_are_kept_longer_only_where_a_half_may_outlive_them() -> None:
    hour = 3_600_000
    told = changes(Configuration.of_release("4.9.7", file_reserved_ms=hour, check_interval_ms=600_000))
    assert told["fileReservedTime=3"] == "the commit log keeps 2 h more on disk"
    assert not any("fileReservedTime" in name for name in changes(QUICK))


def test_a_limit_on_local_transactions_is_tried_where_none_is_known() -> None:
    free = Configuration.of_release("5.3.3")
    assert with_local(QUICK, QUIET) == []
    tried = [str(change) for change in with_local(free, QUIET)]
    assert tried[0] == "local transactions of at most 1 s"
    assert tried[1].startswith("local transactions of at most 1 s, transactionOpBatchInterval=")


def test_two_ways_into_the_same_order_are_both_suggested_and_nothing_mends_the_flag() -> None:
    """Two op batch intervals behind an END_TRANSACTION of a second must be over when the half is old."""
    assert {row.clause for row in judgement(QUICK).broken} == set(ASKED)
    found = suggestions(
        QUICK, "transactionOpBatchInterval=2000", "transactionTimeOut=10000", "transactionOpBatchInterval=4000"
    )
    assert found.tried == 3
    mending = {str(one.change): one for one in found.found}
    assert mending["transactionOpBatchInterval=2000"].mends == (OVERSLEPT,)
    assert mending["transactionTimeOut=10000"].mends == (OVERSLEPT,)
    assert "transactionOpBatchInterval=4000" not in mending
    assert {one.breaks for one in found.found} == {()}
    assert found.beyond_help == (FLAG,)
    assert found.untried == ()
    for one in mending.values():
        again = judge_configuration(one.change.configuration, QUIET, [TINY], clauses=ASKED)
        assert [row.name for row in again.broken] == ["S6.flag_of_a_copy"]


def test_what_the_time_does_not_suffice_for_is_named() -> None:
    none = suggestions(QUICK, most_seconds=-1)
    assert (none.tried, none.found) == (0, ())
    assert "transactionTimeOut=10000" in [str(change) for change in none.untried]
    assert set(none.beyond_help) == set(ASKED)


def test_a_change_that_leaves_open_what_holds_without_it_mends_nothing_safely(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []
    answers: dict[Instance, ConfAnswer] = {}

    def once(*asked: Any, **question: Any) -> ConfAnswer:
        if asked[2] not in answers:
            answers[asked[2]] = search_size(*asked, **question)
        return answers[asked[2]]

    def with_open(*asked: Any, **question: Any) -> ConfAnswer:
        searched.append(asked[2])
        answer = once(*asked, **question)
        rows = [Unknown(NO_COMMIT, "") if row.clause == NO_COMMIT else row for row in answer.finding.rows]
        return replace(answer, finding=replace(answer.finding, rows=tuple(rows)))

    asked, bases = (NO_COMMIT, *ASKED), (TINY, NANO)
    plain = judge_configuration(QUICK, QUIET, bases, clauses=asked, engine=CPYTHON)
    assert [row.clause for row in plain.holding] == [NO_COMMIT]
    (change,) = (one for one in changes_of(QUICK, QUIET) if str(one) == "transactionTimeOut=10000")
    for is_open in (False, True):
        monkeypatch.setattr("model_check.broker_conf.suggestions.search_size", with_open if is_open else once)
        found = suggest(plain, clauses=asked, changes=[change], engine=CPYTHON)
        (one,) = found.found
        assert (one.mends, one.breaks, one.is_safe) == ((OVERSLEPT,), (), not is_open)
        assert one.to_json()["leaves_open"] == ["S5.no_commit_arrived"] * is_open
        assert (OVERSLEPT in found.beyond_help) == is_open
    assert searched == list(bases), "each size is searched with the change"
