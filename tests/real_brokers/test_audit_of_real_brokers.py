"""The harness of ``make audit-real``, as far as it needs no jars: two audits compared, forecasts held, what is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.golden_stores import GOLDEN
from halfcheck.pending_transactions import HalfForecast, PendingTransaction
from real_brokers.audit.__main__ import RELEASES, AskedRuns, main
from real_brokers.audit.audited_run import SCENARIOS, logged_discards
from real_brokers.audit.both_ways import differences
from real_brokers.audit.page import PAGE, write_page
from real_brokers.audit.rust_run import RUST, RUST_RUN
from real_brokers.audit.seen import CLUSTERS_SEEN, RUNS_SEEN
from real_brokers.audit.two_masters import CLUSTER_RELEASES, CLUSTERS
from real_brokers.audit.what_came import HeldForecast, RestOfRun
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.rules.transaction_row import HistoryEvent, TransactionRow

if TYPE_CHECKING:
    from pathlib import Path

    from spark_trace_analysis.audit.audit import Audit


@pytest.fixture(scope="module")
def audit() -> Audit:
    return audit_store(GOLDEN / "5.3.3" / "five")


# --- both ways --------------------------------------------------------------------------------------------------------


def test_an_audit_does_not_differ_from_itself(audit: Audit) -> None:
    assert differences(audit, replace(audit, records=99, notes=("read over a network",))) == []


def test_a_row_that_differs_is_named_with_the_fields_that_do(audit: Audit) -> None:
    first, *others = audit.transactions
    later = replace(first, history=(*first.history[:-1], first.history[-1]._replace(time=1)), checks=7)
    (found,) = differences(audit, replace(audit, transactions=(later, *others)))
    assert found.what == f"row {first.unique_key}"
    assert found.network.startswith(f"checks={first.checks}, history=")
    assert found.store.startswith("checks=7, history=")


def test_a_row_of_one_way_alone_counts_damage_and_the_verdict_are_told(audit: Audit) -> None:
    first, *others = audit.transactions
    fewer = replace(audit, transactions=tuple(others))
    assert differences(audit, fewer) == [(f"row {first.unique_key}", first.state, "no row")]
    assert differences(fewer, audit) == [(f"row {first.unique_key}", "no row", first.state)]
    assert [one.what for one in differences(audit, replace(audit, counts={}, events=0))] == ["events", "counts"]
    refused = replace(audit, trace=replace(audit.trace, accepted=False))
    assert differences(audit, refused)[0] == ("verdict: accepted", "True", "False")


# --- what came --------------------------------------------------------------------------------------------------------

KEY, INTERVAL = "K", 1_000


def row(*events: tuple[str, int, int]) -> TransactionRow:
    """A row of a history: word, commit log offset, time."""
    history = tuple(HistoryEvent(word, at, time, 0, at) for word, at, time in events)
    return TransactionRow(KEY, "g", "T", TransactionState.PENDING, (), 0, 1, 1, (), (), (), born=0, history=history)


def held(
    *events: tuple[str, int, int],
    next_check: int | None = 5_000,
    discard: int = 9_000,
    went_away: int | None = None,
    logged: dict[str, int] | None = None,
) -> list[str]:
    """The forecasts of a half that are held at the end of a run whose moment has the log up to offset 100."""
    foretold = PendingTransaction(row(), 0, 2_000, HalfForecast(next_check, 1, discard), ())
    rest = RestOfRun(100, {KEY: row(*events)}, lambda at: at // 100, INTERVAL, logged or {}, went_away)
    return [f"{one.what} {one.intervals_off:.1f} {one.is_within}" for one in rest.held(foretold)]


def test_what_came_is_held_by_how_far_off_it_was() -> None:
    came = [("put back", 50, 4_000), ("put back", 200, 5_500), ("discarded", 300, 10_100)]
    assert held(*came) == ["check 0.5 True", "discard 1.1 False"]


def test_a_copy_of_an_immune_half_or_without_a_check_more_is_no_check() -> None:
    came = [("put back", 150, 5_000), ("put back", 200, 1_900), ("put back", 300, 5_900), ("discarded", 400, 9_000)]
    assert held(*came) == ["check 0.9 True", "discard 0.0 True"]


def test_what_never_came_is_missed_unless_it_was_answered_or_the_broker_went_away_before() -> None:
    assert held() == ["check inf False", "discard inf False"]
    assert held(("op", 50, 1_000)) == ["check inf False", "discard inf False"]
    assert held(("op", 200, 7_000)) == ["check inf False"]
    assert held(("delivered", 200, 5_900)) == []
    assert held(went_away=8_000) == ["check inf False"]
    assert held(("discarded", 300, 9_000), went_away=8_000, next_check=None) == []


def test_what_was_foretold_as_never_is_missed_if_it_comes() -> None:
    assert held(("put back", 200, 5_500), ("discarded", 300, 9_000), next_check=None) == [
        "check inf False",
        "discard 0.0 True",
    ]
    assert held(("discarded", 300, 9_000), next_check=None) == ["check 0.0 True", "discard 0.0 True"]


def test_a_discard_without_a_record_is_taken_from_the_log_of_the_broker(tmp_path: Path) -> None:
    log = tmp_path / "transaction.log"
    log.write_text(
        "2026-01-02 03:04:05.678 ERROR T - MsgExt:… UNIQ_KEY=K, … has been checked too many times, so discard it\n"
        "2026-01-02 03:04:06.000 INFO T - Check transaction. UNIQ_KEY=L\n",
        encoding="utf-8",
    )
    found = logged_discards(log)
    assert list(found) == ["K"]
    assert found["K"] % 60_000 == 5_678
    assert logged_discards(tmp_path / "none") == {}
    assert held(("put back", 200, 5_000), logged={KEY: 9_100}) == ["check 0.0 True", "discard 0.1 True"]


def test_a_miss_is_told_in_seconds() -> None:
    one = HeldForecast(KEY, "discard", 9_000, 12_030, 3_000)  # type: ignore[arg-type]
    assert str(one) == "discard of K came 3.030 s late"
    assert str(replace(one, came=None)) == "discard of K never came"
    assert str(replace(one, foretold=None)) == "discard of K came, foretold as never"


# --- what is kept -----------------------------------------------------------------------------------------------------


def test_each_release_was_led_through_each_scenario_and_the_page_says_so(tmp_path: Path) -> None:
    seen = RUNS_SEEN.read()
    assert list(seen) == [*(f"{release} {scenario}" for release in RELEASES for scenario in SCENARIOS), RUST_RUN]
    assert all([name for name, *_ in one.moments][-1] == "end" and len(one.moments) == 4 for one in seen.values())
    assert sum(one.halves for one in seen.values()) >= 200
    write_page(seen, CLUSTERS_SEEN.read(), tmp_path / "page.md")
    assert PAGE.read_text(encoding="utf-8") == (tmp_path / "page.md").read_text(encoding="utf-8")


def test_each_cluster_was_audited_and_differs_only_where_a_slave_stands_for_its_master() -> None:
    seen = CLUSTERS_SEEN.read()
    assert list(seen) == [f"{release} {name}" for release in CLUSTER_RELEASES for name in CLUSTERS]
    for one in seen.values():
        assert one.differences == ()
        assert {moment for moment, *_ in one.of_left} <= {"its master killed"}
        assert len(one.audited) == 8


def test_names_of_releases_and_scenarios_choose_runs() -> None:
    assert AskedRuns(("5.3.3", "late")).of_one_broker == [("5.3.3", "late")]
    assert AskedRuns(("5.3.3", "late")).of_clusters == []
    assert AskedRuns(("4.9.7", "two_masters")).of_clusters == [("4.9.7", "two_masters")]
    assert AskedRuns(("two_masters",)).of_one_broker == []
    assert AskedRuns(("4.9.7",)).of_clusters == []
    assert AskedRuns(("5.5.1",)).of_clusters == [("5.5.1", name) for name in CLUSTERS]
    assert (AskedRuns((RUST,)).of_one_broker, AskedRuns((RUST,)).of_rust) == ([], True)
    assert [AskedRuns(names).of_rust for names in ((), ("late",), ("5.3.3",))] == [True, False, False]
    assert AskedRuns(()).of_one_broker == [(release, name) for name in SCENARIOS for release in RELEASES]


def test_an_unknown_name_is_refused_with_those_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["5.3.3", "latest"])
    assert ended.value.code == 151
    assert "no 'latest' here; there are 4.5.1, 4.9.7" in capsys.readouterr().err
