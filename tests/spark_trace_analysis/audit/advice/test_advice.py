"""Each line of the advice on the reference broker: where it is followed it helps, and where it is not it goes wrong."""

from __future__ import annotations

import re
import tomllib
from itertools import product
from typing import TYPE_CHECKING

import pytest

from conformance.golden_stores import golden_stores
from fuzz.defects.broker_under_test import BrokerUnderTest
from fuzz.defects.scenario import scenarios
from reference.broker.transaction.check_outcome import CheckBranch
from reference.format.system_topics import HALF_TOPIC
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.row_files import needs_a_decision
from spark_trace_analysis.audit.rules import advice
from spark_trace_analysis.audit.rules.advice import rows_of
from spark_trace_analysis.audit.rules.resembles import RULES
from spark_trace_analysis.audit.rules.state import TransactionState, UnknownCause
from tests.spark_trace_analysis.audit.advice.of_causes import CAUSES, STILL_THERE, went_well
from tests.spark_trace_analysis.audit.advice.of_states import STATES
from tests.spark_trace_analysis.audit.advice.of_unknown import UNKNOWN
from tests.spark_trace_analysis.audit.advice.shop import Shop, write_files
from tests.spark_trace_analysis.audit.both_audits import NO_TRACE
from tests.spark_trace_analysis.audit.random_broker import write_random_store

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from spark_trace_analysis.audit.audit import Audit
    from spark_trace_analysis.audit.rules.transaction_row import TransactionRow

LINES = tomllib.loads(advice._FILE.read_text(encoding="utf-8"))
ABOUT_A_MESSAGE = [(table, name) for table in ("now", "beside", "learn", "otherwise") for name in LINES[table]]
STORIES = {**STATES, **UNKNOWN}


def lines_for(row: TransactionRow) -> list[tuple[str, str]]:
    return rows_of(row.state, row.resembles, row.also, row.unknown_cause)


@pytest.mark.parametrize("line", ABOUT_A_MESSAGE, ids=" ".join)
def test_a_line_about_a_message_helps_who_follows_it_and_only_him(line: tuple[str, str]) -> None:
    story = STORIES[line]
    shop = story.situation()
    row = shop.row("A")
    lines = lines_for(row)
    assert line in lines
    assert needs_a_decision(row) == bool({("now", "lost"), ("now", "parked")} & set(lines))
    story.ignored(shop)
    assert not shop.is_right("A")
    shop = story.situation()
    story.followed(shop)
    assert shop.is_right("A")


@pytest.mark.parametrize("cause", LINES["next"])
def test_a_line_about_a_cause_prevents_it_or_what_it_does(cause: str) -> None:
    shop = CAUSES[cause](False)
    assert not went_well(shop, cause)
    assert ("next", cause) in lines_for(shop.row("A"))
    shop = CAUSES[cause](True)
    assert went_well(shop, cause)
    assert (("next", cause) in lines_for(shop.row("A"))) == (cause in STILL_THERE)


def test_an_immunity_shorter_than_the_timeout_does_not_keep_a_commit_from_coming_twice() -> None:
    shop = Shop("4.9.7", {"transaction_timeout_ms": 65_000})
    shop.under.wait(2)
    half = shop.half("A", {"CHECK_IMMUNITY_TIME_IN_SECONDS": "60"})
    shop.under.wait(58)
    branches = [step.branch for step in shop.under.steps(waits=False)]
    assert CheckBranch.PUT_BACK_FOR_IMMUNITY in branches
    shop.under.commit(half)
    shop.rounds(3)
    assert not shop.is_right("A")
    assert (shop.effects, shop.show().row("A").resembles) == ({"A": 2}, ("B01",))


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_half_without_an_entry_is_asked_for_by_a_broker_that_was_killed(*, is_killed: bool) -> None:
    shop = Shop()
    shop.half("A")
    shop.under.send({"KEYS": "plain"})
    shop.save()
    queue = f"consumequeue/{HALF_TOPIC}/0/{0:020d}"
    shop.show({name: content for name, content in shop.files().items() if name != queue})
    assert ("otherwise", UnknownCause.NOT_IN_ITS_QUEUE) in lines_for(shop.row("A"))
    if is_killed:
        shop.under.broker.crash()
    else:
        shop.under.broker.shutdown()
    shop.disk.delete(queue)
    shop.under.start()
    shop.rounds(3)
    assert shop.is_right("A") == is_killed


def test_each_defect_that_a_history_shows_and_each_cause_of_an_unknown_state_has_its_line() -> None:
    assert set(LINES["next"]) == set(RULES)
    assert set(LINES["learn"]) == set(LINES["otherwise"]) == set(UnknownCause)


SENDS_AGAIN = ("send it again if", "send the message again")
SETTLED = ("doubled", "delivered", "rolled_back")


def assert_fits(states: Iterable[str], advice: str) -> None:
    """See that an advice does not contradict the states of what it is about."""
    if set(states) & set(SETTLED):
        assert not [words for words in SENDS_AGAIN if words in advice], advice
    if not set(states) & {"doubled", "delivered"}:
        assert "consumers must be idempotent" not in advice.replace(
            "those that were delivered, so that consumers", ""
        ), advice
        assert "what consumers did" not in advice, advice
    if set(states) & {"lost", "parked", "pending", "unknown"} and not set(states) & set(SETTLED):
        assert "nothing is to be sent" not in advice, advice


def test_no_advice_contradicts_the_states_that_it_is_about() -> None:
    for deliveries, is_parked, is_open, is_rolled_back in product(
        (0, 1, 2), (0, 1), ("", "pending", "unknown"), (0, 1)
    ):
        holding = {
            TransactionState.DOUBLED: deliveries == 2,
            TransactionState.PARKED: is_parked,
            TransactionState.UNKNOWN: is_open == "unknown",
            TransactionState.PENDING: is_open == "pending",
            TransactionState.DELIVERED: deliveries == 1,
            TransactionState.ROLLED_BACK: is_rolled_back,
        }
        states = [state for state, holds in holding.items() if holds] or [TransactionState.LOST]
        possible = [cause for cause in UnknownCause if states == ["unknown"] or cause not in NOT_ASKED_AGAIN]
        for cause in possible if is_open == "unknown" else (None,):
            assert_fits(states, advice.advice(states[0], (), states[1:], cause))


NOT_ASKED_AGAIN = {UnknownCause.HALF_OFFSET_AHEAD, UnknownCause.SKEWED, UnknownCause.HANDED_ON}
"""Causes that hold only where nothing else does."""


def audits(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterable[Audit]:
    """Of all golden stores, of random runs with faults, and of what the scenarios of the defects leave."""
    for golden in golden_stores():
        yield audit_store(golden.path, question=NO_TRACE)
    for version, seed in product(("4.5.1", "4.9.7", "5.3.3", "5.4.0"), range(10)):
        write_random_store(version, folder / f"{version} {seed}", seed)
        yield audit_store(folder / f"{version} {seed}", version, question=NO_TRACE)
    brokers: list[BrokerUnderTest] = []
    init = BrokerUnderTest.__init__

    def noted(self: BrokerUnderTest, *arguments: object, **named: object) -> None:
        init(self, *arguments, **named)  # type: ignore[arg-type]
        brokers.append(self)

    monkeypatch.setattr(BrokerUnderTest, "__init__", noted)
    for scenario in scenarios().values():
        scenario.play(scenario.affected)
    for number, under in enumerate(brokers):
        under.broker.message_store.dispatch()
        files = under.broker.message_store.disk.files()  # type: ignore[attr-defined]
        if any(name.startswith("commitlog") and content for name, content in files.items()):
            yield audit_store(
                write_files(files, folder / str(number)), re.split("[+-]", under.profile.name)[0], question=NO_TRACE
            )


@pytest.mark.sweep
def test_each_state_and_cause_that_comes_has_its_advice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()
    for audit in audits(tmp_path, monkeypatch):
        for row in audit.transactions:
            seen.add(((row.state, *row.also), row.resembles, row.unknown_cause))
            assert_fits((row.state, *row.also), row.advice)
    assert len(seen) > 100
    assert {state for states, *_ in seen for state in states} == set(TransactionState)
